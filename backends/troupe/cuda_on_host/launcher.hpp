// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/cuda_on_host/loader.hpp>

namespace troupe::cuda_on_host {

/// Extents of a grid or block.
struct dim {
  std::uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(const dim&, const dim&) = default;
};

/// What a launch may ask for at most, as on an H100.
struct launch_limits {
  static constexpr dim grid{0x7fffffff, 65535, 65535};
  static constexpr dim block{1024, 1024, 64};
  static constexpr std::uint32_t threads = 1024;         ///< of a block
  static constexpr std::uint32_t shared_bytes = 232448;  ///< static and dynamic: 227 KiB
};

struct launch_options {
  bool flush_to_zero = false;      ///< subnormal numbers count as zero, as under --ftz=true
  const char* request = "launch";  ///< begins the error texts
};

/// Refuses a launch that is beyond the limits of CUDA or of the kernel; a `caller_bug` that names the extent.
result<void> check_launch(const loaded_kernel& kernel, dim grid, dim block, std::uint64_t shared_bytes,
                          const launch_options& options = {});

/// Runs kernels. The blocks of a grid are spread over its threads, which sleep when there is nothing to do.
class launcher {
 public:
  /// `threads` run blocks at most at the same time, those that call `launch` included; 0: as many as there are usable
  /// cores.
  explicit launcher(int threads = 0);
  ~launcher();  ///< nothing may be running
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  /// Runs a grid and returns when all of it is done. `arguments` holds the address of each parameter's value; their
  /// number and types are the caller's affair. May be called by many threads at the same time, also for the same
  /// kernel. A kernel that breaks the rules (a divergent barrier, a trap, a failed assertion) makes a `caller_bug`:
  /// some blocks have run, others not. Memory that it may not touch is a real fault of the process.
  result<void> launch(const loaded_kernel& kernel, dim grid, dim block, std::uint64_t shared_bytes,
                      void* const* arguments, const launch_options& options = {});

  int threads() const noexcept;

 private:
  std::unique_ptr<class block_pool> pool_;
};

}  // namespace troupe::cuda_on_host
