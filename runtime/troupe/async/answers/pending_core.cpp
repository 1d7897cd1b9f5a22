// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/async/answers/abandoned.hpp>
#include <troupe/async/answers/deferred_continuations.hpp>
#include <troupe/async/answers/pending_core.hpp>
#include <troupe/base/clock.hpp>

namespace troupe {

void waiter::answered(pending_core& core) noexcept { core.wake_sleepers(); }
void waiter::interest_met(pending_core&) noexcept {}

bool pending_core::sleep(std::int64_t deadline_ns) const noexcept {
  const std::uint32_t seen = phase_.load(std::memory_order_acquire);
  return (seen & done_bit) != 0 || futex_wait(phase_, seen, futex_scope::process, deadline_ns);
}

bool pending_core::wait(std::int64_t deadline_ns) noexcept {
  if (done() || detail::is_abandoned(waiter_)) return true;
  if (deadline_ns != no_deadline && !waiter_ && now_ns() >= deadline_ns) return false;
  bool in_time = true;
  const std::uint32_t before = phase_.fetch_add(one_blocked);
  if ((before & done_bit) == 0) {
    while (in_time && !done()) {
      if (waiter_) {
        waiter_->wait(*this, deadline_ns);
        in_time = deadline_ns == no_deadline || now_ns() < deadline_ns;
      } else {
        in_time = sleep(deadline_ns);
      }
    }
  }
  phase_.fetch_sub(one_blocked);
  return done();
}

attach_outcome pending_core::attach(executor& where, job& continuation) noexcept {
  if (done() || detail::is_abandoned(waiter_)) return attach_outcome::already_done;
  if (phase_.fetch_or(reserved_bit, std::memory_order_acq_rel) & reserved_bit) return attach_outcome::refused;
  continuation.home = &where;
  continuation_ = &continuation;
  // After step C the continuation can run and release the caller's reference, but this function still needs the core.
  waiter* const helper = waiter_;
  if (helper) add_ref();
  const bool too_late = (phase_.fetch_or(continued_bit) & done_bit) != 0;
  if (helper) {
    if (!too_late) helper->interest_added(*this);
    release();
  }
  return too_late ? attach_outcome::already_done : attach_outcome::attached;
}

void pending_core::finish() noexcept {
  const std::uint32_t before = phase_.fetch_or(done_bit);
  if (before >= one_blocked) {
    if (waiter_) {
      waiter_->answered(*this);
    } else {
      wake_sleepers();
    }
  }
  if (before & continued_bit) {
    if (waiter_) waiter_->interest_met(*this);
    deferred_continuations::post(*continuation_);
  }
}

}  // namespace troupe
