// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of CUB that kernels use: its classes for blocks and warps. Its functions for whole devices are host code, and NVRTC
// refuses CUDA's own header of this name.
#pragma once
namespace cub {}
#if __has_include(<cub/block/block_reduce.cuh>)
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#endif
