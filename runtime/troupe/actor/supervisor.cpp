// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/actor/alarm_clock.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/base/cat.hpp>
#include <troupe/base/restart_intensity.hpp>
#include <troupe/base/try.hpp>

namespace troupe {

namespace {

error misuse(std::string text) { return error(reaction::caller_bug, "supervisor", std::move(text)); }

struct child {
  explicit child(child_spec s) : spec(std::move(s)) {}

  child_spec spec;
  std::shared_ptr<child_handle> handle = nullptr;  // null: not running
  std::uint64_t life = 0;                          // which end, or which repeated start, is meant; 0: none
  std::uint64_t restarts = 0;
  std::optional<exit_reason> last_exit = std::nullopt;
};

}  // namespace

/// Only one task of the supervisor runs at a time, so a child found before a wait is still the same after it.
struct supervisor::state {
  state(actor_context<supervisor>& s, const supervisor_options& o)
      : self(s), options(o), clock(*o.clock), intensity(o.restarts, o.restart_window), from(s.spawner()) {}

  actor_context<supervisor>& self;
  const supervisor_options options;
  alarm_clock& clock;
  restart_intensity intensity;
  const spawner from;
  std::vector<std::unique_ptr<child>> children;  // in start order
  std::uint64_t lives = 0;

  child* find(std::string_view id) const noexcept {
    for (const auto& c : children) {
      if (c->spec.id == id) return c.get();
    }
    return nullptr;
  }
  result<child*> need(std::string_view id) const {
    if (child* const c = find(id)) return c;
    return misuse("there is no child '" + std::string(id) + "' in supervisor " + self.name() +
                  ": which_children tells which there are");
  }
  result<void> may_add(const child_spec& spec) const {
    if (!spec.start) return misuse("child '" + spec.id + "' has no start function: set child_spec::start");
    if (find(spec.id))
      return misuse("there is a child '" + spec.id +
                    "' already: choose another id, or restart_child or delete_child first");
    return {};
  }
  void forget(child* gone) {
    gone->spec.start->retire(self.id());
    std::erase_if(children, [&](const auto& c) { return c.get() == gone; });
  }
  std::vector<child_state> states() const {
    std::vector<child_state> out;
    for (const auto& c : children) out.push_back({c->spec.restart, c->handle != nullptr});
    return out;
  }

  result<std::shared_ptr<child_handle>> make(child& c) noexcept try {
    auto made = c.spec.start->start(from, self.id());
    if (made && !*made) return misuse("the start function of child '" + c.spec.id + "' returned nothing");
    return made;
  } catch (...) {
    return detail::from_current_exception("supervisor");
  }

