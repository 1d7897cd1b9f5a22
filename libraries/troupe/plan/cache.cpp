// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/hash/fnv.hpp>
#include <troupe/plan/cache.hpp>

namespace troupe::plan::detail {
namespace {

// Returns true if another attempt would fail in the same way.
bool is_lasting(const error& e) noexcept {
  return e.reaction() == reaction::unsupported || e.reaction() == reaction::caller_bug;
}

}  // namespace

// Hashes eight bytes at a time: keys are often longer than a hundred bytes, and each request hashes one.
std::size_t any_cache::hash::operator()(std::string_view key) const noexcept {
  std::uint64_t h = fnv1a("plan"), word = 0;
  for (; key.size() >= sizeof word; key.remove_prefix(sizeof word)) {
    std::memcpy(&word, key.data(), sizeof word);
    h = fnv1a(h, word);
  }
  word = key.size();
  std::memcpy(reinterpret_cast<char*>(&word) + 1, key.data(), key.size());
  return fnv1a(h, word);
}

// The making of one plan. After an exception, the destructor ends it, so that waiting threads wake up.
class any_cache::flight {
 public:
  flight(any_cache& of, entries::iterator at) noexcept : of_(of), at_(at) {}
  flight(const flight&) = delete;
  flight& operator=(const flight&) = delete;
  ~flight() {
    if (!over_)
      land([this](entries& gone) {
        if (at_->plan == nullptr) of_.move_out(at_, gone);
      });
  }
  // Stores the plan and returns it, or returns the plan that `put` has stored meanwhile.
  any_plan made(any_plan plan) {
    land([&](entries& gone) {
      if (at_->plan == nullptr) at_->plan = std::move(plan), ++of_.counted_.made;
      plan = at_->plan;
      of_.trim(of_.settings_.most, false, gone);
    });
    return plan;
  }
  void failed(const error& why) {
    land([&](entries& gone) {
      if (at_->plan != nullptr) return;
      if (!is_lasting(why)) return of_.move_out(at_, gone);
      at_->failed = why;
      ++of_.counted_.failures;
      of_.trim(of_.settings_.most_failures, true, gone);
    });
  }

 private:
  template <class F>
  void land(F&& f) {
    over_ = true;
    entries gone;
    {
      const std::scoped_lock guard(of_.lock_);
      at_->being_made = false;
      f(gone);
    }
    of_.made_.notify_all();
    of_.drop(std::move(gone));
  }
  any_cache& of_;
  const entries::iterator at_;
  bool over_ = false;
};

result<any_cache::any_plan> any_cache::get(std::string_view key, maker make) {
  std::unique_lock guard(lock_);
  for (bool waited = false;; waited = true) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) break;
    entry& e = *found->second;
    all_.splice(all_.begin(), all_, found->second);
    if (!e.being_made) {
      ++(e.failed ? counted_.remembered_failures : counted_.hits);
      if (e.failed) return *e.failed;
      return e.plan;
    }
    if (!waited) ++counted_.waits;
    made_.wait(guard);
  }
  ++counted_.misses;
  all_.push_front({.key = std::string(key)});
  by_key_.emplace(all_.front().key, all_.begin());
  flight mine(*this, all_.begin());
  guard.unlock();
  auto plan = make.make(make.with);
  if (plan) return mine.made(std::move(*plan));
  mine.failed(plan.error());
  return plan;
}

bool any_cache::has(std::string_view key) const {
  const std::scoped_lock guard(lock_);
  const auto found = by_key_.find(key);
  return found != by_key_.end() && !found->second->being_made;
}

// Precondition of this function and of `trim`: lock_ is held.
void any_cache::move_out(entries::iterator at, entries& gone) {
  by_key_.erase(at->key);
  gone.splice(gone.end(), all_, at);
}

void any_cache::trim(std::size_t most, bool failures, entries& gone) {
  const auto counts = [failures](const entry& e) { return !e.being_made && e.failed.has_value() == failures; };
  auto have = static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), counts));
  for (auto at = all_.end(); have > most && at != all_.begin();) {
    const auto here = std::prev(at);
    if (!counts(*here)) {
      at = here;
      continue;
    }
    move_out(here, gone);
    --have;
    if (!failures) ++counted_.dropped;
  }
}

void any_cache::drop_if(const std::function<bool(std::string_view)>& unwanted) {
  entries gone;
  {
    const std::scoped_lock guard(lock_);
    for (auto at = all_.begin(); at != all_.end();) {
      const auto next = std::next(at);
      if (!at->being_made && unwanted(at->key)) move_out(at, gone);
      at = next;
    }
    changes_.fetch_add(1, std::memory_order_release);
  }
  drop(std::move(gone));
}

void any_cache::drop(std::string_view key, const void* plan) {
  entries gone;
  {
    std::unique_lock guard(lock_);
    auto found = by_key_.end();
    made_.wait(guard, [&] { return (found = by_key_.find(key)) == by_key_.end() || !found->second->being_made; });
    changes_.fetch_add(1, std::memory_order_release);  // a `recent` may hold the plan even if the cache does not
    if (plan == nullptr || found == by_key_.end() || found->second->plan.get() != plan) return;
    move_out(found->second, gone);
  }
  drop(std::move(gone));
}

// Destroys the entries. Precondition: lock_ is not held.
void any_cache::drop(entries gone) {
  const bool plans = std::any_of(gone.begin(), gone.end(), [](const entry& e) { return e.plan != nullptr; });
  if (plans && settings_.before_drop) settings_.before_drop();
}

statistics any_cache::counted() const {
  statistics out = counted_;
  out.plans = static_cast<std::uint64_t>(
      std::count_if(all_.begin(), all_.end(), [](const entry& e) { return e.plan != nullptr; }));
  return out;
}

statistics any_cache::count() const {
  const std::scoped_lock guard(lock_);
  return counted();
}

statistics any_cache::count_anew() {
  const std::scoped_lock guard(lock_);
  const statistics out = counted();
  counted_ = {};
  return out;
}

// Replaces an existing plan. An entry whose plan is being made stays in the list, because its `flight` refers to it.
void any_cache::put(std::string_view key, any_plan plan) {
  entries gone;
  {
    const std::scoped_lock guard(lock_);
    ++counted_.made;
    const auto found = by_key_.find(key);
    if (found != by_key_.end() && found->second->being_made) {
      std::swap(found->second->plan, plan);
    } else {
      if (found != by_key_.end()) move_out(found->second, gone);
      all_.push_front({.key = std::string(key), .being_made = false, .plan = std::move(plan)});
      by_key_.emplace(all_.front().key, all_.begin());
      trim(settings_.most, false, gone);
    }
    changes_.fetch_add(1, std::memory_order_release);
  }
  drop(std::move(gone));
}

}  // namespace troupe::plan::detail
