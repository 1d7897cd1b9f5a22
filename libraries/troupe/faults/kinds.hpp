// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace troupe::faults {

/// What a storm does. Those of `requests.hpp` are sent as requests, so they need the engine of `faults`.
enum class kind : std::uint8_t {
  kill_worker,
  kill_standby,
  kill_all,       ///< the worker and all standbys, at once
  kill_promoted,  ///< the worker, and the next one as soon as it has its place
  stop_worker,    ///< SIGSTOP; it goes on after `storm_options::pause`, unless it is ended before
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
inline constexpr std::size_t kind_count = 18;

/// All of them, in this order.
std::span<const kind> all_kinds() noexcept;
/// "kill_worker"
std::string_view to_string(kind k) noexcept;
/// The kind of that name.
std::optional<kind> kind_of(std::string_view name) noexcept;

}  // namespace troupe::faults
