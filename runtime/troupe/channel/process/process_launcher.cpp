// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/internal/poll_until.hpp>
#include <troupe/channel/internal/system_error.hpp>
#include <troupe/channel/process/process_launcher.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>

namespace troupe {
namespace {

constexpr const char* variable =
    "TROUPE_LAUNCHER";  // a process sets it for itself: its ID, a descriptor, and the launcher's ID
constexpr std::size_t most_request_bytes = 128 << 10;

struct launcher_place {
  int fd = -1, pid = 0;

  static launcher_place find() {
    launcher_place p;
    int owner = 0;
    const char* const set = ::secure_getenv(variable);
    if (set == nullptr || std::sscanf(set, "%d %d %d", &owner, &p.fd, &p.pid) != 3 || owner != ::getpid()) return {};
    return p;
  }
};

// Encodes the options: the number of arguments, the path, the arguments and the environment, each followed by a zero
// byte.
std::string request_of(const launch_options& o) {
  std::string out = std::to_string(o.args.size()) + '\0' + o.path + '\0';
  for (const std::string& arg : o.args) out += arg + '\0';
  for (const std::string& one : o.environment) out += one + '\0';
  return out;
}

std::optional<launch_options> options_of(std::string_view request) {
  std::vector<std::string> all;
  while (!request.empty()) {
    const std::size_t end = request.find('\0');
    if (end == request.npos) return {};
    all.emplace_back(request.substr(0, end));
    request.remove_prefix(end + 1);
  }
  if (all.size() < 2) return {};
  const std::size_t args = std::strtoul(all[0].c_str(), nullptr, 10);
  if (args > all.size() - 2) return {};
  const auto first_variable = all.begin() + 2 + static_cast<std::ptrdiff_t>(args);
  return launch_options{
      .path = all[1], .args = {all.begin() + 2, first_variable}, .environment = {first_variable, all.end()}};
}

// Encodes a failure: its reaction and text. (A job is answered by two descriptors without a text.)
std::string reply_of(const error& why) { return std::to_string(static_cast<int>(why.reaction())) + " " + why.text(); }

class launcher {
 public:
  explicit launcher(control_socket socket) : socket_(std::move(socket)) {}

  // Never returns, and runs no destructors. What it starts gets its parent's death signal, as it does if the launcher
  // is killed.
  [[noreturn]] void serve() {
    std::vector<char> request(most_request_bytes);
    while (true) {
      std::vector<pollfd> all{{.fd = socket_.fd(), .events = POLLIN, .revents = 0}};
      for (const running& r : running_) {
        all.push_back({.fd = r.child.pidfd(), .events = POLLIN, .revents = 0});
        all.push_back({.fd = r.told_to_stop ? -1 : r.end.get(), .events = POLLIN, .revents = 0});
      }
      if (::poll(all.data(), all.size(), -1) < 0) continue;
      for (std::size_t i = running_.size(); i-- > 0;)
        look_at(i, all[1 + 2 * i].revents != 0, all[2 + 2 * i].revents != 0);
      if (all[0].revents == 0) continue;
      // Uses read instead of recvmsg, so that the kernel drops descriptors that the process sends.
      const ssize_t n = ::read(socket_.fd(), request.data(), request.size());
      if (n <= 0) ::_exit(0);
      if (auto started = start({request.data(), static_cast<std::size_t>(n)}); !started)
        reply(reply_of(started.error()), {});
    }
  }

 private:
  struct running {
    process child;
    file_descriptor end;
    bool told_to_stop = false;
  };

