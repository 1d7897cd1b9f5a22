// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::cuda {

/// One `Lane` for each of the worker's lanes that uses a library, made by `Lane::make()` on first use. A lane is used
/// by one thread at a time, so its entry needs no lock.
template <class Lane>
class per_lane {
 public:
  /// Makes the first lane together with the engine rather than at the first request, because a vendor's first handle
  /// can take long to make.
  static result<per_lane> make(std::uint32_t lanes) {
    auto first = TROUPE_TRY(Lane::make());
    return per_lane(lanes, std::move(first));
  }
  /// Returns the `Lane` of the call's lane, after `Lane::use(call)`.
  result<Lane*> of(const call& c) {
    if (c.lane >= all_.size())
      return error(reaction::fatal, "cuda",
                   cat("lane is ", c.lane, "; expected less than ", all_.size(), ", the worker's lanes"));
    std::unique_ptr<Lane>& place = all_[c.lane];
    if (place == nullptr) [[unlikely]]
      place = TROUPE_TRY(next());
    TROUPE_TRY(place->use(c));
    return place.get();
  }
  /// Returns the `Lane` that `make` has made. Precondition: `of` has not been called yet.
  Lane& first() noexcept { return *spare_; }

 private:
  per_lane(std::uint32_t lanes, std::unique_ptr<Lane> first) : all_(lanes), spare_(std::move(first)) {}
  result<std::unique_ptr<Lane>> next() {
    {
      const std::scoped_lock guard(*lock_);
      if (spare_ != nullptr) return std::move(spare_);
    }
    return Lane::make();
  }

  std::vector<std::unique_ptr<Lane>> all_;
  std::unique_ptr<std::mutex> lock_ = std::make_unique<std::mutex>();  ///< guards `spare_`
  std::unique_ptr<Lane> spare_;
};

}  // namespace troupe::cuda
