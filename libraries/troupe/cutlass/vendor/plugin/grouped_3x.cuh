// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Grouped products, whose shapes, addresses and leading dimensions are in device memory.
#include "gemm_3x.cuh"

namespace troupe_vendor {

struct grouped_defaults : gemm_3x_defaults {
  using problem = cutlass::gemm::GroupProblemShape<cute::Shape<int, int, int>>;
  using mainloop = cutlass::gemm::KernelPtrArrayTmaWarpSpecializedCooperative;
  using epilogue = cutlass::epilogue::PtrArrayTmaWarpSpecializedCooperative;
};

/// The functions of a kernel variant for a grouped product.
template <class Config>
struct grouped_3x : host_3x<grouped_3x<Config>, gemm_3x_types<Config>, Config> {
  using types = gemm_3x_types<Config>;
  using kernel = typename types::kernel;
  using parameters = typename types::parameters;
  using arguments = typename types::arguments;

  // The kernel reads a shape as three ints, and a stride as the one component that is not constant.
  static_assert(sizeof(typename Config::problem::UnderlyingProblemShape) == 3 * sizeof(int));
  template <class Stride>
  static Stride* strides(const long long* lines) {
    static_assert(sizeof(Stride) == sizeof(long long));
    return reinterpret_cast<Stride*>(const_cast<long long*>(lines));
  }
  static arguments arguments_for(const launch& l, const cutlass::KernelHardwareInfo& hardware) {
    using shape_type = typename Config::problem::UnderlyingProblemShape;
    arguments a{};
    a.mode = cutlass::gemm::GemmUniversalMode::kGrouped;
    a.problem_shape = {l.groups, reinterpret_cast<shape_type*>(const_cast<int*>(l.shapes)), nullptr};
    a.hw_info = hardware;
    auto& m = a.mainloop;
    m.ptr_A = reinterpret_cast<decltype(m.ptr_A)>(const_cast<const void**>(l.group_a));
    m.ptr_B = reinterpret_cast<decltype(m.ptr_B)>(const_cast<const void**>(l.group_b));
    m.dA = strides<typename kernel::InternalStrideA>(l.group_a_line),
    m.dB = strides<typename kernel::InternalStrideB>(l.group_b_line);
    auto& e = a.epilogue;
    e.thread.alpha = l.alpha, e.thread.beta = l.beta;
    e.ptr_C = reinterpret_cast<decltype(e.ptr_C)>(const_cast<const void**>(l.group_c));
    e.ptr_D = reinterpret_cast<decltype(e.ptr_D)>(const_cast<void**>(l.group_d));
    e.dC = strides<typename kernel::InternalStrideC>(l.group_c_line),
    e.dD = strides<typename kernel::InternalStrideD>(l.group_d_line);
    return a;
  }
  static kernel_variant describe() {
    kernel_variant c = host_3x<grouped_3x, types, Config>::describe();
    c.kind = grouped_product;
    return c;
  }
};

}  // namespace troupe_vendor
