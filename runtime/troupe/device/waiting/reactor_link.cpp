// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/waiting/reactor_link.hpp>

namespace troupe {

thread_local constinit const reactor_link* reactor_link::running_ = nullptr;

// Only the reactor posts continuations, because a thread that waits for its own answer may hold locks that they need.
void reactor_link::hand_over(job* first) noexcept {
  if (first == nullptr) return;
  if (!continuations_.hand_over(first)) return post_all(first);
  if (is_this_thread()) return;  // the reactor checks the queue before it sleeps
  wake_all();
}

answering::~answering() {
  job* const continuations = kept_->take();
  kept_.reset();  // first, because code that runs from here on must not defer continuations to this object
  to_reactor_.hand_over(continuations);
}

}  // namespace troupe
