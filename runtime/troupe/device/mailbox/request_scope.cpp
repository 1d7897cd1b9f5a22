// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <troupe/device/mailbox/deadline_texts.hpp>
#include <troupe/device/mailbox/request_mailbox.hpp>
#include <troupe/device/mailbox/request_scope.hpp>

namespace troupe {
std::shared_ptr<request_scope> request_scope::make(const std::shared_ptr<request_mailbox>& mailbox,
                                                   std::int64_t deadline_ns, const scope_options& options,
                                                   const std::shared_ptr<request_scope>& outer) {
  std::int64_t run_limit_ns = options.run_timeout.nanoseconds;
  if (outer) {
    deadline_ns = std::min(deadline_ns, outer->deadline_ns_);
    run_limit_ns = std::min(run_limit_ns, outer->run_limit_ns_);
  }
  auto made = std::make_shared<request_scope>(deadline_ns, run_limit_ns);
  made->mailbox_ = mailbox;
  // Either callback may run at once.
  made->by_user_.emplace(*options.stop, on_stop{*made});
  if (outer) made->by_outer_.emplace(outer->source_.get_token(), on_stop{*made});
  return made;
}

std::optional<error> request_scope::refusal(std::int64_t now_ns) const {
  if (stopped()) return error::retry_later("device", ECANCELED, stopped_text);
  if (now_ns >= deadline_ns_) return error::retry_later("device", ETIMEDOUT, deadline_texts::after_scope);
  return {};
}

// Only marks the scope and leaves the rest to the control loop, because the thread that requests the stop may hold
// locks.
void request_scope::stop() noexcept {
  if (stopped_.exchange(true, std::memory_order_seq_cst)) return;
  source_.request_stop();
  const auto self = weak_from_this().lock();  // null during destruction, when no request is in flight
  const auto mailbox = mailbox_.lock();
  if (self && mailbox) mailbox->stop_requests_of(self);
}

}  // namespace troupe
