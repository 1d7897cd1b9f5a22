// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <troupe/base/try.hpp>
#include <troupe/plan/cache.hpp>
#include <utility>

namespace troupe::plan {

/// The plan of the last request, because the next request often has the same key. Used by one thread at a time.
template <class Plan>
class recent {
 public:
  /// The key of the next request. Write it before `get`. The string's memory is reused.
  std::string& key() noexcept { return next_key_; }

  /// Returns the plan of `key()`: the last plan if it has this key, else `from.get(key(), make)`. The pointer is valid
  /// until the next call.
  template <class Make>
  result<const std::shared_ptr<const Plan>*> get(cache<Plan>& from, Make&& make) {
    const std::uint64_t now = from.changes();
    if (plan_ != nullptr && changes_ == now && key_ == next_key_) [[likely]]
      return &plan_;
    plan_ = TROUPE_TRY(from.get(next_key_, std::forward<Make>(make)));
    changes_ = now;
    std::swap(key_, next_key_);
    return &plan_;
  }

 private:
  std::string key_, next_key_;
  std::shared_ptr<const Plan> plan_;
  std::uint64_t changes_ = 0;  // `cache::changes()` when `plan_` was found
};

}  // namespace troupe::plan
