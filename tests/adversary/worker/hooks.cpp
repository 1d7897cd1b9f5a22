// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Preloaded into a worker: intercepts its messages from and to the application, and acts according to the strategy.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;

hostile_worker* me = nullptr;  // set only in a worker that serves a device of the driver
const strategy* chosen = nullptr;

bool act_at(moment when, const msghdr* message = nullptr) {
  if (chosen == nullptr || chosen->when != when || me->stage->attacker.load() != stage_page::everybody) return false;
  me->message = message;
  me->begin();
  return chosen->act(*me);
}

std::byte* map_whole(int fd, int access, std::size_t* bytes = nullptr) {
  struct stat s{};
  if (::fstat(fd, &s) != 0) return nullptr;
  void* const at = ::mmap(nullptr, static_cast<std::size_t>(s.st_size), access, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return nullptr;
  if (bytes != nullptr) *bytes = static_cast<std::size_t>(s.st_size);
  return static_cast<std::byte*>(at);
}

std::vector<int> descriptors_of(msghdr& header) {
  std::vector<int> all;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    all.resize((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(all.data(), CMSG_DATA(c), all.size() * sizeof(int));
  }
  return all;
}

void look_at_greeting(const protocol::control_message& m, msghdr& header) {
  using attached = protocol::greeting_descriptor;
  const std::vector<int> fds = descriptors_of(header);
  if (fds.size() < attached::count) return;
  me->view = {protocol::layout::for_capacity(m.settings.capacity),
              map_whole(fds[attached::channel], PROT_READ | PROT_WRITE), map_whole(fds[attached::mailbox], PROT_READ)};
  me->workers_page = map_whole(fds[attached::workers], PROT_READ | PROT_WRITE);
  me->questions = fds[attached::questions];
}

void look_at_map(msghdr& header) {
  std::size_t bytes = 0;
  for (const int fd : descriptors_of(header))
    if (std::byte* const at = map_whole(fd, PROT_READ | PROT_WRITE, &bytes)) me->segments.emplace_back(at, bytes);
}

// Started after the worker is confined, so that this thread is confined, too.
void attack_when_ordered() {
  while (true) {
    std::int32_t seen = me->stage->attacker.load();
    if (me->must_attack()) {
      me->begin();
      chosen->act(*me);
      me->stage->ended_ns.store(now_ns());
    }
    while (me->must_attack()) pause(std::chrono::milliseconds(1));
    seen = me->stage->attacker.load();
    if (!me->must_attack())
      futex_wait(reinterpret_cast<const std::atomic<std::uint32_t>&>(me->stage->attacker),
                 static_cast<std::uint32_t>(seen), futex_scope::shared);
  }
}

bool is_serving_worker() {
  char path[4096] = {};
  if (::readlink("/proc/self/exe", path, sizeof path - 1) <= 0 || !std::string(path).ends_with("/troupe-worker"))
    return false;
  std::ifstream file("/proc/self/cmdline");
  const std::string line((std::istreambuf_iterator<char>(file)), {});
  return line.find('\0') == line.size() - 1;  // it has no arguments
}

__attribute__((constructor)) void enter_worker() {
  real.sendmsg = reinterpret_cast<decltype(real.sendmsg)>(::dlsym(RTLD_NEXT, "sendmsg"));
  real.recvmsg = reinterpret_cast<decltype(real.recvmsg)>(::dlsym(RTLD_NEXT, "recvmsg"));
  const char *const stage = std::getenv(stage_variable), *const name = std::getenv(strategy_variable);
  if (stage == nullptr || name == nullptr || !is_serving_worker()) return;
  const int fd = ::open(stage, O_RDWR | O_CLOEXEC);
  void* const at = ::mmap(nullptr, sizeof(stage_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) return;
  static hostile_worker worker;
  worker.stage = static_cast<stage_page*>(at);
  worker.random.seed(worker.stage->seed.load() + static_cast<std::uint64_t>(::getpid()));
  me = &worker;
  chosen = find_strategy(name);
  act_at(moment::loaded);
}

bool is_kind(const msghdr& header, std::size_t bytes, protocol::message kind) {
  return bytes >= sizeof(protocol::message) && std::memcmp(header.msg_iov->iov_base, &kind, sizeof kind) == 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) ssize_t recvmsg(int fd, msghdr* header, int flags) {
  if (me != nullptr && fd == hostile_worker::control) me->listener = static_cast<int>(::syscall(SYS_gettid));
  const ssize_t got = real.recvmsg(fd, header, flags);
  if (me == nullptr || fd != hostile_worker::control || got <= 0) return got;
  const auto bytes = static_cast<std::size_t>(got);
  if (is_kind(*header, bytes, protocol::message::greeting) && bytes >= sizeof(protocol::control_message)) {
    look_at_greeting(*static_cast<const protocol::control_message*>(header->msg_iov->iov_base), *header);
    act_at(moment::greeted);
  } else if (is_kind(*header, bytes, protocol::message::map)) {
    look_at_map(*header);
  } else if (is_kind(*header, bytes, protocol::message::serve)) {
    act_at(moment::serve);
  }
  return got;
}

extern "C" __attribute__((visibility("default"))) ssize_t sendmsg(int fd, const msghdr* header, int flags) {
  if (me != nullptr && fd == me->questions && act_at(moment::answer, header)) return 1;
  if (me == nullptr || fd != hostile_worker::control) return real.sendmsg(fd, header, flags);
  if (!is_kind(*header, header->msg_iov->iov_len, protocol::message::ready)) return real.sendmsg(fd, header, flags);
  if (chosen != nullptr && chosen->when == moment::serving) std::thread(attack_when_ordered).detach();
  return act_at(moment::ready, header) ? 1 : real.sendmsg(fd, header, flags);
}

}  // namespace adversary
