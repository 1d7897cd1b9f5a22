// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <troupe/cuda/kernels.hpp>
#include <troupe/memory/copy_requests.hpp>

#include "upload_arguments.hpp"

namespace troupe::memory {

/// Copies small uploads that wait at the same time in one launch. A driver call for each would take longer than the
/// copy.
class small_uploads {
 public:
  using one = upload_arguments::one_upload;
  static constexpr std::size_t most = upload_arguments::most_uploads;
  /// Limits: a larger upload takes about as long as its driver call, and fewer uploads are no faster together.
  static constexpr std::int64_t most_bytes = std::int64_t{16} << 10;
  static constexpr std::size_t fewest = 4;

  /// Makes an object for the GPU with this CUDA ordinal.
  static result<small_uploads> make(int device);

  /// Enqueues at most `most` uploads. Their targets must not overlap. If it fails, some may have been enqueued.
  result<void> run(std::span<const one> all, CUstream stream);

 private:
  small_uploads(bool can_read, bool among_others) noexcept : can_read_(can_read), among_others_(among_others) {}
  const cuda::kernel_set* kernels();
  bool can_write(std::span<const one> all) const noexcept;

  bool can_read_;      // true if kernels can read all memory that uploads come from
  bool among_others_;  // true if the worker is a thread of the program, whose memory may have been adopted
  bool is_loaded_ = false;
  std::unique_ptr<std::mutex> lock_ = std::make_unique<std::mutex>();
  std::optional<cuda::kernel_set> kernels_;
};

}  // namespace troupe::memory
