// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/request/request.hpp>
#include <vector>

namespace troupe::cuda {

/// A kernel of an engine's own image, by a number that the compiler makes of its name.
struct kernel_id {
  std::uint64_t number;
  std::string_view name;
};

template <std::size_t N>
struct kernel_base_name {
  char text[N];
  consteval kernel_base_name(const char (&s)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = s[i];
  }
};
constexpr std::uint64_t kernel_number(std::string_view name) noexcept {
  return troupe::detail::fnv1a(0xcbf29ce484222325ull, name);
}

namespace detail {
template <kernel_base_name Base, class... T>
inline constexpr troupe::detail::fixed_name kernel_name = [] {
  troupe::detail::fixed_name n;
  n.append(Base.text);
  ((n.append("_"), n.append(element_name<T>())), ...);
  return n;
}();
}  // namespace detail

/// kernel<"multiply", half, float> is the one that the image calls PREFIX_multiply_f16_f32.
template <kernel_base_name Base, class... T>
inline constexpr kernel_id kernel{kernel_number(detail::kernel_name<Base, T...>.view()),
                                  detail::kernel_name<Base, T...>.view()};

/// The kernels of one image. Each is found by name when the image is loaded, and by its number afterwards.
class kernel_set {
 public:
  /// All kernels of the image begin with `prefix`, by which tools tell them from those of vendors. `what` names the
  /// image in errors: "the kernels of blas".
  static result<kernel_set> load(const unsigned char* image, std::string_view prefix, std::string_view what);
  /// Null when there is none.
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
