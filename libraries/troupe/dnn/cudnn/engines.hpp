// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <troupe/dnn/cudnn/backend.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// An operation graph that cuDNN has planned.
struct execution_plan {
  descriptor plan;
  std::uint64_t workspace = 0;  ///< bytes
  /// True if an engine that cuDNN prefers failed, perhaps only this time.
  bool is_provisional = false;

  /// Returns the plan as text; "" if cuDNN has none for it.
  std::string text() const;
  /// Returns true if it may read an operand of a fused function before the previous kernel has ended. cuDNN lets
  /// launches overlap, and kernels that 9.19 compiles at run time for an H200 wait only before they read images and
  /// filters, as their instructions and wrong results show.
  bool reads_early() const;
  /// Makes the plan of an earlier process. Returns nothing if cuDNN does not accept it.
  static std::optional<execution_plan> from(cudnnHandle_t on, const std::string& text);
};

/// The result of trying a plan.
struct trial_result {
  std::string why_not;        ///< why the plan is rejected; "" if it is accepted
  double microseconds = 0;    ///< measured run time
  bool is_temporary = false;  ///< true if it may be accepted another time
};

/// Constraints on an engine of cuDNN.
struct engine_constraints {
  std::uint64_t workspace = ~0ull;                  ///< maximum number of bytes
  bool deterministic = false;                       ///< results are the same each time
  bool exact = false;                               ///< factors of f32 are not rounded to fewer digits
  std::vector<std::int64_t> excluded_engines = {};  ///< numbers of engines that must not be used
  bool measured = false;                            ///< the fastest is chosen, not the first
  /// Tries a plan. Fails if it cannot be tried now. May be empty.
  std::function<result<trial_result>(const execution_plan&)> try_plan = {};
};

/// Makes the plan of the first engine, in the order of cuDNN's heuristics, that meets the constraints. Fails with the
/// reason if there is none: with reaction::unsupported if it would fail again later.
result<execution_plan> choose_engine(cudnnHandle_t on, const descriptor& graph, const engine_constraints& constraints);

}  // namespace troupe::dnn::cudnn
