// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/actor/internal/supervisor_state.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe {

namespace {

using child = detail::supervised_child;

error failed_start(const child& c, const error& why) {
  error::details d = why.all();
  d.text = "child '" + c.spec.id + "' could not be started: " + d.text;
  return error(std::move(d));
}

shutdown_policy shutdown_of(const child_spec& spec) noexcept {
  if (spec.shutdown.how() != shutdown_policy::kind::by_type) return spec.shutdown;
  return spec.type == child_type::supervisor ? shutdown_policy::infinity() : shutdown_policy(time_span::of_seconds(5));
}

}  // namespace

error supervisor::state::misuse(std::string text) { return error(reaction::caller_bug, "supervisor", std::move(text)); }

child* supervisor::state::find(std::string_view id) const noexcept {
  for (const auto& c : children) {
    if (c->spec.id == id) return c.get();
  }
  return nullptr;
}

result<child*> supervisor::state::need(std::string_view id) const {
  if (child* const c = find(id)) return c;
  return misuse("there is no child '" + std::string(id) + "' in supervisor " + self.name() +
                ": ask which_children for the ids");
}

result<child*> supervisor::state::add(child_spec spec) {
  if (!spec.start) return misuse("child '" + spec.id + "' has no start function: set child_spec::start");
  if (find(spec.id))
    return misuse("there is a child '" + spec.id +
                  "' already: choose another id, or send restart_child or delete_child");
  return children.emplace_back(std::make_unique<child>(std::move(spec))).get();
}

void supervisor::state::forget(child* gone) {
  gone->spec.start->retire(self.id());
  std::erase_if(children, [&](const auto& c) { return c.get() == gone; });
}

std::vector<child_state> supervisor::state::states() const {
  std::vector<child_state> out;
  for (const auto& c : children) out.push_back({c->spec.restart, c->handle != nullptr});
  return out;
}

result<std::shared_ptr<child_handle>> supervisor::state::make(child& c) noexcept try {
  auto made = c.spec.start->start(from, self.id());
  if (made && !*made) return misuse("the start function of child '" + c.spec.id + "' returned nothing");
  return made;
} catch (...) {
  return detail::from_current_exception("supervisor");
}

task<result<void>> supervisor::state::start(child* c) {
  const std::stop_token killed = co_await get_stop_token();
  if (killed.stop_requested()) co_return failed_start(*c, cancelled("the start"));
  auto made = make(*c);
  if (!made) co_return failed_start(*c, made.error());
  c->handle = *made;
  c->life = ++lives;
  const auto ready = co_await as_result(c->handle->started().cancel_on(killed));
  if (!ready) {
    c->handle->kill();
    (void)co_await as_result(c->handle->watch().cancel_on(killed));
    if (!killed.stop_requested()) c->handle = nullptr;
    co_return failed_start(*c, ready.error());
  }
  self.pipe(c->handle->watch(), [life = c->life](result<exit_reason> r) {
    return child_ended{life, r ? *std::move(r) : exit_reason{.kind = exit_kind::crashed, .cause = r.error()}};
  });
  co_return {};
}

task<void> supervisor::state::stop(child* c) {
  c->life = 0;  // makes the end that `start` has piped, or the try_again that `restart` has sent, stale
  const std::shared_ptr<child_handle> handle = c->handle;
  if (!handle) co_return;
  const shutdown_policy how = shutdown_of(c->spec);
  const std::stop_token killed = co_await get_stop_token();
  auto ended = handle->watch().cancel_on(killed);
  pending<void> alarm;
  if (how.how() == shutdown_policy::kind::brutal_kill) {
    handle->kill();
  } else {
    handle->stop();
    if (how.how() == shutdown_policy::kind::timeout && !ended.ready()) {
      alarm = clock.wake_at(how.timeout().after(clock.now_ns())).then([handle](result<void> r) {
        if (r) handle->kill();
      });
    }
  }
  auto reason = co_await as_result(ended);
  alarm.cancel();
  if (killed.stop_requested()) co_return;  // ~supervisor kills the remaining children
  if (reason) c->last_exit = *std::move(reason);
  c->handle = nullptr;
}

task<void> supervisor::state::stop_all() {
  for (std::size_t i = children.size(); i-- > 0;) co_await stop(children[i].get());
}

/// Carries out the plan. If a child cannot be started, returns it and sets `why`; returns null if all were started.
task<child*> supervisor::state::carry_out(restart_plan plan, std::optional<error>& why) {
  std::vector<child*> to_stop, to_start, to_forget;
  for (const std::size_t i : plan.stop) to_stop.push_back(children[i].get());
  for (const std::size_t i : plan.start) {
    to_start.push_back(children[i].get());
    to_start.back()->life = 0;  // this start replaces a try_again that may be under way
  }
  for (const std::size_t i : plan.forget) to_forget.push_back(children[i].get());
  for (child* const c : to_stop) co_await stop(c);
  if ((co_await get_stop_token()).stop_requested()) co_return nullptr;  // killed: ~supervisor needs all children
  for (child* const c : to_forget) forget(c);
  for (child* const c : to_start) {
    if (c->handle) continue;
    const auto started = co_await as_result(start(c));
    if (!started) {
      why = started.error();
      co_return c;
    }
    ++c->restarts;
  }
  co_return nullptr;
}

task<void> supervisor::state::restart(child* failed, std::optional<error> why) {
  while (!self.stopping()) {
    if (!intensity.admit(clock.now_ns())) co_return give_up(*failed, why);
    const auto at = std::find_if(children.begin(), children.end(), [&](const auto& c) { return c.get() == failed; });
    const auto index = static_cast<std::size_t>(at - children.begin());
    failed = co_await carry_out(plan_restart(options.strategy, states(), index), why);
    if (!failed) co_return;
    failed->life = ++lives;
    const accepted told = self.self().tell(try_again{failed->life, why});
    if (told || told.error().reaction() == reaction::stopped) co_return;
  }
}

void supervisor::state::give_up(const child& last, const std::optional<error>& why) {
  error::details d{.reaction = reaction::fatal, .domain = "supervisor"};
  d.text = cat("gave up on child '", last.spec.id, "': more than ", options.restarts, " restarts within ",
               options.restart_window.nanoseconds / 1'000'000, " ms");
  if (why) d.text += "; the last failure was: " + why->to_string();
  self.leave(exit_kind::shutdown, error(std::move(d)));
}

}  // namespace troupe
