// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/enumeration.hpp>
#include <troupe/request/checker.hpp>

namespace troupe {

/// The places that managed memory can move to.
enum class managed_place : std::uint8_t {
  device,  ///< the GPU of the device that the request is sent to
  host,
};
TROUPE_ENUM(managed_place, device, host)

/// The advice that a request can give about managed memory.
enum class managed_advice : std::uint8_t {
  read_mostly,  ///< rarely written: each reader gets its own copy
  no_read_mostly,
  preferred_location,  ///< the memory should stay at `where`
  no_preferred_location,
  accessed_by,  ///< `where` uses the memory, and should reach it without a page fault wherever it is
  no_accessed_by,
};
TROUPE_ENUM(managed_advice, read_mostly, no_read_mostly, preferred_location, no_preferred_location, accessed_by,
            no_accessed_by)

/// The advice in force for a whole range of managed memory.
struct managed_range {
  enum class place : std::uint8_t { none, device, host, elsewhere };
  bool read_mostly = false;
  place preferred = place::none;
  bool accessed_by_device = false, accessed_by_host = false;
  place prefetched = place::none;  ///< the target of the last prefetch, which may not have arrived
};

namespace memory {

/// Moves managed memory; the request behind `device::prefetch`.
struct prefetch {
  in<std::byte> range;
  extent bytes;
  managed_place to;
  static constexpr std::string_view not_recorded = "it moves memory at a time that the application knows";
  TROUPE_REQUEST("memory.prefetch", range, bytes, to)
  void check(checker& c) const;
};
/// Gives advice about managed memory; the request behind `device::advise`.
struct advise {
  in<std::byte> range;
  extent bytes;
  managed_advice what;
  managed_place where;
  static constexpr std::string_view not_recorded = "it holds from the time at which it is given";
  TROUPE_REQUEST("memory.advise", range, bytes, what, where)
  void check(checker& c) const;
};
/// Returns the advice in force for managed memory; the request behind `device::managed`.
struct look_at_managed {
  in<std::byte> range;
  extent bytes;
  static constexpr std::string_view not_recorded = "its answer goes to the application";
  using reply = managed_range;
  TROUPE_REQUEST("memory.look_at_managed", range, bytes)
  void check(checker& c) const;
};

}  // namespace memory
}  // namespace troupe
