// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string_view>
#include <troupe/base/hash/fnv.hpp>
#include <troupe/base/result.hpp>
#include <troupe/base/text/fixed_string.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/request/request.hpp>
#include <vector>

namespace troupe::cuda {

/// A kernel of an engine's own image. `number` is the hash of its name, computed at compile time.
struct kernel_id {
  std::uint64_t number;
  std::string_view name;
};

namespace detail {
template <fixed_string Base, class... T>
inline constexpr troupe::detail::fixed_name kernel_name = [] {
  troupe::detail::fixed_name n;
  n.append(static_text<Base>);
  ((n.append("_"), n.append(element_name<T>())), ...);
  return n;
}();
}  // namespace detail

/// kernel<"multiply", half, float> identifies the kernel whose name in the image is the image's prefix and
/// multiply_f16_f32.
template <fixed_string Base, class... T>
inline constexpr kernel_id kernel{fnv1a(detail::kernel_name<Base, T...>.view()),
                                  detail::kernel_name<Base, T...>.view()};

/// The kernels of one image, looked up by name when the image is loaded and by number afterwards.
class kernel_set {
 public:
  /// Loads an image. The names of all its kernels must begin with `prefix`, so that profiles distinguish our kernels
  /// from those of vendors. `what` names the image in errors: "the kernels of blas".
  static result<kernel_set> load(const unsigned char* image, std::string_view prefix, std::string_view what);
  /// Returns null if there is no such kernel.
  CUkernel find(kernel_id which) const noexcept;
  std::size_t size() const noexcept { return size_; }

 private:
  struct entry {
    std::uint64_t number = 0;
    CUkernel kernel = nullptr;
  };
  kernel_set() = default;
  bool add(std::uint64_t number, CUkernel kernel) noexcept;

  code_library library_;
  std::vector<entry> table_;  // open addressing, at most half full; its size is a power of two
  std::size_t size_ = 0;
};

}  // namespace troupe::cuda
