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

/// The attributes of a kernel, as cuFuncGetAttribute returns them.
struct kernel_attributes {
  std::uint32_t max_threads;  ///< most threads of a block
  std::uint32_t static_shared_bytes;
  std::uint32_t stack_bytes;  ///< stack of each thread; 0 unless the threads run as fibers
  execution how;
  std::string reason;  ///< why the threads run in the way `how`
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
  dtype type;  ///< type of an element; `dtype{}` if it is not one of dtype's
};

/// A host image in memory, ready to run. Destroying the last copy unloads its code: no kernel of the image may be
/// running then.
class loaded_image {
 public:
  /// Checks and loads the bytes of a host image (see image.h). `name` appears in error texts and in /proc. The code in
  /// the image is trusted: loading it runs it. If the image has a seal (see seal.hpp; jit makes such images), damage
  /// and a wrong processor are detected before any code runs; otherwise, only what contradicts the headers and the
  /// table is detected.
  static result<loaded_image> load(std::span<const std::byte> bytes, const std::string& name);

  const std::vector<loaded_kernel>& kernels() const noexcept;
  const std::vector<loaded_global>& globals() const noexcept;
  /// Returns null if there is no kernel of that name. White space in `name` is ignored.
  const loaded_kernel* find_kernel(std::string_view name) const noexcept;
  const loaded_global* find_global(std::string_view name) const noexcept;

 private:
  struct content;
  explicit loaded_image(std::shared_ptr<const content> c) noexcept;

  std::shared_ptr<const content> content_;  // shared by all copies of this object
};

}  // namespace troupe::cuda_on_host
