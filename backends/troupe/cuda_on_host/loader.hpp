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

/// What is known of a kernel; CUDA's function attributes.
struct kernel_attributes {
  std::uint32_t max_threads;  ///< of a block
  std::uint32_t static_shared_bytes;
  std::uint32_t stack_bytes;  ///< of each thread; 0 unless they run as fibers
  execution how;
  std::string reason;  ///< why they run as they do
};

/// A kernel of a loaded image. Belongs to it.
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
  dtype type;  ///< of its elements; `dtype{}` for another type
};

/// A host image in memory, ready to run. Its code goes when it is destroyed: no kernel of it may be running then.
class loaded_image {
 public:
  /// Checks and loads the bytes of a host image (see image.h). `name` is what error texts and /proc show. The code in
  /// the image is trusted: loading it runs it. Damage, and a processor that it is not for, are known before that in an
  /// image with a seal (see internal/seal.hpp), which jit makes; in others only what the headers and the table tell.
  static result<loaded_image> load(std::span<const std::byte> bytes, const std::string& name);

  const std::vector<loaded_kernel>& kernels() const noexcept;
  const std::vector<loaded_global>& globals() const noexcept;
  /// Null when there is none of that name, which is compared without regard to white space.
  const loaded_kernel* find_kernel(std::string_view name) const noexcept;
  const loaded_global* find_global(std::string_view name) const noexcept;

 private:
  struct content;
  explicit loaded_image(std::shared_ptr<const content> c) noexcept;

  std::shared_ptr<const content> content_;  // one loading, however many copies of the handle
};

}  // namespace troupe::cuda_on_host
