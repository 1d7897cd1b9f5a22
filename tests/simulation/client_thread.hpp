// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <semaphore>
#include <thread>

namespace troupe::simulation {

/// A client that waits in the middle of a call. It has a thread of its own, but of all threads only one ever runs: this
/// one from `go_on` to the next `wait` or the end, and whoever called `go_on` otherwise.
class client_thread {
 public:
  explicit client_thread(std::function<void()> work)
      : work_(std::move(work)), thread_([this] {
          turn_.acquire();
          work_();
          ended_ = true;
          back_.release();
        }) {}
  ~client_thread() { thread_.join(); }
  client_thread(const client_thread&) = delete;

  void go_on() {
    turn_.release();
    back_.acquire();
  }
  /// On the thread itself.
  void wait() {
    back_.release();
    turn_.acquire();
  }
  bool ended() const noexcept { return ended_; }

 private:
  std::function<void()> work_;
  std::binary_semaphore turn_{0}, back_{0};
  bool ended_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace troupe::simulation
