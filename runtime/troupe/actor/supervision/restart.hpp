// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <troupe/actor/ending/exit_reason.hpp>
#include <troupe/base/enumeration.hpp>
#include <vector>

// The decisions of a supervisor, as pure functions without clock or actors. Rules and names are those of OTP.
namespace troupe {

/// Decides if a child that has ended is started again.
enum class restart : std::uint8_t {
  permanent,  ///< always
  transient,  ///< if it was killed or has crashed
  temporary,  ///< never; its specification is forgotten when it ends
};

/// Selects the children that are restarted when one of them fails.
enum class strategy : std::uint8_t {
  one_for_one,   ///< the failed child
  one_for_all,   ///< all children
  rest_for_one,  ///< the failed child and the children started after it
};
TROUPE_ENUM(strategy, one_for_one, one_for_all, rest_for_one)

/// Returns true if a child of this type is started again after such an exit.
bool must_restart(restart type, exit_kind exit) noexcept;

/// The state of a child that restart decisions depend on.
struct child_state {
  restart type = restart::permanent;
  bool running = true;
};

/// The actions after a child's failure: indices of children in start order. Carried out list by list.
struct restart_plan {
  std::vector<std::size_t> stop;   ///< running children in the order in which they are stopped: last started first
  std::vector<std::size_t> start;  ///< in the order in which they are started
  /// Temporary children among the stopped ones, ascending. They are not started again.
  std::vector<std::size_t> forget;

  friend bool operator==(const restart_plan&, const restart_plan&) = default;
};

/// Returns the plan for the child with index `failed`, which has ended and must be started again.
restart_plan plan_restart(strategy s, std::span<const child_state> children, std::size_t failed);

}  // namespace troupe
