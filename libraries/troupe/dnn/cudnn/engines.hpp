// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <troupe/dnn/cudnn/backend.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// cuDNN's execution plan for an operation graph.
struct execution_plan {
  descriptor plan;
  std::uint64_t workspace = 0;  ///< bytes of workspace
  /// True if a better engine failed in a way that may not occur again.
  bool is_provisional = false;

  /// Returns the plan as text; "" if cuDNN cannot write it as text.
  std::string text() const;
  /// Returns true if the plan's kernel may read an operand of a fused function before the previous kernel in the stream
  /// has ended. cuDNN lets launches overlap. Kernels that cuDNN 9.19 compiles at run time for an H200 wait for the
  /// previous kernel only before they read images and filters: their instructions and wrong results show it.
  bool reads_early() const;
  /// Makes a plan from the text that an earlier process stored. Returns nullopt if cuDNN does not accept it.
  static std::optional<execution_plan> from(cudnnHandle_t on, const std::string& text);
};

/// The result of trying a plan.
struct trial_result {
  std::string why_not;        ///< reason for rejecting the plan; "" if it is accepted
  double microseconds = 0;    ///< measured run time
  bool is_temporary = false;  ///< true if another trial may accept the plan
};

/// Constraints on the choice among cuDNN's engines.
struct engine_constraints {
  std::uint64_t workspace = ~0ull;                  ///< the most bytes of workspace
  bool deterministic = false;                       ///< true if results must be the same in every run
  bool exact = false;                               ///< true if factors of f32 must not be rounded to fewer digits
  std::vector<std::int64_t> excluded_engines = {};  ///< cuDNN's global indexes of engines that must not be used
  bool measured = false;                            ///< true to choose the fastest engine, not the first
  /// Tries a plan. Fails if the plan cannot be tried now. May be empty: plans are not tried then.
  std::function<result<trial_result>(const execution_plan&)> try_plan = {};
};

/// Makes a plan with the first engine in cuDNN's order that meets the constraints, or with the fastest one if
/// `measured`. Fails if no engine meets them: with reaction::unsupported if a later call would fail, too, otherwise
/// with reaction::retry_later.
result<execution_plan> choose_engine(cudnnHandle_t on, const descriptor& graph, const engine_constraints& constraints);

}  // namespace troupe::dnn::cudnn
