// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/core/actor_core.hpp>
#include <troupe/actor/ending/watch.hpp>

namespace troupe::detail {

namespace {

// The list of watchers has a reference to each of these states. Only the thread that took a state from the list, for
// `exited` or by `remove`, completes it and releases that reference.

class watch_state final : public pending_state<exit_reason>, public watcher {
 public:
  explicit watch_state(actor_core& actor) noexcept : actor_(ref<actor_core>::share(&actor)) {}
  void exited(const exit_reason& reason) noexcept override {
    complete(reason);
    release();
  }
  void cancel() noexcept override {
    if (!actor_->watchers().remove(*this)) return;
    complete(cancelled("watching " + actor_->name()));
    release();
  }

 private:
  const ref<actor_core> actor_;
};

class stop_state final : public pending_state<void>, public watcher {
 public:
  void exited(const exit_reason&) noexcept override {
    complete({});
    release();
  }
};

}  // namespace

pending<exit_reason> watch(actor_core& actor) {
  auto state = ref<watch_state>::adopt(new watch_state(actor));
  actor.watchers().add(*ref<watch_state>(state).leak());
  return pending<exit_reason>(std::move(state));
}

pending<void> stop_and_wait(actor_core& actor, exit_kind kind) {
  auto state = ref<stop_state>::adopt(new stop_state);
  actor.watchers().add(*ref<stop_state>(state).leak());
  actor.stop(kind);
  return pending<void>(std::move(state));
}

}  // namespace troupe::detail
