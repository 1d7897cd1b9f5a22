// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of kernels.cu for the processor.
#include <troupe/cuda/testing/kernels_on_host.hpp>
#include <troupe/matmul/cuda/testing/fakes.hpp>

#include "../arrange.cuh"
#include "../small.cuh"

using namespace troupe::matmul::on_gpu;

namespace troupe::matmul::testing {
namespace {

[[maybe_unused]] const bool kernels_are_known = [] {
#define KERNEL(NAME, ARGUMENTS, ...) cuda::testing::on_host<ARGUMENTS, &__VA_ARGS__>("troupe_matmul_" #NAME, true),
  driver().kernels = {
#include <troupe/epilogue/cuda/epilogue_kernels.inc>

#include "../kernel_list.inc"
  };
  driver().attributes = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                         {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132}};
  driver().computes = true;
  driver().notes_calls = false;
  return true;
}();

}  // namespace
}  // namespace troupe::matmul::testing
