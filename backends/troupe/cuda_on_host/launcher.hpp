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

/// Upper limits of a launch, which are those of an H100.
struct launch_limits {
  static constexpr dim grid{0x7fffffff, 65535, 65535};
  static constexpr dim block{1024, 1024, 64};
  static constexpr std::uint32_t threads = 1024;  ///< threads of a block
  /// bytes of static and dynamic shared memory together: 227 KiB
  static constexpr std::uint32_t shared_bytes = 232448;
};

struct launch_options {
  bool flush_to_zero = false;      ///< treat subnormal numbers as zero, as --ftz=true does
  const char* request = "launch";  ///< the name of the request, with which error texts begin
};

/// Refuses a launch that exceeds the limits of CUDA or of the kernel, with a `caller_bug` that names the extent.
result<void> check_launch(const loaded_kernel& kernel, dim grid, dim block, std::uint64_t shared_bytes,
                          const launch_options& options = {});

/// Runs kernels. The blocks of a grid are spread over the launcher's threads, which sleep while idle.
class launcher {
 public:
  /// Makes a launcher that runs blocks on at most `threads` threads at the same time, including the threads that call
  /// `launch`. 0 means the number of usable cores.
  explicit launcher(int threads = 0);
  /// Precondition: no launch is running.
  ~launcher();
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  /// Runs a grid and returns when it has completed. `arguments` holds the address of each parameter's value; the caller
  /// is responsible for their number and types. Thread-safe, also for launches of the same kernel. Fails with a
  /// `caller_bug` if the kernel breaks a rule (a divergent barrier, a trap, a failed assertion); some blocks have then
  /// run, others not. An access to invalid memory is a fault of the process.
  result<void> launch(const loaded_kernel& kernel, dim grid, dim block, std::uint64_t shared_bytes,
                      void* const* arguments, const launch_options& options = {});

  int threads() const noexcept;

 private:
  std::unique_ptr<class block_pool> pool_;
};

}  // namespace troupe::cuda_on_host
