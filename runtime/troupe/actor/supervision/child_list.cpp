// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/core/actor_core.hpp>
#include <troupe/actor/supervision/child_list.hpp>

namespace troupe::detail {

namespace {

/// Wakes the parent when its child has ended.
class child_watcher final : public watcher {
 public:
  explicit child_watcher(actor_core& parent) noexcept : parent_(ref<actor_core>::share(&parent)) {}
  void exited(const exit_reason&) noexcept override {
    parent_->push_system(std::make_unique<system_message>());
    delete this;
  }

 private:
  const ref<actor_core> parent_;
};

}  // namespace

void child_list::adopt(actor_core& child) {
  std::vector<actor_core*> ended;  // releases handles after guard_ is unlocked
  bool adopted = false;
  {
    const std::lock_guard lock(guard_);
    if (open_) {
      if (children_.size() == children_.capacity()) {
        std::erase_if(children_, [&](actor_core* c) {
          if (!c->ended()) return false;
          ended.push_back(c);
          return true;
        });
      }
      children_.push_back(&child);
      child.add_handle();
      adopted = true;
    }
  }
  if (!adopted) child.kill();
  for (actor_core* const c : ended) c->drop_handle();
}

bool child_list::stop_all(actor_core& parent, bool kill) {
  {
    const std::lock_guard lock(guard_);
    open_ = false;
  }
  while (!children_.empty()) {
    actor_core* const child = children_.back();
    if (child->ended()) {
      children_.pop_back();
      child->drop_handle();
      continue;
    }
    if (stopped_ != child) {
      stopped_ = child;
      killed_ = false;
      auto watch = std::make_unique<child_watcher>(parent);
      if (!child->watchers().add(*watch.release())) continue;
      if (!kill) child->stop(exit_kind::shutdown);
    }
    if (kill && !std::exchange(killed_, true)) child->kill();
    if (!child->ended()) return false;
  }
  return true;
}

}  // namespace troupe::detail
