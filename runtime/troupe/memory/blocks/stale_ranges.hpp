// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <troupe/base/error.hpp>
#include <vector>

namespace troupe {

/// The bytes of a block that do not hold what a request should have written, with the causes. Each mark has a place in
/// the order of requests, and does not affect requests before that place.
class stale_ranges {
 public:
  /// Return the place of a request's marks, and the place of the marks of requests that were refused before the next
  /// one was accepted.
  static constexpr std::uint64_t place_of(std::uint64_t ticket) noexcept { return 2 * ticket; }
  static constexpr std::uint64_t place_behind(std::uint64_t ticket) noexcept { return 2 * ticket + 1; }
  /// A range of addresses. A block without memory has the range of all addresses.
  struct range {
    std::uint64_t begin, end;
    static constexpr range all() noexcept { return {0, UINT64_MAX}; }
  };

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(marks_.size()); }

  /// Marks the output of a request that failed.
  void add(range r, std::uint64_t place, error cause) { add({r.begin, r.end, place, std::move(cause)}); }
  /// Marks bytes that were lost with a worker, including what requests sent to it later have written.
  void add_loss(range r, std::uint64_t place, error cause);
  /// Marks bytes that the lost worker may have overwritten before an older request has read them. A block can have
  /// several such marks, but only one of `add_loss`.
  void add_overwritten(range r, std::uint64_t place, error cause) {
    add({r.begin, r.end, place, std::move(cause), true});
  }
  /// Marks the output of a refused request. The request did not run, so bytes that were valid before are unchanged.
  void add_refusal(range r, std::uint64_t place, const error& cause);
  /// Removes the bytes from marks whose place is before `before`, and, with `losses`, from marks of losses.
  void cut(range r, std::uint64_t before, bool losses = false);
  /// Removes marks of refusals, if the bytes have no other marks. Otherwise returns the cause of the other mark and
  /// changes nothing.
  std::optional<error> forgive(range r);
  void clear() noexcept;

  /// Returns the cause that makes the bytes stale for the request with this ticket, if there is one.
  std::optional<error> cause(range r, std::uint64_t ticket) const;

 private:
  struct mark {
    std::uint64_t begin, end;
    std::uint64_t place;
    error cause;
    bool lost = false;  // lost with a worker: affects every request kept for the next worker, even an older one
    bool refused = false;
    std::shared_ptr<const error> spoiled_by = {};  // the cause that marked the bytes before the refusal

    bool intact() const noexcept { return refused && spoiled_by == nullptr; }
    bool touches(range r) const noexcept { return begin < r.end && r.begin < end; }
  };
  void add(mark m);

  std::vector<mark> marks_;  // unordered
  std::uint64_t reach_ = 0;  // no mark ends after this
};

}  // namespace troupe
