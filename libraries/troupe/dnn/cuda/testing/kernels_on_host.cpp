// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels.cu, compiled for the host.
#include <troupe/cuda/testing/kernels_on_host.hpp>

#include "../attention.cuh"
#include "../attention_decoding.cuh"
#include "../attention_gradient.cuh"
#include "../blocks.cuh"
#include "../columns.cuh"
#include "../ctc.cuh"
#include "../images.cuh"
#include "../products.cuh"
#include "../recurrence.cuh"
#include "../rows.cuh"
#include "../windows.cuh"

using namespace troupe::dnn;
using namespace troupe::dnn::on_gpu;

namespace troupe::dnn::testing {
namespace {

[[maybe_unused]] const bool kernels_are_known = [] {
  using cuda::testing::driver;
#define KERNEL(NAME, ARGUMENTS, ...) cuda::testing::on_host<ARGUMENTS, &__VA_ARGS__>("troupe_dnn_" #NAME, true),
#define BOUNDED_KERNEL(NAME, THREADS, BLOCKS, ARGUMENTS, ...) KERNEL(NAME, ARGUMENTS, __VA_ARGS__)
  driver().kernels = {
#include "../kernel_list.inc"
  };
  driver().attributes = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132}};
  driver().computes = true;
  driver().notes_calls = false;
  return true;
}();

}  // namespace
}  // namespace troupe::dnn::testing
