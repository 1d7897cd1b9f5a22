// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/worker/process/call_filter.hpp>
#include <troupe/worker/process/call_lists.hpp>

#include <cerrno>
#include <cstddef>
#include <span>
#include <vector>

namespace troupe {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t this_processor = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t this_processor = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t this_processor = 0;
#endif

constexpr std::uint32_t allowed = SECCOMP_RET_ALLOW, forbidden = SECCOMP_RET_ERRNO | EPERM,
                        unknown = SECCOMP_RET_ERRNO | ENOSYS;

// A program for the kernel's filter machine. Before and after each rule, the machine's register holds the call's
// number.
class program {
 public:
  program() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, this_processor, 1, 0);
    finish(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    constexpr std::uint32_t first_of_x32 = 0x40000000;
    add(BPF_JMP | BPF_JGE | BPF_K, first_of_x32, 0, 1);
    finish(forbidden);
#endif
  }

  void all(std::span<const int> calls, std::uint32_t outcome) {
    for (const int call : calls) {
      add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
      finish(outcome);
    }
  }
  void all(int call, std::uint32_t outcome) { all(std::span(&call, 1), outcome); }

  // Forbids a call depending on one of its arguments. Only the lower 32 bits count, which are all that the kernel reads
  // of these arguments.
  enum class unless_it { is_one_of, is_none_of };
  void forbid(int call, unsigned index, std::uint32_t mask, unless_it allowed_if, std::vector<std::uint32_t> values) {
    const bool harmless_by_default = allowed_if == unless_it::is_none_of;
    const auto n = static_cast<std::uint8_t>(values.size());
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0,
        static_cast<std::uint8_t>(n + 4 + harmless_by_default));  // to the instruction after this rule
    load(static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * index));
    add(BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    for (std::uint8_t i = 0; i < n; ++i)
      add(BPF_JMP | BPF_JEQ | BPF_K, values[i], static_cast<std::uint8_t>(n - i), 0);  // past the refusal
    if (harmless_by_default) add(BPF_JMP | BPF_JA, 1, 0, 0);
    finish(forbidden);
    load(offsetof(seccomp_data, nr));
  }

  void finish(std::uint32_t outcome) { add(BPF_RET | BPF_K, outcome, 0, 0); }

  result<void> enforce() {
    const sock_fprog whole{static_cast<unsigned short>(code_.size()), code_.data()};
    // SPEC_ALLOW: without it, older kernels slow down all code of the process, to prevent leaks within it.
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                  &whole) != 0)
      return error::from_errno(reaction::fatal, "worker", "seccomp", errno);
    return {};
  }

 private:
  void add(int code, std::uint32_t k, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, k});
  }
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }

  std::vector<sock_filter> code_;
};

constexpr std::uint32_t whole = 0xffffffff;
using unless_it = program::unless_it;

// Forbids changing the limits of processes that are not in the list (0 is the caller), and the priority of all
// processes of a user at once. The kernel would allow both.
void forbid_limiting_others(program& p, const std::vector<std::uint32_t>& processes) {
  p.forbid(SYS_prlimit64, 0, whole, unless_it::is_one_of, processes);
  p.forbid(SYS_setpriority, 0, whole, unless_it::is_one_of, {PRIO_PROCESS});
  p.all(SYS_ioprio_set, forbidden);
}

// The same for their priority and scheduling policy.
void forbid_scheduling_others(program& p, const std::vector<std::uint32_t>& processes) {
  p.forbid(SYS_setpriority, 1, whole, unless_it::is_one_of, processes);
  for (const int call : {SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr})
    p.forbid(call, 0, whole, unless_it::is_one_of, processes);
}

// Forbids calls that affect another process of the user, the terminal, or what this process shares with the one that
// started it: the process may signal and limit only itself, and may not change flags and owners of files that it
// inherited.
void forbid_acts_on_others(program& p) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  for (const int call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
    p.forbid(call, 0, whole, unless_it::is_one_of, {self});
  forbid_limiting_others(p, {0, self});
  forbid_scheduling_others(p, {0, self});
  p.forbid(SYS_fcntl, 1, whole, unless_it::is_none_of, {F_SETFL, F_SETOWN, 15 /* F_SETOWN_EX */, 10 /* F_SETSIG */});
  p.forbid(SYS_prctl, 0, whole, unless_it::is_none_of, {PR_SET_PDEATHSIG});
}

void forbid_terminal(program& p) {
  p.forbid(SYS_ioctl, 1, whole, unless_it::is_none_of,
           {TIOCSTI, TIOCSCTTY, TIOCLINUX, FIONBIO, FIOASYNC, FIOSETOWN, SIOCSPGRP});
}

// Allows threads but no processes. The flags of clone3 are in memory, which a filter cannot read, so clone3 fails as
// unknown: libc then uses clone.
void forbid_processes(program& p) {
  constexpr std::uint32_t thread = CLONE_THREAD;
  p.forbid(SYS_clone, 0, thread, unless_it::is_one_of, {thread});
  p.all(SYS_clone3, unknown);
}

}  // namespace

bool can_filter_calls() noexcept {
  if (this_processor == 0 || TROUPE_ADDRESS_SANITIZER || TROUPE_THREAD_SANITIZER) return false;
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

result<void> filter_calls(call_filter which) {
  program p;
  if (which == call_filter::driver) {
    p.forbid(SYS_ioctl, 1, whole, unless_it::is_none_of, {TIOCSTI});
    // Not their priority: a driver may set those of its own threads.
    forbid_limiting_others(p, {0, static_cast<std::uint32_t>(::getpid())});
    p.all(call_lists::on_other_processes(), forbidden);
  } else if (which == call_filter::launcher) {
    for (const int call : {SYS_socket, SYS_connect}) p.all(call, forbidden);
    forbid_limiting_others(p, {0});
    forbid_scheduling_others(p, {0});
    p.forbid(SYS_ioctl, 1, whole, unless_it::is_none_of, {TIOCSTI, TIOCLINUX});
    p.all(call_lists::on_other_processes(), forbidden);
    p.all(call_lists::on_the_system(), forbidden);
  } else {
    forbid_acts_on_others(p);
    forbid_terminal(p);
    forbid_processes(p);
    if (which == call_filter::worker) {
      p.all(call_lists::on_other_processes(), forbidden);
      p.all(call_lists::on_the_system(), forbidden);
      p.all(call_lists::processes_and_sockets(), forbidden);
    } else {
      p.all(call_lists::needed(), allowed);
    }
  }
  p.finish(which == call_filter::strict ? forbidden : allowed);
  return p.enforce();
}

}  // namespace troupe
