// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <bench/system/system_call_watch.hpp>
#include <csignal>
#include <cstdint>

namespace troupe::bench {

#if defined(__x86_64__) && defined(PR_SET_SYSCALL_USER_DISPATCH)

namespace {

constexpr char let_through = 0, divert = 1;
// The kernel reads this at every system call of the thread.
volatile char gate = let_through;
volatile long seen = -1;

// Handles a system call that the kernel has diverted: performs it. The gate stays open, also for the return from this
// function, which is a system call, too.
void diverted(int, siginfo_t*, void* context) {
  gate = let_through;
  auto& r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  seen = static_cast<long>(r[REG_RAX]);
  std::int64_t answer;
  register std::int64_t r10 asm("r10") = r[REG_R10];
  register std::int64_t r8 asm("r8") = r[REG_R8];
  register std::int64_t r9 asm("r9") = r[REG_R9];
  asm volatile("syscall"
               : "=a"(answer)
               : "a"(r[REG_RAX]), "D"(r[REG_RDI]), "S"(r[REG_RSI]), "d"(r[REG_RDX]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  r[REG_RAX] = answer;
}

}  // namespace

system_call_watch::system_call_watch() noexcept {
  struct sigaction action{};
  action.sa_sigaction = diverted;
  action.sa_flags = SA_SIGINFO;
  gate = let_through;
  works_ = ::sigaction(SIGSYS, &action, nullptr) == 0 &&
           ::prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &gate) == 0;
}

system_call_watch::~system_call_watch() {
  gate = let_through;
  if (works_) ::prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
}

void system_call_watch::arm() const noexcept {
  seen = -1;
  gate = divert;
}

long system_call_watch::disarm() const noexcept {
  gate = let_through;
  return seen;
}

#else

system_call_watch::system_call_watch() noexcept : works_(false) {}
system_call_watch::~system_call_watch() = default;
void system_call_watch::arm() const noexcept {}
long system_call_watch::disarm() const noexcept { return -1; }

#endif

}  // namespace troupe::bench
