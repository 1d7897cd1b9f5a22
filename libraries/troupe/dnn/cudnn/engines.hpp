// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/dnn/cudnn/backend.hpp>

namespace troupe::dnn::cudnn {

/// What plans are made for: a GPU, or one that is described.
struct chip {
  cudnnHandle_t handle = nullptr;
  const descriptor* described = nullptr;
};

/// What an engine of cuDNN must be like.
struct engine_wishes {
  std::uint64_t workspace = ~0ull;  ///< bytes, at most
  bool deterministic = false;
  bool exact = false;  ///< factors of f32 are not rounded to fewer digits
};

/// A part of a graph, ready to be run.
struct execution_plan {
  descriptor plan;
  std::uint64_t workspace = 0;  ///< bytes

  /// Returns its form as text, "" if cuDNN has none for it.
  std::string text() const;
  /// Makes the plan of an earlier process. Returns nothing if cuDNN does not accept it.
  static std::optional<execution_plan> from(const chip& on, const std::string& text);
};

/// Makes the plan of the first engine, in the order of cuDNN's heuristics, that is as wished. Fails with
/// reaction::unsupported, and the reason, if there is none.
result<execution_plan> choose_engine(const chip& on, const descriptor& graph, const engine_wishes& w);

}  // namespace troupe::dnn::cudnn
