// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/request_scope.hpp>

namespace troupe {
namespace {

const char* const stopped_text = "its client was stopped before it started (scope_options::stop)";

}  // namespace

std::shared_ptr<request_scope> request_scope::make(const std::shared_ptr<device_core>& core, std::int64_t deadline_ns,
                                                   std::stop_token stop, const std::shared_ptr<request_scope>& outer) {
  if (outer) deadline_ns = std::min(deadline_ns, outer->deadline_ns_);
  auto made = std::make_shared<request_scope>(deadline_ns);
  made->core_ = core;
  // Both may call back at once.
  made->by_user_.emplace(std::move(stop), on_stop{*made});
  if (outer) made->by_outer_.emplace(outer->source_.get_token(), on_stop{*made});
  return made;
}

std::optional<error> request_scope::refusal(std::int64_t now_ns) const {
  if (stopped()) return error(reaction::retry_later, "device", stopped_text);
  if (now_ns >= deadline_ns_)
    return error(reaction::retry_later, "device", "the time of its client had passed (scope_options::timeout)");
  return {};
}

// On the thread that requests the stop, which may hold locks: the control loop does the rest.
void request_scope::stop() noexcept {
  if (stopped_.exchange(true, std::memory_order_seq_cst)) return;
  source_.request_stop();
  const auto self = weak_from_this().lock();  // null while its last owner goes, and nothing is under way
  const auto core = core_.lock();
  if (self && core) core->stop_requests_of(self);
}

void device_core::stop_requests_of(const std::shared_ptr<request_scope>& scope) noexcept {
  post(*loop_, [core = shared_from_this(), scope] {
    {
      const drive_guard guard(*core);
      for (std::uint32_t slot = 0; slot < core->ledger_.capacity(); ++slot) {
        const ledger_entry& e = core->ledger_[slot];
        if (e.in_flight.load(std::memory_order_seq_cst) && e.scope == scope)
          core->mark_cancelled(slot, e.ticket.load(std::memory_order_relaxed), stopped_text, reaction::retry_later);
      }
    }
    core->drive();
    {
      const answering now(*core);
      core->room_.give_up([&](const room_answer& a) { return a.scope == scope; },
                          error(reaction::retry_later, "device", stopped_text));
    }
    core->wake_waiters();  // who waits for room
  });
}

}  // namespace troupe
