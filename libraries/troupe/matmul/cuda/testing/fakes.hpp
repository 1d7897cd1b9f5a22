// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <troupe/cuda/testing/fake_driver.hpp>

/// A driver and a cuBLASLt without a GPU, for tests of the engine: products are computed at once on the processor, by
/// definition. It has the combinations that the library was measured to have on an H100.
namespace troupe::matmul::testing {

using cuda::testing::driver;

/// What the fake keeps in the library's opaque structs.
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
struct wishes {
  std::uint64_t workspace;
  std::uint32_t reductions, alignment_a, alignment_b, alignment_c, alignment_d;
};
static_assert(sizeof(wishes) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

/// The first word of an algorithm.
inline constexpr std::uint64_t an_algorithm = 0xa160;
/// The second word, its number, of one that needs operands that are 16 bytes aligned.
inline constexpr std::uint64_t demanding_algorithm = 16;

/// All of a call but its addresses.
struct described {
  product what;
  layout a, b, c, d;
};
bool is_supported(const described& p, const wishes& w);
/// Whether the library chooses by the lines of C what fails at those of D, because it was not told of them.
bool forgets_d(const described& p, const wishes& w);

}  // namespace troupe::matmul::testing
