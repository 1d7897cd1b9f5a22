// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda_on_host/image.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/base/result.hpp>
#include <troupe/cuda_on_host/execution.hpp>
#include <troupe/kernel/attributes.hpp>
#include <vector>

namespace troupe::cuda_on_host {

/// The attributes of a kernel, as CUDA's function attributes.
struct kernel_attributes {
  std::uint32_t max_threads;  ///< of a block
  std::uint32_t static_shared_bytes;
  std::uint32_t stack_bytes;  ///< of each thread; 0 unless the threads run as fibers
  execution how;
  std::string reason;  ///< why the threads run that way
};

/// A kernel of a loaded image. Owned by the image.
struct loaded_kernel {
  std::string name;
  std::vector<kernel::parameter_attributes> parameters;
  kernel_attributes attributes;
  std::uint32_t (*run)(troupe_host_block*);
};

struct loaded_global {
  std::string name;
  void* address;
  std::uint64_t bytes;
  bool constant;
  dtype type;  ///< of its elements; `dtype{}` for any other type
};

/// A host image in memory, ready to run. When it is destroyed, its code is unloaded: none of its kernels may be running
/// then.
class loaded_image {
 public:
  /// Checks and loads the bytes of a host image (see image.h). `name` appears in error texts and in /proc. The code in
  /// the image is trusted: loading it runs it. In an image with a seal (see seal.hpp), as jit makes them, damage and a
  /// wrong processor are detected before any code runs; in other images, only what the headers and the table reveal.
  static result<loaded_image> load(std::span<const std::byte> bytes, const std::string& name);

  const std::vector<loaded_kernel>& kernels() const noexcept;
  const std::vector<loaded_global>& globals() const noexcept;
  /// Returns null if there is no kernel of that name. White space is ignored.
  const loaded_kernel* find_kernel(std::string_view name) const noexcept;
  const loaded_global* find_global(std::string_view name) const noexcept;

 private:
  struct content;
  explicit loaded_image(std::shared_ptr<const content> c) noexcept;

  std::shared_ptr<const content> content_;  // shared by all copies of the handle
};

}  // namespace troupe::cuda_on_host
