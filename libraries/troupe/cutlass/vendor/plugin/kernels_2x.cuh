// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels of CUTLASS's 2.x style. Compiled by nvcc for the plug-in, and by NVRTC at run time.
#include <cutlass/conv/kernel/default_conv2d_dgrad.h>
#include <cutlass/conv/kernel/default_conv2d_fprop.h>
#include <cutlass/conv/kernel/default_conv2d_wgrad.h>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/gemm/kernel/default_gemm_universal.h>

namespace troupe_vendor {

using cutlass::bfloat16_t, cutlass::float_e4m3_t, cutlass::half_t, cutlass::tfloat32_t;
using row = cutlass::layout::RowMajor;
using column = cutlass::layout::ColumnMajor;
using nhwc = cutlass::layout::TensorNHWC;
using cutlass::arch::OpMultiplyAdd;
using cutlass::arch::Sm80, cutlass::arch::Sm89;
template <int M, int N, int K>
using shape = cutlass::gemm::GemmShape<M, N, K>;
template <class T>
inline constexpr int elements_of_16_bytes = 128 / cutlass::sizeof_bits<T>::value;
template <class D>
using linear_combination = cutlass::epilogue::thread::LinearCombination<D, elements_of_16_bytes<D>, float, float>;

/// A kernel that computes D = alpha * A B + beta * C with contiguous rows of D.
template <class Arch, class Factor, class LayoutA, class LayoutB, class D, class Tile, class Warp, class Instruction,
          int Stages>
using product_kernel = typename cutlass::gemm::kernel::DefaultGemmUniversal<
    Factor, LayoutA, cutlass::ComplexTransform::kNone, elements_of_16_bytes<Factor>, Factor, LayoutB,
    cutlass::ComplexTransform::kNone, elements_of_16_bytes<Factor>, D, row, float, cutlass::arch::OpClassTensorOp, Arch,
    Tile, Warp, Instruction, linear_combination<D>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>,
    Stages, OpMultiplyAdd>::GemmKernel;

template <class T, class Tile, class Warp, int Stages>
using forward_kernel = typename cutlass::conv::kernel::DefaultConv2dFprop<
    T, nhwc, T, nhwc, T, nhwc, float, cutlass::arch::OpClassTensorOp, Sm80, Tile, Warp, shape<16, 8, 16>,
    linear_combination<T>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<4>, Stages, OpMultiplyAdd,
    cutlass::conv::IteratorAlgorithm::kOptimized, cutlass::conv::StrideSupport::kStrided, 8, 8>::Kernel;

template <class T, class Tile, class Warp, int Stages>
using data_gradient_kernel = typename cutlass::conv::kernel::DefaultConv2dDgrad<
    T, nhwc, T, nhwc, T, nhwc, float, cutlass::arch::OpClassTensorOp, Sm80, Tile, Warp, shape<16, 8, 16>,
    linear_combination<T>, cutlass::conv::threadblock::StridedDgradIdentityThreadblockSwizzle<4>, Stages, OpMultiplyAdd,
    cutlass::conv::IteratorAlgorithm::kOptimized, cutlass::conv::StrideSupport::kStrided, 8, 8>::Kernel;

template <class T, class Tile, class Warp, int Stages>
using weight_gradient_kernel = typename cutlass::conv::kernel::DefaultConv2dWgrad<
    T, nhwc, T, nhwc, T, nhwc, float, cutlass::arch::OpClassTensorOp, Sm80, Tile, Warp, shape<16, 8, 16>,
    linear_combination<T>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<4>, Stages, OpMultiplyAdd,
    cutlass::conv::IteratorAlgorithm::kOptimized, cutlass::conv::StrideSupport::kStrided, 8, 8>::Kernel;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreadCount)
    run_2x(const __grid_constant__ typename Kernel::Params parameters) {
  extern __shared__ __align__(128) unsigned char shared[];
  Kernel kernel;
  kernel(parameters, *reinterpret_cast<typename Kernel::SharedStorage*>(shared));
}

}  // namespace troupe_vendor
