// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe::dnn {

/// The size of a buffer in bytes, and the first and the last step that use it.
struct buffer_use {
  std::uint64_t bytes;
  std::size_t first, last;
};

/// Returns the offset of each buffer in memory that the buffers share. It is the lowest offset at which memory is free
/// during all steps from the buffer's first to its last. Sets `total_bytes` to the size of that memory.
std::vector<std::uint64_t> buffer_offsets(std::span<const buffer_use> buffers, std::uint64_t& total_bytes);

}  // namespace troupe::dnn
