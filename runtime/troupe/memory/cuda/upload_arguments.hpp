// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The arguments of the kernel in uploads.cu. Compiled by the host compiler and by nvcc.
namespace troupe::memory::upload_arguments {

inline constexpr unsigned most_uploads = 32;
/// Threads of a block, and the bytes of an upload that a block copies.
inline constexpr unsigned threads = 256, bytes_in_block = threads * 16;

struct one_upload {
  void* target;
  const void* source;
  std::uint64_t bytes;
};
/// The arguments of a launch: row y of the grid copies upload y.
struct uploads {
  one_upload all[most_uploads];
};

}  // namespace troupe::memory::upload_arguments
