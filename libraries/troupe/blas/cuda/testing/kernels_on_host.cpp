// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// kernels.cu, compiled for the processor.
#include <string_view>
#include <troupe/blas/cuda/testing/fakes.hpp>
#include <troupe/cuda/testing/kernels_on_host.hpp>

static float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
static double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
using std::isfinite;

#include "../kernels/elements.cuh"
#include "../kernels/products.cuh"
#include "../kernels/reductions.cuh"
#include "../kernels/rotations.cuh"

using namespace troupe::blas::on_gpu;

namespace troupe::blas::testing {
namespace {

bool has_barriers(std::string_view name) {
  return name.starts_with("find") || name.starts_with("norm") ||
         (name.starts_with("multiply_") && !name.starts_with("multiply_by"));
}

[[maybe_unused]] const bool kernels_are_known = [] {
#define KERNEL(NAME, ARGUMENTS, ...) \
  cuda::testing::on_host<ARGUMENTS, &__VA_ARGS__>("troupe_blas_" #NAME, has_barriers(#NAME)),
  driver().kernels = {
#include "../kernels/kernel_list.inc"
  };
  driver().computes = true;
  driver().notes_calls = false;  // the suites make millions of calls
  return true;
}();

}  // namespace
}  // namespace troupe::blas::testing
