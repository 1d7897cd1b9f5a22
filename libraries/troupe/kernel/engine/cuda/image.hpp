// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/kernel/attributes.hpp>
#include <vector>

namespace troupe::kernel {

/// What of a GPU decides how kernels may be launched on it.
struct gpu_limits {
  std::uint64_t shared_bytes = 0;  ///< of a block, static and dynamic
  std::uint32_t multiprocessors = 0;
  bool cooperative = false;
  int major = 0, minor = 0;  ///< its capability

  static result<gpu_limits> of(int ordinal);
};

/// A kernel of an image on the GPU. Belongs to it.
struct gpu_kernel : attributes {
  CUfunction function = nullptr;
};

struct gpu_global {
  std::string name;
  void* address;  ///< on the GPU
  std::uint64_t bytes;
};

/// How the driver compiles an image that is PTX. Machine code it takes as it is.
struct ptx_options {
  std::uint32_t optimisation = 3;
  std::uint32_t max_registers = 0;  ///< 0: it decides
  bool line_information = false;
  bool debug_information = false;  ///< of all variables, without optimisation
};

/// An image on the GPU, ready to run. Goes when it is destroyed: no kernel of it may be running then.
class gpu_image {
 public:
  /// Loads a cubin, a fatbin or PTX, which must be followed by a zero byte. `name` is what error texts show.
  static result<gpu_image> load(const std::string& bytes, const std::string& name, const gpu_limits& limits,
                                const ptx_options& how = {});

  /// What holds nothing that could run.
  static gpu_image none() { return gpu_image(); }

  const std::vector<gpu_kernel>& kernels() const noexcept { return kernels_; }
  /// Those that the image names, or that were asked for: nobody else knows of a variable before it is asked for.
  std::deque<gpu_global> globals() const;
  /// Null when there is none of that name, in which white space does not count.
  const gpu_kernel* find_kernel(std::string_view name) const;
  const gpu_global* find_global(std::string_view name) const;

 private:
  struct variables {
    std::mutex lock;
    std::deque<gpu_global> all;
  };
  gpu_image() : globals_(std::make_unique<variables>()) {}
  result<void> read_kernels(const std::string& bytes, const std::string& name, const gpu_limits& limits);

  cuda::code_module module_;
  std::vector<gpu_kernel> kernels_;
  std::unique_ptr<variables> globals_;
};

inline const attributes& attributes_of(const gpu_kernel& k) noexcept { return k; }

}  // namespace troupe::kernel
