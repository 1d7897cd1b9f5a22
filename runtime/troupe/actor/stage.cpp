// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <optional>
#include <troupe/actor/alarm_clock.hpp>
#include <troupe/actor/stage.hpp>
#include <troupe/async/thread_pool.hpp>
#include <troupe/base/clock.hpp>
#include <vector>

namespace troupe {

struct stage::state {
  explicit state(stage_options o)
      : close_timeout(o.close_timeout),
        where(o.on.get()),
        clock(o.clock),
        objects(ref<object_count>::adopt(new object_count)) {
    if (!where) where = &pool.emplace(o.threads);
    if (!clock) clock = &own_clock.emplace();
  }

  const time_span close_timeout;
  std::optional<thread_pool> pool;
  std::optional<monotonic_clock> own_clock;  // destroyed before the pool, on which continuations of its alarms may run
  executor* where;
  alarm_clock* clock;
  ref<object_count> objects;

  std::mutex guard;  // guards the following members
  std::vector<actor_handle> roots;
  bool closed = false;

  std::optional<actor_handle> take_last() {
    const std::lock_guard lock(guard);
    closed = true;
    if (roots.empty()) return std::nullopt;
    std::optional<actor_handle> last(std::move(roots.back()));
    roots.pop_back();
    return last;
  }
};

stage::stage(stage_options options) : state_(std::make_unique<state>(std::move(options))) {}

stage::~stage() { close(); }

executor& stage::where() const noexcept { return *state_->where; }
alarm_clock& stage::clock() const noexcept { return *state_->clock; }
spawner stage::spawner() const {
  const std::lock_guard lock(state_->guard);
  return troupe::spawner(
      {.where = state_->where, .clock = state_->clock, .objects = state_->objects, .closed = state_->closed});
}

void stage::own(const actor_handle& actor) {
  std::vector<actor_handle> ended;  // releases handles after the guard is unlocked
  {
    const std::lock_guard lock(state_->guard);
    auto& roots = state_->roots;
    if (!state_->closed) {
      if (roots.size() == roots.capacity()) {
        std::erase_if(roots, [&](const actor_handle& a) {
          if (!a->ended()) return false;
          ended.push_back(a);
          return true;
        });
      }
      roots.push_back(actor);
      return;
    }
  }
  if (!actor->origin().closed) actor->kill();  // the stage was closed after the actor was spawned
}

void stage::close() noexcept {
  while (const std::optional<actor_handle> actor = state_->take_last()) {
    pending<void> stopped = detail::stop_and_wait(*actor->get(), exit_kind::shutdown);
    if (stopped.get_until(state_->close_timeout.after(now_ns()))) continue;
    (*actor)->kill();
    (void)stopped.get();
  }
  state_->objects->wait_for_none();
}

}  // namespace troupe
