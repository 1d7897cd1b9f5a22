// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/request/fields.hpp>
#include <unordered_map>

namespace troupe::blas {

/// The kernels of kernels.cu, by name. In the image each begins with troupe_blas_, by which tools tell them from those
/// of cuBLAS.
class kernel_set {
 public:
  static result<kernel_set> make();
  /// Null when there is none of that name.
  CUkernel find(std::string_view name) const noexcept;
  std::size_t size() const noexcept { return by_name_.size(); }

 private:
  kernel_set() = default;
  cuda::code_library library_;
  std::unordered_map<std::string_view, CUkernel> by_name_;
};

/// multiply_f16_f32: a kernel's name for some element types.
template <class... T>
std::string kernel_name(std::string_view base) {
  std::string out(base);
  ((out += '_', out += element_name<T>()), ...);
  return out;
}

}  // namespace troupe::blas
