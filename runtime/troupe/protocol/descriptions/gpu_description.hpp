// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// A worker's description of its GPU: lines of a key and its value. Readers skip lines with unknown keys.
namespace troupe::protocol {

struct gpu_description {
  struct peer {
    std::string pci;
    bool access = false, native_atomics = false;
    int performance_rank = 0;

    bool operator==(const peer&) const = default;
  };
  std::string name, pci, driver;
  std::uint32_t capability_major = 0, capability_minor = 0, multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<peer> peers = {};  ///< the other GPUs that the worker can access

  bool operator==(const gpu_description&) const = default;
};

std::string text_of(const gpu_description& gpu);
/// Parses a description. Missing or damaged fields stay empty or 0.
gpu_description parse_gpu_description(const std::string& text);

}  // namespace troupe::protocol
