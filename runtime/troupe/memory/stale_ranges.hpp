// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <troupe/base/error.hpp>
#include <vector>

namespace troupe {

/// Which bytes of a block do not hold what a request should have written, and why. Marks have places in the order of
/// requests: a mark says nothing to those that were sent before what made it.
class stale_ranges {
 public:
  /// A request's place among the marks, and that of what was refused between it and the next one.
  static constexpr std::uint64_t place_of(std::uint64_t ticket) noexcept { return 2 * ticket; }
  static constexpr std::uint64_t place_behind(std::uint64_t ticket) noexcept { return 2 * ticket + 1; }
  /// Addresses; everything, for a block without memory.
  struct range {
    std::uint64_t begin, end;
    static constexpr range all() noexcept { return {0, UINT64_MAX}; }
  };

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(marks_.size()); }

  /// The request at this place has failed.
  void add(range r, std::uint64_t place, error cause) { add({r.begin, r.end, place, std::move(cause)}); }
  /// The bytes are gone with a worker, together with whatever later requests that it was sent have written.
  void add_loss(range r, std::uint64_t place, error cause);
  /// A request was refused: nothing ran, so the bytes are as they were, if nothing was wrong with them before.
  void add_refusal(range r, std::uint64_t place, const error& cause);
  /// Takes the bytes out of the marks before this place, and on demand out of those of losses.
  void cut(range r, std::uint64_t before, bool losses = false);
  /// Marks of refusals go, where nothing else is wrong with the bytes; else the reason, and all stays as it is.
  std::optional<error> forgive(range r);
  void clear() noexcept;

  /// Why the bytes are stale for the request with this ticket: the first cause.
  std::optional<error> cause(range r, std::uint64_t ticket) const;

 private:
  struct mark {
    std::uint64_t begin, end;
    std::uint64_t place;
    error cause;
    bool lost = false;  // with a worker: before whatever has been kept for the next one, also with an earlier ticket
    bool refused = false;
    std::shared_ptr<const error> spoiled_by = {};  // what was wrong before the refusal

    bool intact() const noexcept { return refused && spoiled_by == nullptr; }
    bool touches(range r) const noexcept { return begin < r.end && r.begin < end; }
  };
  void add(mark m);

  std::vector<mark> marks_;  // in no order
  std::uint64_t reach_ = 0;  // no mark ends after this
};

}  // namespace troupe
