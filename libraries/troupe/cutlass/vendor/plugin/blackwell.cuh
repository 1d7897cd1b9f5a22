// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Configurations of kernels for Blackwell GPUs: data-center GPUs (sm_100) and GeForce (sm_120).
#include "gemm_3x.cuh"

namespace troupe_vendor {

/// The defaults for sm_100, where two multiprocessors compute a tile together.
struct blackwell_defaults : gemm_3x_defaults {
  static constexpr int capability = 100;
  using architecture = cutlass::arch::Sm100;
  using mainloop = cutlass::gemm::KernelTmaWarpSpecialized2SmSm100;
  using epilogue = cutlass::epilogue::TmaWarpSpecialized2Sm;
  static constexpr const char* schedule_name = "two multiprocessors";
};

/// The defaults for sm_120.
struct geforce_defaults : gemm_3x_defaults {
  static constexpr int capability = 120;
  using architecture = cutlass::arch::Sm120;
  using instructions = cutlass::arch::OpClassBlockScaledTensorOp;
  using cluster = shape<1, 1, 1>;
  using mainloop = cutlass::gemm::collective::KernelScheduleAuto;
  using epilogue = cutlass::epilogue::collective::EpilogueScheduleAuto;
};

}  // namespace troupe_vendor
