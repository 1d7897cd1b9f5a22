// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/async/answers/deferred_continuations.hpp>

namespace troupe {

thread_local constinit deferred_continuations* deferred_continuations::innermost_ = nullptr;

void deferred_continuations::post(job& continuation) noexcept {
  deferred_continuations* const here = innermost_;
  if (here == nullptr || continuation.home == &immediate_executor()) return continuation.home->post(continuation);
  continuation.next = nullptr;
  if (here->first_ == nullptr)
    here->first_ = &continuation;
  else
    here->last_->next = &continuation;
  here->last_ = &continuation;
}

executor& immediate_executor() noexcept {
  class at_once final : public executor {
   public:
    void post(job& work) noexcept override { work.run(&work); }
  };
  static constinit at_once instance;
  return instance;
}

executor& keeping_executor() noexcept {
  class keeping final : public executor {
   public:
    void post(job& work) noexcept override {
      work.home = &inline_executor();
      deferred_continuations::post(work);
    }
  };
  static constinit keeping instance;
  return instance;
}

void post_all(job* first) noexcept {
  while (first != nullptr) {
    job& j = *std::exchange(first, first->next);
    j.home->post(j);
  }
}

}  // namespace troupe
