// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace troupe {

namespace detail {
/// Blocks the calling thread's signals, except those that report an error of the thread itself.
class signals_blocked {
 public:
  [[nodiscard]] signals_blocked() noexcept;
  ~signals_blocked();
  signals_blocked(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};
}  // namespace detail

/// Starts a thread of the library. It takes no signal that is sent to the process: that is a matter of the program's
/// own threads, which may all block it, to wait for it or to read it from a signalfd. Throws what std::thread throws.
template <class F>
std::thread start_thread(F&& run) {
  const detail::signals_blocked guard;
  return std::thread(std::forward<F>(run));
}

}  // namespace troupe
