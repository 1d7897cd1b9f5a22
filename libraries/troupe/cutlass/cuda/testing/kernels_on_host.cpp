// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles pack.cu and vendor_groups.cu for the processor.
#include <troupe/cuda/testing/kernels_on_host.hpp>

#include "../pack.cuh"
#include "../vendor_groups.cuh"

using namespace troupe::cutlass::on_gpu;

namespace troupe::cutlass::testing {
namespace {

using cuda::testing::driver;

[[maybe_unused]] const bool kernels_are_known = [] {
#define KERNEL(NAME, ARGUMENTS, ...) cuda::testing::on_host<ARGUMENTS, &__VA_ARGS__>("troupe_cutlass_" #NAME, true),
  driver().kernels = {
#include "../pack_list.inc"
#include "../vendor_groups_list.inc"
  };
  driver().attributes = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                         {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                         {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                         {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
                         {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
                         {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120}};
  driver().computes = true;
  driver().notes_calls = false;
  return true;
}();

}  // namespace
}  // namespace troupe::cutlass::testing
