// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Functions that replace those of the C library, because the program defines them.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "failing.hpp"

namespace {

using failing::call;
using failing::fails;

// Returns the C library's function. It is not in a static variable of a function, because that variable's guard may
// make calls itself.
template <class F>
class next {
 public:
  constexpr explicit next(const char* name) noexcept : name_(name) {}
  template <class... Args>
  auto operator()(Args... args) noexcept {
    void* f = function_.load(std::memory_order_relaxed);
    if (f == nullptr) function_.store(f = ::dlsym(RTLD_NEXT, name_), std::memory_order_relaxed);
    return reinterpret_cast<F*>(f)(args...);
  }

 private:
  const char* name_;
  std::atomic<void*> function_{nullptr};
};

constinit next<int(const char*, unsigned)> real_memfd_create("memfd_create");
constinit next<int(int, off_t)> real_ftruncate("ftruncate");
constinit next<void*(void*, size_t, int, int, int, off_t)> real_mmap("mmap");
constinit next<int(void*, size_t, int)> real_mprotect("mprotect"), real_madvise("madvise");
constinit next<int(int, int, int, int*)> real_socketpair("socketpair");
constinit next<ssize_t(int, const msghdr*, int)> real_sendmsg("sendmsg");
constinit next<ssize_t(int, msghdr*, int)> real_recvmsg("recvmsg");
constinit next<int(int)> real_epoll_create1("epoll_create1");
constinit next<int(int, int, int, epoll_event*)> real_epoll_ctl("epoll_ctl");
constinit next<int(int, epoll_event*, int, int)> real_epoll_wait("epoll_wait");
constinit next<int(unsigned, int)> real_eventfd("eventfd");
constinit next<int(clockid_t, int)> real_timerfd_create("timerfd_create");
constinit next<int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                   char* const*)>
    real_posix_spawn("posix_spawn");
constinit next<int(int, int, ...)> real_fcntl("fcntl");
constinit next<long(long, ...)> real_syscall("syscall");
constinit next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real_pthread_create("pthread_create");
constinit next<int(const char*, int, ...)> real_open("open");
constinit next<FILE*(const char*, const char*)> real_fopen("fopen");
constinit next<ssize_t(int, void*, size_t)> real_read("read");
constinit next<ssize_t(int, const void*, size_t)> real_write("write");
constinit next<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> real_ppoll("ppoll");
constinit next<int(idtype_t, id_t, siginfo_t*, int)> real_waitid("waitid");
constinit next<int(const timespec*, timespec*)> real_nanosleep("nanosleep");

}  // namespace

extern "C" {

int memfd_create(const char* name, unsigned flags) noexcept {
  return fails(call::memfd_create) ? -1 : real_memfd_create(name, flags);
}
int ftruncate(int fd, off_t bytes) noexcept { return fails(call::ftruncate) ? -1 : real_ftruncate(fd, bytes); }
void* mmap(void* at, size_t bytes, int access, int flags, int fd, off_t offset) noexcept {
  return fails(call::mmap) ? MAP_FAILED : real_mmap(at, bytes, access, flags, fd, offset);
}
int mprotect(void* at, size_t bytes, int access) noexcept {
  return fails(call::mprotect) ? -1 : real_mprotect(at, bytes, access);
}
int madvise(void* at, size_t bytes, int advice) noexcept {
  return fails(call::madvise) ? -1 : real_madvise(at, bytes, advice);
}
int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  return fails(call::socketpair) ? -1 : real_socketpair(domain, type, protocol, ends);
}
ssize_t sendmsg(int fd, const msghdr* m, int flags) { return fails(call::sendmsg) ? -1 : real_sendmsg(fd, m, flags); }
ssize_t recvmsg(int fd, msghdr* m, int flags) { return fails(call::recvmsg) ? -1 : real_recvmsg(fd, m, flags); }
int epoll_create1(int flags) noexcept { return fails(call::epoll_create1) ? -1 : real_epoll_create1(flags); }
int epoll_ctl(int epoll, int what, int fd, epoll_event* event) noexcept {
  return what != EPOLL_CTL_DEL && fails(call::epoll_ctl) ? -1 : real_epoll_ctl(epoll, what, fd, event);
}
int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  return fails(call::epoll_wait) ? -1 : real_epoll_wait(epoll, events, most, timeout);
}
int eventfd(unsigned count, int flags) noexcept { return fails(call::eventfd) ? -1 : real_eventfd(count, flags); }
int timerfd_create(clockid_t clock, int flags) noexcept {
  return fails(call::timerfd_create) ? -1 : real_timerfd_create(clock, flags);
}
int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* how,
                char* const* arguments, char* const* environment) {
  return fails(call::posix_spawn) ? errno : real_posix_spawn(pid, path, actions, how, arguments, environment);
}
int fcntl(int fd, int what, ...) {
  va_list rest;
  va_start(rest, what);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return what == F_DUPFD_CLOEXEC && fails(call::duplicate) ? -1 : real_fcntl(fd, what, argument);
}
long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (long& argument : a) argument = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_pidfd_open && fails(call::pidfd_open)) return -1;
  if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && fails(call::futex_wait)) return -1;
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) noexcept {
  return fails(call::pthread_create) ? errno : real_pthread_create(thread, how, run, with);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return fails(call::open) ? -1 : real_open(path, flags, mode);
}
FILE* fopen(const char* path, const char* how) { return fails(call::fopen) ? nullptr : real_fopen(path, how); }
ssize_t read(int fd, void* into, size_t bytes) { return fails(call::read) ? -1 : real_read(fd, into, bytes); }
ssize_t write(int fd, const void* from, size_t bytes) { return fails(call::write) ? -1 : real_write(fd, from, bytes); }
int ppoll(pollfd* all, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return fails(call::ppoll) ? -1 : real_ppoll(all, count, timeout, mask);
}
int waitid(idtype_t kind, id_t id, siginfo_t* info, int flags) {
  return fails(call::waitid) ? -1 : real_waitid(kind, id, info, flags);
}
int nanosleep(const timespec* time, timespec* left) { return fails(call::nanosleep) ? -1 : real_nanosleep(time, left); }

}  // extern "C"
