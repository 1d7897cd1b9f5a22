// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/request/engine_info.hpp>
#include <vector>

/// A worker's description of itself, which is the text of a `ready` message.
namespace troupe::protocol {

struct worker_description {
  std::string gpu;                   ///< the text of a gpu_description; empty: the worker has no GPU
  std::vector<engine_info> engines;  ///< loaded engines

  bool operator==(const worker_description&) const = default;
};

std::string text_of(const worker_description& worker);
/// Parses a description. Skips lines that do not describe an engine.
worker_description parse_worker_description(const std::string& text);

}  // namespace troupe::protocol
