// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <troupe/base/enumeration.hpp>

namespace troupe::faults {

/// The faults that a storm can inject. Those from `segmentation_fault` on are sent as requests (see requests.hpp), so
/// they need the engine of `faults`.
enum class kind : std::uint8_t {
  kill_worker,
  kill_standby,
  kill_all,       ///< the worker and all standbys, at once
  kill_promoted,  ///< the worker, and then its successor while it is being promoted
  stop_worker,    ///< SIGSTOP; the worker continues after `storm_options::pause`, unless it is ended before
  stop_standby,
  segmentation_fault,
  abort,
  abort_in_helper,
  illegal_instruction,
  floating_point_trap,
  exit,
  stack_overflow,
  hang,  ///< for `storm_options::pause`, or until `storm_options::run_timeout` ends it
  exhaust_memory,
  garbage,
  failed_assertion,
  shared_memory_overflow,
};
TROUPE_ENUM(kind, kill_worker, kill_standby, kill_all, kill_promoted, stop_worker, stop_standby, segmentation_fault,
            abort, abort_in_helper, illegal_instruction, floating_point_trap, exit, stack_overflow, hang,
            exhaust_memory, garbage, failed_assertion, shared_memory_overflow)
inline constexpr std::size_t kind_count = 18;

/// Returns all kinds, in the order of the enumeration.
std::span<const kind> all_kinds() noexcept;
/// Returns the kind with that name, or nullopt.
std::optional<kind> kind_of(std::string_view name) noexcept;

}  // namespace troupe::faults
