// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <troupe/cuda/testing/fake_driver.hpp>

/// A fake driver and a fake cuBLASLt for tests of the engine: products are computed at once on the processor, by their
/// definition. The fake supports the combinations that cuBLASLt was found to support on an H100.
namespace troupe::matmul::testing {

using cuda::testing::driver;

/// The content of the library's opaque structs in the fake.
struct product {
  std::int32_t compute, scale;
  std::int32_t transpose_a, transpose_b, numbers_in;
  std::uint32_t epilogue;
  std::int32_t bias_type, aux_type, a_scale_mode, b_scale_mode;
  const void *bias, *aux, *a_scale, *b_scale, *d_scale, *amax;
  std::int64_t bias_stride, aux_ld, aux_stride;
  std::int32_t multiprocessors;
  std::int8_t fast;
};
static_assert(sizeof(product) <= sizeof(cublasLtMatmulDescOpaque_t));
struct layout {
  std::int64_t rows, columns, ld, stride;
  std::int32_t type, batch;
};
static_assert(sizeof(layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
struct plan_constraints {
  std::uint64_t workspace;
  std::uint32_t reductions, alignment_a, alignment_b, alignment_c, alignment_d;
};
static_assert(sizeof(plan_constraints) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

/// The first word of each algorithm of the fake.
inline constexpr std::uint64_t fake_algorithm = 0xa160;
/// The number, which is the second word, of the algorithm that needs operands aligned to 16 bytes.
inline constexpr std::uint64_t aligned_algorithm = 16;

/// A call of cublasLtMatmul without its addresses.
struct product_description {
  product what;
  layout a, b, c, d;
};
/// Returns true if the library has a kernel for the call.
bool is_supported(const product_description& p, const plan_constraints& w);
/// Returns true if the library, which checks the alignment of C only, chooses a kernel that fails because D is less
/// aligned.
bool ignores_alignment_of_d(const product_description& p, const plan_constraints& w);

}  // namespace troupe::matmul::testing
