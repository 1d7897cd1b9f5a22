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

/// Small uploads that wait together: one launch instead of a call of the driver for each, which takes longer than the
/// copy.
class small_uploads {
 public:
  using one = upload_arguments::one_upload;
  static constexpr std::size_t most = upload_arguments::most_uploads;
  /// A larger upload takes about as long as the call. Fewer are no faster together.
  static constexpr std::int64_t most_bytes = std::int64_t{16} << 10;
  static constexpr std::size_t fewest = 4;

  /// Makes the uploads of the GPU with this ordinal of CUDA.
  static result<small_uploads> make(int device);

  /// Enqueues all uploads; at most `most`. Their targets must not overlap. If it fails, some may have been enqueued.
  result<void> run(std::span<const one> all, CUstream stream);

 private:
  small_uploads(bool can_read, bool among_others) noexcept : can_read_(can_read), among_others_(among_others) {}
  const cuda::kernel_set* kernels();
  bool can_write(std::span<const one> all) const noexcept;

  bool can_read_;      // whether kernels can read all memory that uploads come from
  bool among_others_;  // whether the process is the program itself, whose memory may have been adopted
  bool is_loaded_ = false;
  std::unique_ptr<std::mutex> lock_ = std::make_unique<std::mutex>();
  std::optional<cuda::kernel_set> kernels_;
};

}  // namespace troupe::memory