  task<result<void>> start(child* c) {
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
  static error failed_start(const child& c, const error& why) {
    error::details d = why.all();
    d.text = "child '" + c.spec.id + "' could not be started: " + d.text;
    return error(std::move(d));
  }

  task<void> stop(child* c) {
    c->life = 0;  // what `start` has piped, or `restart` told, is stale from here on
    const std::shared_ptr<child_handle> handle = c->handle;
    if (!handle) co_return;
    shutdown_policy how = c->spec.shutdown;
    if (how.how() == shutdown_policy::kind::by_type)
      how = c->spec.type == child_type::supervisor ? shutdown_policy::infinity()
                                                   : shutdown_policy(time_span::of_seconds(5));
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
    if (killed.stop_requested()) co_return;  // our destructor kills what is left
    if (reason) c->last_exit = *std::move(reason);
    c->handle = nullptr;
  }
  task<void> stop_all() {
    for (std::size_t i = children.size(); i-- > 0;) co_await stop(children[i].get());
  }

  /// Carries out one plan. The child that could not be started, if any.
  task<child*> carry_out(restart_plan plan, std::optional<error>& why) {
    std::vector<child*> to_stop, to_start, to_forget;
    for (const std::size_t i : plan.stop) to_stop.push_back(children[i].get());
    for (const std::size_t i : plan.start) {
      to_start.push_back(children[i].get());
      to_start.back()->life = 0;  // a start of it that was to be repeated is this one
    }
    for (const std::size_t i : plan.forget) to_forget.push_back(children[i].get());
    for (child* const c : to_stop) co_await stop(c);
    if ((co_await get_stop_token()).stop_requested()) co_return nullptr;  // killed: ~supervisor needs them all
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

  /// When a start fails it is tried again by a message, so that commands are handled in between.
  task<void> restart(child* failed, std::optional<error> why) {
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
  void give_up(const child& last, const std::optional<error>& why) {
    error::details d{.reaction = reaction::fatal, .domain = "supervisor"};
    d.text = cat("gave up on child '", last.spec.id, "': more than ", options.restarts, " restarts within ",
                 options.restart_window.nanoseconds / 1'000'000, " ms");
    if (why) d.text += "; the last failure was: " + why->to_string();
    self.leave(exit_kind::shutdown, error(std::move(d)));
  }
};

supervisor::supervisor(actor_context<supervisor>& self, supervisor_options options, std::vector<child_spec> children) {
  if (!options.clock) options.clock = self.clock();
  if (!options.clock)
    throw bad_result(misuse("a supervisor needs a clock: spawn it on a stage, or set supervisor_options::clock"));
  state_ = std::make_unique<state>(self, options);
  for (child_spec& spec : children) {
    state_->may_add(spec).value();
    state_->children.push_back(std::make_unique<child>(std::move(spec)));
  }
  self.pipe(make_ready<void>({}), [](const result<void>&) { return begin{}; });
}

supervisor::~supervisor() {
  for (auto c = state_->children.rbegin(); c != state_->children.rend(); ++c) {
    if ((*c)->handle) (*c)->handle->kill();
    (*c)->spec.start->retire(state_->self.id());
  }
}

task<void> supervisor::handle(begin) {
  for (std::size_t i = 0; i < state_->children.size(); ++i) {
    const auto started = co_await as_result(state_->start(state_->children[i].get()));
    if (!started) co_return state_->self.leave(exit_kind::shutdown, started.error());
  }
}

task<void> supervisor::handle(child_ended m) {
  const auto at = std::find_if(state_->children.begin(), state_->children.end(),
                               [&](const auto& c) { return c->handle && c->life == m.life; });
  if (at == state_->children.end()) co_return;  // we have stopped it ourselves
  child& c = **at;
  c.handle = nullptr;
  c.last_exit = m.reason;
  if (must_restart(c.spec.restart, m.reason.kind)) {
    co_await state_->restart(&c, m.reason.cause);
  } else if (c.spec.restart == restart::temporary) {
    state_->forget(&c);
  } else {
    c.spec.start->retire(state_->self.id());
  }
}

task<void> supervisor::handle(try_again m) {
  const auto at = std::find_if(state_->children.begin(), state_->children.end(),
                               [&](const auto& c) { return !c->handle && c->life == m.life; });
  if (at != state_->children.end()) co_await state_->restart(at->get(), m.why);  // else a command has come before it
}

task<result<void>> supervisor::handle(start_child m) {
  co_await state_->may_add(m.spec);
  state_->children.push_back(std::make_unique<child>(std::move(m.spec)));
  child* const added = state_->children.back().get();
  const auto started = co_await as_result(state_->start(added));
  if (!started && !(co_await get_stop_token()).stop_requested()) state_->forget(added);
  co_return started;
}

task<result<void>> supervisor::handle(terminate_child m) {
  child* const c = co_await state_->need(m.id);
  co_await state_->stop(c);
  if ((co_await get_stop_token()).stop_requested()) co_return {};
  if (c->spec.restart == restart::temporary) {
    state_->forget(c);
  } else {
    c->spec.start->retire(state_->self.id());
  }
  co_return {};
}

task<result<void>> supervisor::handle(restart_child m) {
  child* const c = co_await state_->need(m.id);
  if (c->handle) co_return misuse("child '" + m.id + "' is running: terminate_child first");
  co_return co_await as_result(state_->start(c));
}

result<void> supervisor::handle(delete_child m) {
  auto c = TROUPE_TRY(state_->need(m.id));
  if (c->handle) return misuse("child '" + m.id + "' is running: terminate_child first");
  state_->forget(c);
  return {};
}

std::vector<child_info> supervisor::handle(which_children) const {
  std::vector<child_info> out;
  for (const auto& c : state_->children) {
    out.push_back({.id = c->spec.id,
                   .type = c->spec.type,
                   .restart = c->spec.restart,
                   .running = c->handle != nullptr,
                   .restarts = c->restarts,
                   .last_exit = c->last_exit});
  }
  return out;
}

child_counts supervisor::handle(count_children) const {
  child_counts n;
  for (const auto& c : state_->children) {
    ++n.specs;
    if (c->handle) ++n.active;
    ++(c->spec.type == child_type::supervisor ? n.supervisors : n.workers);
  }
  return n;
}

result<ref<child_slot>> supervisor::handle(look_up_child m) const {
  auto c = TROUPE_TRY(state_->need(m.id));
  if (child_slot* const slot = c->spec.start->slot()) return ref<child_slot>::share(slot);
  return misuse("child '" + m.id + "' was not made by supervise<A>(): it has no reference that survives restarts");
}

task<void> supervisor::terminate(exit_reason reason) {
  const bool gave_up = reason.kind == exit_kind::shutdown && reason.cause;
  const std::string why = gave_up ? "its supervisor has given up: " + reason.cause->text()
                                  : "its supervisor has ended: " + reason.to_string();
  for (const auto& c : state_->children) {
    c->spec.start->retire(state_->self.id());
    if (child_slot* const slot = c->spec.start->slot()) slot->retire(state_->self.id(), why);
  }
  co_await state_->stop_all();
}

supervised<supervisor> supervise_tree(std::string id, supervisor_options options, std::vector<child_spec> children) {
  return supervise<supervisor>(std::move(id), actor_options{}, options, std::move(children));
}

}  // namespace troupe
