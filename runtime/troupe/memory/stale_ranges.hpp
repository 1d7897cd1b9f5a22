// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <troupe/base/error.hpp>
#include <vector>

namespace troupe {

/// The bytes of a block that do not hold what a request should have written, and why. Marks have places in the order of
/// requests: a mark does not affect requests sent before the one that caused it.
class stale_ranges {
 public:
  /// The place of a request among the marks, and the place of requests refused between it and the next one.
  static constexpr std::uint64_t place_of(std::uint64_t ticket) noexcept { return 2 * ticket; }
  static constexpr std::uint64_t place_behind(std::uint64_t ticket) noexcept { return 2 * ticket + 1; }
  /// A range of addresses; all addresses, for a block without memory.
  struct range {
    std::uint64_t begin, end;
    static constexpr range all() noexcept { return {0, UINT64_MAX}; }
  };

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(marks_.size()); }

  /// Marks the output of the failed request at this place.
  void add(range r, std::uint64_t place, error cause) { add({r.begin, r.end, place, std::move(cause)}); }
  /// Marks bytes that were lost with a worker, together with what later requests to that worker wrote.
  void add_loss(range r, std::uint64_t place, error cause);
  /// Marks bytes that the lost worker may have overwritten, although a request that is older than the one which did so
  /// has yet to read them. Unlike losses, of these a block has several.
  void add_overwritten(range r, std::uint64_t place, error cause) {
    add({r.begin, r.end, place, std::move(cause), true});
  }
  /// Marks the output of a refused request. Nothing ran, so the bytes are unchanged, and valid if they were before.
  void add_refusal(range r, std::uint64_t place, const error& cause);
  /// Removes the bytes from marks before this place, and, if `losses`, from marks of losses.
  void cut(range r, std::uint64_t before, bool losses = false);
  /// Removes marks of refusals, if the bytes have no other marks. Otherwise returns the reason and changes nothing.
  std::optional<error> forgive(range r);
  void clear() noexcept;

  /// Returns the first cause that makes the bytes stale for the request with this ticket, if any.
  std::optional<error> cause(range r, std::uint64_t ticket) const;

 private:
  struct mark {
    std::uint64_t begin, end;
    std::uint64_t place;
    error cause;
    bool lost = false;  // with a worker: counts as before any request kept for the next worker, even an older one
    bool refused = false;
    std::shared_ptr<const error> spoiled_by = {};  // the cause that was there before the refusal

    bool intact() const noexcept { return refused && spoiled_by == nullptr; }
    bool touches(range r) const noexcept { return begin < r.end && r.begin < end; }
  };
  void add(mark m);

  std::vector<mark> marks_;  // in no order
  std::uint64_t reach_ = 0;  // no mark ends after this
};

}  // namespace troupe
