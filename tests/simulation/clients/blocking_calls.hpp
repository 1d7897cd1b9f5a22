// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <troupe/async/pending.hpp>

#include <tests/simulation/random.hpp>
#include "client_request.hpp"
#include "client_thread.hpp"

namespace troupe::simulation {

/// Clients' calls that block until the worker has read a part of what they upload. Each has a thread of its own, which
/// runs only while it is resumed.
class blocking_calls {
 public:
  /// Starts the call, and returns once it blocks or returns. `of` is the request that it sends, or null if no rule
  /// applies to that.
  void start(client_request* of, std::function<void()> call);
  /// Resumes any call that can continue. Returns false if none can.
  bool resume_any(random_bits& r);
  bool empty() const noexcept { return calls_.empty(); }

  /// Blocks the thread of a call until the scheduler resumes it, which it does once `answer` is done or the call is
  /// `ready`.
  void block(pending_core& answer, const std::function<bool()>& ready);
  /// The request of the call whose thread this is.
  client_request* current_request() const noexcept { return current_->of; }

 private:
  struct call {
    client_request* of;
    std::unique_ptr<client_thread> thread = {};
    const std::function<bool()>* ready = nullptr;  // while it blocks
    pending_core* answer = nullptr;
  };
  void resume(call& c);

  std::list<call> calls_;
  call* current_ = nullptr;
};

}  // namespace troupe::simulation
