// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The names of tensor-core operations, so that the rest of a source compiles. Reaching such an operation ends the
// launch.
#ifndef TROUPE_CUDA_MMA_H
#define TROUPE_CUDA_MMA_H
#pragma GCC system_header

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static constexpr int num_elements = M * N / 32;
  T x[num_elements];
};
template <class Use, int M, int N, int K, class Layout>
struct fragment<Use, M, N, K, precision::tf32, Layout> {
  static constexpr int num_elements = M * N / 32;
  float x[num_elements];
};

#define TROUPE_TENSOR_CORES(name)                                                                                     \
  template <class... T>                                                                                               \
  [[noreturn]] void name(T&&...) {                                                                                    \
    ::troupe_cuda::unsupported(                                                                                       \
        "tensor-core operations (nvcuda::wmma) exist on GPUs only; multiply with ordinary code when __TROUPE_HOST__ " \
        "is "                                                                                                         \
        "defined",                                                                                                    \
        nullptr, 0);                                                                                                  \
  }
TROUPE_TENSOR_CORES(load_matrix_sync)
TROUPE_TENSOR_CORES(store_matrix_sync)
TROUPE_TENSOR_CORES(fill_fragment)
TROUPE_TENSOR_CORES(mma_sync)
TROUPE_TENSOR_CORES(bmma_sync)
#undef TROUPE_TENSOR_CORES
TROUPE_INLINE float __float_to_tf32(float x) { return x; }

}  // namespace wmma
}  // namespace nvcuda

#endif
