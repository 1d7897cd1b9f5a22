// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/plan/statistics.hpp>
#include <unordered_map>

namespace troupe::plan {

namespace detail {

/// The implementation of `cache` for plans of any type.
class any_cache {
 public:
  struct settings {
    std::size_t most = 256;                  ///< limit of plans; beyond it, the least recently used are dropped
    std::size_t most_failures = 64;          ///< limit of remembered failures
    std::function<void()> before_drop = {};  ///< called before plans are dropped, to wait for devices that use them
  };
  using any_plan = std::shared_ptr<void>;
  /// A function that makes a plan, and its argument.
  struct maker {
    result<any_plan> (*make)(void* with);
    void* with;
  };

  explicit any_cache(settings s) : settings_(std::move(s)) {}
  result<any_plan> get(std::string_view key, maker make);
  bool has(std::string_view key) const;
  void drop_if(const std::function<bool(std::string_view key)>& unwanted);
  void drop(std::string_view key, const void* plan);
  std::uint64_t changes() const noexcept { return changes_.load(std::memory_order_acquire); }
  statistics count() const;
  statistics count_anew();
  void put(std::string_view key, any_plan plan);

 private:
  struct entry {
    std::string key;
    bool being_made = true;
    any_plan plan = {};  // while a plan is being made: null, or a plan from `put`, which the made plan does not replace
    std::optional<error> failed = {};
  };
  using entries = std::list<entry>;
  struct hash {
    std::size_t operator()(std::string_view key) const noexcept;
  };
  class flight;
  statistics counted() const;
  void trim(std::size_t most, bool failures, entries& gone);
  void move_out(entries::iterator at, entries& gone);
  void drop(entries gone);

  const settings settings_;
  mutable std::mutex lock_;
  std::condition_variable made_;
  entries all_;  // most recently used first
  std::unordered_map<std::string_view, entries::iterator, hash> by_key_;
  statistics counted_;
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace detail

/// The plans of an engine, and remembered failures to make one. They are found by a key, whose bytes are compared in
/// full. If several threads need the same plan, one makes it and the others wait. An `unsupported` or `caller_bug`
/// error is remembered, because the next attempt would fail in the same way; after any other failure the next caller
/// tries again. Thread-safe.
template <class Plan>
class cache {
 public:
  using settings = detail::any_cache::settings;
  explicit cache(settings s = {}) : any_(std::move(s)) {}

  /// Returns the plan of the key, or the remembered failure. If there is neither, calls `make()`, which returns a
  /// result<std::shared_ptr<Plan>>, and stores its result.
  template <class Make>
  result<std::shared_ptr<Plan>> get(std::string_view key, Make&& make) {
    auto got = any_.get(key, {[](void* with) -> result<std::shared_ptr<void>> {
                                auto made = (*static_cast<std::remove_reference_t<Make>*>(with))();
                                if (!made) return made.error();
                                return std::shared_ptr<void>(std::move(*made));
                              },
                              const_cast<void*>(static_cast<const void*>(&make))});
    if (!got) return got.error();
    return std::static_pointer_cast<Plan>(std::move(*got));
  }
  /// Returns true if `get` would return at once: there is a plan, or a remembered failure.
  bool has(std::string_view key) const { return any_.has(key); }
  /// Stores a plan. It replaces an existing plan of the key. A plan that is being made for the key will be discarded.
  void put(std::string_view key, std::shared_ptr<Plan> plan) { any_.put(key, std::move(plan)); }
  /// Drops the plans and failures for whose keys `unwanted(key)` returns true.
  void drop_if(const std::function<bool(std::string_view key)>& unwanted) { any_.drop_if(unwanted); }
  /// Drops the plan of the key if it still is `plan`. Waits while a plan of the key is being made.
  void drop(std::string_view key, const std::shared_ptr<const Plan>& plan) { any_.drop(key, plan.get()); }
  /// Returns the number of calls of `put`, `drop` and `drop_if`. While this number is the same, a plan that `get`
  /// returned is not replaced.
  std::uint64_t changes() const noexcept { return any_.changes(); }
  /// Returns the statistics since the last call of `count_anew`.
  statistics count() const { return any_.count(); }
  /// Returns the statistics and resets them: they count from 0 from now on.
  statistics count_anew() { return any_.count_anew(); }

 private:
  detail::any_cache any_;
};

}  // namespace troupe::plan
