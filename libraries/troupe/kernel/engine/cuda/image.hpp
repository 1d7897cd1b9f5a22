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

/// Properties of a GPU that limit how its kernels can be launched.
struct gpu_limits {
  std::uint64_t shared_bytes = 0;  ///< shared memory of a block, static and dynamic together
  std::uint32_t multiprocessors = 0;
  bool cooperative = false;
  int major = 0, minor = 0;  ///< compute capability

  static result<gpu_limits> of(int ordinal);
};

/// A kernel of an image on the GPU. Owned by the image.
struct gpu_kernel : attributes {
  CUfunction function = nullptr;
};

struct gpu_global {
  std::string name;
  void* address;  ///< address on the GPU
  std::uint64_t bytes;
};

/// Options for the driver if the image is PTX, which the driver compiles. Machine code is loaded unchanged.
struct ptx_options {
  std::uint32_t optimisation = 3;
  std::uint32_t max_registers = 0;  ///< 0: the driver decides
  bool line_information = false;
  bool debug_information = false;  ///< information about all variables, without optimization
};

/// An image on the GPU, ready to run. Precondition of its destruction: none of its kernels is running.
class gpu_image {
 public:
  /// Loads a cubin, a fatbin or PTX. A zero byte must follow the image. `name` appears in error texts.
  static result<gpu_image> load(const std::string& bytes, const std::string& name, const gpu_limits& limits,
                                const ptx_options& how = {});

  /// Returns an image that contains no code.
  static gpu_image none() { return gpu_image(); }

  const std::vector<gpu_kernel>& kernels() const noexcept { return kernels_; }
  /// Returns the globals that the recipe has named and those that were looked up; the driver does not list others.
  std::deque<gpu_global> globals() const;
  /// Returns null if there is no kernel of that name. White space in `name` is ignored.
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
