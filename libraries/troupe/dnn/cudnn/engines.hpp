// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <troupe/dnn/cudnn/backend.hpp>
#include <troupe/dnn/cudnn/cudnn_plan.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

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
  std::function<result<trial_result>(const cudnn_plan&)> try_plan = {};
};

/// Makes a plan with the first engine in cuDNN's order that meets the constraints, or with the fastest one if
/// `measured`. Fails if no engine meets them: with reaction::unsupported if a later call would fail, too, otherwise
/// with reaction::retry_later.
result<cudnn_plan> choose_engine(cudnnHandle_t on, const descriptor& graph, const engine_constraints& constraints);

}  // namespace troupe::dnn::cudnn