  void look_at(std::size_t i, bool ended, bool unwanted) {
    running& r = running_[i];
    if (ended) {
      if (const auto how = r.child.wait(0); how && how->ended()) {
        (void)::send(r.end.get(), &*how, sizeof *how, MSG_NOSIGNAL);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    } else if (unwanted) {
      r.told_to_stop = true;
      (void)r.child.kill(SIGTERM);
    }
  }

  result<void> start(std::string_view request) {
    auto options = options_of(request);
    if (!options) return damaged("channel", "the request to start a worker process, which the launcher received,");
    int out[2], ends[2];
    if (::pipe2(out, O_CLOEXEC) != 0) return channel_error("pipe2", errno);
    const file_descriptor messages(out[0]), write_end(out[1]);
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return channel_error("socketpair", errno);
    file_descriptor ours(ends[0]);
    const file_descriptor theirs(ends[1]);
    options->stdout_fd = options->stderr_fd = write_end.get();
    auto child = TROUPE_TRY(process::launch(*options));
    running_.push_back({std::move(child), std::move(ours)});
    const int fds[] = {messages.get(), theirs.get()};
    reply("", fds);
    return {};
  }

  void reply(const std::string& text, std::span<const int> fds) {
    const std::string all = text + '\0';
    if (!socket_.send(std::as_bytes(std::span(all)), fds)) ::_exit(1);
  }

  control_socket socket_;
  std::vector<running> running_;
};

}  // namespace

result<void> fork_launcher(const std::function<void()>& confine) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return channel_error("socketpair", errno);
  file_descriptor ours(ends[0]), theirs(ends[1]);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) return channel_error("fork", errno);
  if (child == 0) {
    constexpr int own = STDERR_FILENO + 1;  // its only descriptor besides the standard ones
    if (!die_with_parent(parent) || (theirs.get() != own && ::dup2(theirs.get(), own) < 0)) ::_exit(1);
    ::closefrom(own + 1);
    (void)::prctl(PR_SET_NAME, "troupe-launcher");
    auto socket = control_socket::adopt(file_descriptor(own));
    if (!socket) ::_exit(1);
    confine();
    launcher(std::move(*socket)).serve();
  }
  // The process never closes the descriptor, so the launcher ends with the process.
  if (::setenv(variable, cat(parent, " ", ours.release(), " ", child).c_str(), 1) != 0)
    return channel_error("setenv", errno);
  return {};
}

int launcher_pid() { return launcher_place::find().pid; }

void launcher_job::stop() const noexcept { (void)::shutdown(end.get(), SHUT_WR); }

result<exit_status> launcher_job::wait(std::int64_t deadline_ns) const {
  exit_status how;
  if (!TROUPE_TRY(poll_until(end.get(), POLLIN, deadline_ns))) return how;
  if (::recv(end.get(), &how, sizeof how, MSG_DONTWAIT) != sizeof how)
    return error(reaction::retry_later, "channel", "the process that starts programs for this worker has ended");
  return how;
}

result<launcher_job> launch_by_launcher(const launch_options& options) {
  static std::mutex one_request;
  const std::scoped_lock guard(one_request);
  static control_socket socket;
  if (!socket) socket = TROUPE_TRY(control_socket::adopt(file_descriptor(launcher_place::find().fd)));
  const std::string request = request_of(options);
  if (request.size() > most_request_bytes)
    return error(reaction::caller_bug, "channel",
                 cat("the command line of ", options.path, " has ", request.size(), " bytes; expected at most ",
                     most_request_bytes, ": use fewer or shorter options and folders"));
  TROUPE_TRY(socket.send(std::as_bytes(std::span(request))));
  std::array<std::byte, 8192> reply;
  auto got = TROUPE_TRY(socket.receive(reply, 2));
  if (got.outcome == control_socket::outcome::message && got.fds.size() == 2)
    return launcher_job{std::move(got.fds[0]), std::move(got.fds[1])};
  if (got.outcome != control_socket::outcome::message)
    return error(reaction::retry_later, "channel", "the process that starts programs for this worker has ended");
  reply.back() = std::byte{0};
  char* text = nullptr;
  const long how = std::strtol(reinterpret_cast<const char*>(reply.data()), &text, 10);
  return error(static_cast<reaction>(how), "channel", text);
}

}  // namespace troupe
