// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/chaos/answers.hpp>

namespace chaos {

using namespace troupe;

void answers::check_error(const error& e) {
  const reaction how = e.reaction();
  // The worker says so when more requests have failed than it remembers: it no longer knows which of them should have
  // written an input.
  const bool overtaken = how == reaction::retry_later && e.domain() == "worker";
  if (how == reaction::context_lost || overtaken ||
      (may_stop_ && (how == reaction::stopped || how == reaction::fatal))) {
    failed_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  unexpected_.fetch_add(1);
  note(e.to_string());
}

void answers::check_text(const std::string& fault) {
  if (fault.empty()) {
    right_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  wrong_.fetch_add(1);
  note(fault);
}

void answers::count_lost() {
  lost_.fetch_add(1);
  note("no answer");
}

void answers::note(const std::string& what) {
  const std::scoped_lock guard(lock_);
  if (complaint_.empty()) complaint_ = what;
}

std::string answers::first_complaint() const {
  const std::scoped_lock guard(lock_);
  return complaint_;
}

answer_counts answers::counts() const noexcept {
  return {asked_.load(), right_.load(), failed_.load(), wrong_.load(), unexpected_.load(), twice_.load(), lost_.load()};
}

}  // namespace chaos
