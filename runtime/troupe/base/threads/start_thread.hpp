// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace troupe {

namespace detail {
/// Blocks the calling thread's signals, except those that report an error of the thread itself, such as SIGSEGV.
class signals_blocked {
 public:
  [[nodiscard]] signals_blocked() noexcept;
  ~signals_blocked();
  signals_blocked(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};
}  // namespace detail

/// Starts a thread of the library. It blocks signals that are sent to the process: those belong to the program's own
/// threads, which may block them all in order to wait for them or read them from a signalfd. Throws what std::thread
/// throws.
template <class F>
std::thread start_thread(F&& run) {
  const detail::signals_blocked guard;
  return std::thread(std::forward<F>(run));
}

}  // namespace troupe
