// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The service with a process of its own for the model, by hand. The child owns the GPU; vectors cross in shared memory,
// commands and replies through a socket. If the child dies or is silent for too long, the parent starts another and
// sends the batch again.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <comparison/gpu_model.cuh>
#include <csignal>
#include <system_error>
#include <utility>

using comparison::largest_batch;

constexpr int channel_in_child = 100, memory_in_child = 101;
constexpr timeval longest_silence{.tv_sec = 30, .tv_usec = 0};

struct command {
  enum kind { answer, fault } what;
  int batch;
};
struct shared_area {
  char gpu_name[256];
  comparison::vector in[largest_batch], out[largest_batch];
};

int checked(int value, const char* call) {
  if (value < 0) throw std::system_error(errno, std::generic_category(), call);
  return value;
}
shared_area* map(int memory) {
  void* at = mmap(nullptr, sizeof(shared_area), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return static_cast<shared_area*>(at);
}

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const { return number_; }

 private:
  int number_ = -1;
};

// The child. A reply is one byte; the first says that it is ready.
int work() try {
  shared_area* const area = map(memory_in_child);
  const std::string name = comparison::name_of_gpu();
  name.copy(area->gpu_name, sizeof(area->gpu_name) - 1);
  comparison::gpu_model gpu{comparison::model()};
  const auto reply = [] { checked(send(channel_in_child, "", 1, MSG_NOSIGNAL), "send"); };
  reply();
  for (command c; recv(channel_in_child, &c, sizeof(c), 0) == sizeof(c);) {
    if (c.what == command::fault) {
      gpu.launch_wild();
    } else {
      gpu.answer({area->in, static_cast<std::size_t>(c.batch)}, {area->out, static_cast<std::size_t>(c.batch)});
      reply();
    }
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "process: the child ends: %s\n", e.what());
  return 1;
}

// The parent's end of a child.
class child {
 public:
  explicit child(int memory) {
    int ends[2];
    checked(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
    channel_ = descriptor(ends[0]);
    const descriptor of_child(ends[1]);
    checked(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &longest_silence, sizeof(longest_silence)), "setsockopt");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, of_child.get(), channel_in_child);
    posix_spawn_file_actions_adddup2(&actions, memory, memory_in_child);
    char program[] = "/proc/self/exe", option[] = "--child";
    char* const arguments[] = {program, option, nullptr};
    const int status = posix_spawn(&pid_, program, &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (status != 0) throw std::system_error(status, std::generic_category(), "posix_spawn");
  }
  child(const child&) = delete;
  ~child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  bool tell(const command& c) const { return send(channel_.get(), &c, sizeof(c), MSG_NOSIGNAL) == sizeof(c); }
  bool replied() const {
    char byte = 0;
    return recv(channel_.get(), &byte, 1, 0) == 1;
  }

 private:
  descriptor channel_;
  pid_t pid_ = 0;
};

class process_service {
 public:
  explicit process_service(const comparison::model&) : memory_(checked(memfd_create("model", MFD_CLOEXEC), "memfd")) {
    checked(ftruncate(memory_.get(), sizeof(shared_area)), "ftruncate");
    area_ = map(memory_.get());
    if (!start()) throw std::runtime_error("the child did not start");
  }
  process_service(const process_service&) = delete;
  ~process_service() { munmap(area_, sizeof(shared_area)); }

  bool answer(std::span<const comparison::vector> in, std::span<comparison::vector> out) {
    while (child_ || start()) {
      std::copy(in.begin(), in.end(), area_->in);
      if (child_->tell({command::answer, static_cast<int>(in.size())}) && child_->replied()) {
        std::copy_n(area_->out, out.size(), out.begin());
        return true;
      }
      child_.reset();
    }
    return false;
  }
  void inject_fault() { child_->tell({command::fault, 0}); }
  std::string where() const { return area_->gpu_name; }

 private:
  bool start() {
    if (++starts_ > 4) return false;
    child_.emplace(memory_.get());
    if (child_->replied()) return true;
    child_.reset();
    return false;
  }

  descriptor memory_;
  shared_area* area_ = nullptr;
  std::optional<child> child_;
  int starts_ = 0;
};

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--child") return work();
  return comparison::run<process_service>("process", argc, argv);
}
