// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <troupe/actor/exit_reason.hpp>
#include <vector>

// What a supervisor decides, as pure functions of what it knows: no clock, no actors. The rules and names are OTP's.
namespace troupe {

/// When a child that has ended is started again.
enum class restart : std::uint8_t {
  permanent,  ///< always
  transient,  ///< when it was killed or crashed
  temporary,  ///< never; its specification is forgotten when it ends
};

/// Whom the failure of one child concerns.
enum class strategy : std::uint8_t {
  one_for_one,   ///< that child
  one_for_all,   ///< all children
  rest_for_one,  ///< that child and those started after it
};

std::string_view to_string(strategy s) noexcept;

/// A child whose exit was of this kind is started again.
bool must_restart(restart type, exit_kind exit) noexcept;

/// What a decision about restarts depends on, of one child.
struct child_state {
  restart type = restart::permanent;
  bool running = true;
};

/// What to do about a failed child, as indices into the children in start order. The lists are worked through in turn.
struct restart_plan {
  std::vector<std::size_t> stop;   ///< running children, in the order they are stopped: last started first
  std::vector<std::size_t> start;  ///< in the order they are started
  /// Temporary children among the stopped ones, ascending: they are not started again.
  std::vector<std::size_t> forget;

  friend bool operator==(const restart_plan&, const restart_plan&) = default;
};

/// `failed` is not running any more and is to be started again.
restart_plan plan_restart(strategy s, std::span<const child_state> children, std::size_t failed);

}  // namespace troupe
