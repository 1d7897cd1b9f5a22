// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <troupe/worker/process/last_words.hpp>

namespace troupe {
namespace {

constexpr int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
constexpr std::size_t stack_bytes = 32 << 10;

std::atomic<protocol::crash_note*> where{nullptr};

// Must not allocate, lock, or call a function that does, because the thread may have died inside such a function.
void handle_signal(int signal, siginfo_t* info, void*) noexcept {
  if (protocol::crash_note* const note = where.load()) {
    // Signals from the kernel itself have positive codes; a signal that was sent names its sender.
    const bool sent = info->si_code <= 0;
    protocol::last_words said{.signal = static_cast<std::uint32_t>(signal),
                              .from_outside = sent && info->si_pid != ::getpid()};
    const bool access = !sent && (signal == SIGSEGV || signal == SIGBUS);
    // x86-64 does not report an address that is not canonical: one with bits beyond the 47 of a process.
    using protocol::fault_address;
    said.accessed = !access                      ? fault_address::unknown
                    : info->si_code == SI_KERNEL ? fault_address::no_such_memory
                                                 : fault_address::known;
    if (said.accessed == fault_address::known) said.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (!said.from_outside) said.ticket = working_on::ticket();
    note->write(said);
  }
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, nullptr);
  // The signal is blocked while this handler runs, so it ends the process when the handler returns.
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
}

}  // namespace

thread_local constinit std::uint64_t working_on::ticket_ = 0;

void write_last_words_to(protocol::crash_note& note) noexcept {
  where.store(&note);
  struct sigaction action{};
  action.sa_sigaction = &handle_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int s : deadly) {
    // An existing handler, such as the address sanitizer's, reports more than this one could.
    struct sigaction taken{};
    const bool asked = ::sigaction(s, nullptr, &taken) == 0;
    if (asked && (taken.sa_flags & SA_SIGINFO) == 0 && (taken.sa_handler == SIG_DFL || taken.sa_handler == SIG_IGN))
      ::sigaction(s, &action, nullptr);
  }
}

signal_stack::signal_stack() noexcept
    : memory_(::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
  if (memory_ == MAP_FAILED) return;  // a thread whose stack overflows then dies without last words
  const stack_t stack{.ss_sp = memory_, .ss_flags = 0, .ss_size = stack_bytes};
  ::sigaltstack(&stack, nullptr);
}

signal_stack::~signal_stack() {
  if (memory_ == MAP_FAILED) return;
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  ::sigaltstack(&none, nullptr);
  ::munmap(memory_, stack_bytes);
}

}  // namespace troupe
