// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <troupe/base/futex.hpp>

namespace troupe::simulation {

/// A client that waits in the middle of a call. It has a thread of its own, but of all threads only one ever runs: this
/// one from `go_on` to the next `wait` or the end, and whoever called `go_on` otherwise.
class client_thread {
 public:
  explicit client_thread(std::function<void()> work)
      : work_(std::move(work)), thread_([this] {
          await(own);
          work_();
          ended_ = true;
          give(others);
        }) {}
  ~client_thread() { thread_.join(); }
  client_thread(const client_thread&) = delete;

  void go_on() {
    give(own);
    await(others);
  }
  /// On the thread itself.
  void wait() {
    give(others);
    await(own);
  }
  bool ended() const noexcept { return ended_; }

 private:
  static constexpr std::uint32_t others = 0, own = 1;
  void give(std::uint32_t whose) {
    turn_.store(whose);
    futex_wake(turn_, futex_scope::process);
  }
  void await(std::uint32_t whose) {
    while (turn_.load() != whose) futex_wait(turn_, others + own - whose, futex_scope::process, no_deadline);
  }

  std::function<void()> work_;
  std::atomic<std::uint32_t> turn_{others};
  bool ended_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace troupe::simulation
