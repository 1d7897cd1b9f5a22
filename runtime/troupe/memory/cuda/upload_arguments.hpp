// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Arguments of the kernel in uploads.cu. Compiled by the host compiler and nvcc.
namespace troupe::memory::upload_arguments {

inline constexpr unsigned most_uploads = 32;
/// One block of threads copies so much of one upload.
inline constexpr unsigned threads = 256, bytes_in_block = threads * 16;

struct one_upload {
  void* target;
  const void* source;
  std::uint64_t bytes;
};
/// Row y of the grid copies upload y.
struct uploads {
  one_upload all[most_uploads];
};

}  // namespace troupe::memory::upload_arguments
