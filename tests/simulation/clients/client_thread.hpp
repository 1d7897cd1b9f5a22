// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <troupe/base/linux/futex.hpp>
#include <utility>
#include <vector>

namespace troupe::simulation {

/// A client that blocks in the middle of a call. It has its own thread, but only one thread ever runs: this one from
/// `resume` to the next `yield` or its end, and the caller of `resume` otherwise. It must have ended when it is
/// destroyed, because another client reuses the thread.
class client_thread {
 public:
  explicit client_thread(std::function<void()> work) {
    if (idle_.empty()) {
      mine_ = new body;
      std::thread([b = mine_] { b->run(); }).detach();
    } else {
      mine_ = idle_.back();
      idle_.pop_back();
    }
    mine_->work = std::move(work);
    mine_->ended = false;
  }
  ~client_thread() { idle_.push_back(mine_); }
  client_thread(const client_thread&) = delete;

  void resume() {
    mine_->give(own);
    mine_->await(others);
  }
  /// Called on the thread itself.
  void yield() {
    mine_->give(others);
    mine_->await(own);
  }
  bool ended() const noexcept { return mine_->ended; }

 private:
  static constexpr std::uint32_t others = 0, own = 1;
  struct body {
    std::function<void()> work;
    std::atomic<std::uint32_t> turn{others};
    bool ended = true;

    void give(std::uint32_t whose) {
      turn.store(whose);
      futex_wake(turn, futex_scope::process);
    }
    void await(std::uint32_t whose) {
      while (turn.load() != whose) futex_wait(turn, others + own - whose, futex_scope::process, no_deadline);
    }
    [[noreturn]] void run() {
      while (true) {
        await(own);
        std::exchange(work, nullptr)();
        ended = true;
        give(others);
      }
    }
  };
  static inline std::vector<body*> idle_;

  body* mine_;
};

}  // namespace troupe::simulation
