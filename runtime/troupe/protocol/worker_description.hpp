// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/request/engine_info.hpp>
#include <vector>

/// The text of `ready`: what a worker can do.
namespace troupe::protocol {

struct worker_description {
  std::string gpu;                   ///< text of a gpu_description; empty: it has none
  std::vector<engine_info> engines;  ///< those that it has loaded

  bool operator==(const worker_description&) const = default;
};

std::string text_of(const worker_description& worker);
/// A line that is no engine is skipped.
worker_description parse_worker_description(const std::string& text);

}  // namespace troupe::protocol
