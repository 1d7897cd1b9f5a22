// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <troupe/dnn/cudnn/backend.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// A part of a graph, ready to be run.
struct execution_plan {
  descriptor plan;
  std::uint64_t workspace = 0;  ///< bytes
  /// An engine that cuDNN prefers failed, but perhaps not always.
  bool is_provisional = false;

  /// Returns its attributes as text, "" if cuDNN has none for it.
  std::string text() const;
  /// Whether it may read what it adds to a result, or multiplies it with, before the kernel before it has ended. cuDNN
  /// lets launches overlap, and kernels that 9.19 compiles at run time for an H200 wait only before they read images
  /// and filters: seen in their instructions, and in wrong results.
  bool reads_early() const;
  /// Makes the plan of an earlier process. Returns nothing if cuDNN does not accept it.
  static std::optional<execution_plan> from(cudnnHandle_t on, const std::string& text);
};

/// What came of trying a plan.
struct attempt {
  std::string why_not;      ///< why it is not taken; "" if it is
  double microseconds = 0;  ///< that it took
  bool is_passing = false;  ///< whether it may be taken another time
};

/// What an engine of cuDNN must be like.
struct engine_wishes {
  std::uint64_t workspace = ~0ull;  ///< bytes, at most
  bool deterministic = false;
  bool exact = false;                         ///< factors of f32 are not rounded to fewer digits
  std::vector<std::int64_t> distrusted = {};  ///< numbers of engines that are not taken
  bool measured = false;                      ///< the fastest is chosen, not the first
  /// Tries a plan. Fails if that is not possible now. May be empty.
  std::function<result<attempt>(const execution_plan&)> attempt_at = {};
};

/// Makes the plan of the first engine, in the order of cuDNN's heuristics, that is as wished. Fails with the reason if
/// there is none: with reaction::unsupported if that will be the same another time.
result<execution_plan> choose_engine(cudnnHandle_t on, const descriptor& graph, const engine_wishes& w);

}  // namespace troupe::dnn::cudnn
