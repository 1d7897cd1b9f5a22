// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels.cu, compiled for the host, where a fake driver launches them.
#include <troupe/cuda/testing/kernels_on_host.hpp>

#define KERNEL(NAME, ARGUMENTS, ...)                                                                  \
  [[maybe_unused]] static const auto& NAME##_is_known = cuda::testing::driver().kernels.emplace_back( \
      cuda::testing::on_host<ARGUMENTS, &__VA_ARGS__>("troupe_dnn_" #NAME, true));
#define BOUNDED_KERNEL(NAME, THREADS, BLOCKS, ARGUMENTS, ...) KERNEL(NAME, ARGUMENTS, __VA_ARGS__)

#include "../kernels/attention.cuh"
#include "../kernels/attention_decoding.cuh"
#include "../kernels/attention_gradient.cuh"
#include "../kernels/blocks.cuh"
#include "../kernels/convolution.cuh"
#include "../kernels/ctc.cuh"
#include "../kernels/indexing.cuh"
#include "../kernels/lines.cuh"
#include "../kernels/pooling.cuh"
#include "../kernels/products.cuh"
#include "../kernels/recurrence.cuh"
#include "../kernels/resampling.cuh"
#include "../kernels/response_norm.cuh"
#include "../kernels/rows.cuh"
#include "../kernels/set_interpreter.cuh"
#include "../kernels/stored_pooling.cuh"

namespace troupe::dnn::testing {
namespace {

[[maybe_unused]] const bool driver_computes = [] {
  using cuda::testing::driver;
  driver().attributes = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132}};
  driver().computes = true;
  driver().notes_calls = false;
  return true;
}();

}  // namespace
}  // namespace troupe::dnn::testing
