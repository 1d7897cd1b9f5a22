// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/actor/internal/supervisor_state.hpp>
#include <troupe/base/try.hpp>

namespace troupe {

namespace {
using child = detail::supervised_child;
}  // namespace

supervisor::supervisor(actor_context<supervisor>& self, supervisor_options options, std::vector<child_spec> children) {
  if (!options.clock) options.clock = self.clock();
  if (!options.clock)
    throw bad_result(
        state::misuse("a supervisor needs a clock: spawn it on a stage, or set supervisor_options::clock"));
  state_ = std::make_unique<state>(self, options);
  for (child_spec& spec : children) (void)state_->add(std::move(spec)).value();
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
  if (at == state_->children.end()) co_return;  // this supervisor has stopped the child itself
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
  if (at == state_->children.end()) co_return;  // a command has handled the child before this message
  co_await state_->restart(at->get(), m.why);
}

task<result<void>> supervisor::handle(start_child m) {
  child* const added = co_await state_->add(std::move(m.spec));
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
  if (c->handle) co_return state::misuse("child '" + m.id + "' is running: send terminate_child first");
  co_return co_await as_result(state_->start(c));
}

result<void> supervisor::handle(delete_child m) {
  auto c = TROUPE_TRY(state_->need(m.id));
  if (c->handle) return state::misuse("child '" + m.id + "' is running: send terminate_child first");
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
  return state::misuse("child '" + m.id +
                       "' was not made by supervise<A>(): it has no reference that survives restarts");
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
