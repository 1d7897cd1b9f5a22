// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/request/engine_info.hpp>
#include <vector>

/// A worker's description of itself, the text of the message `ready`.
namespace troupe::protocol {

struct worker_description {
  std::string gpu;                   ///< text of a gpu_description; empty: no GPU
  std::vector<engine_info> engines;  ///< loaded engines

  bool operator==(const worker_description&) const = default;
};

std::string text_of(const worker_description& worker);
/// Parses a description. Skips lines that are not an engine.
worker_description parse_worker_description(const std::string& text);

}  // namespace troupe::protocol
