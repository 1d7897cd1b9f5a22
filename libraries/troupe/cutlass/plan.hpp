// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/enumeration.hpp>
#include <type_traits>

/// Plans: how the kernel of a product is built and launched.
namespace troupe::cutlass {

/// The template or library that a kernel comes from.
enum class family : std::uint8_t {
  any = 0,
  hopper = 1,  ///< Troupe's template for sm_90a: wgmma and the tensor memory accelerator
  ampere = 2,  ///< Troupe's template for sm_80 and newer: mma.sync, or ordinary arithmetic
  vendor = 3,  ///< NVIDIA's CUTLASS library, compiled ahead of time where its headers were found
};
TROUPE_ENUM(family, any, hopper, ampere, vendor)

/// The division of work among the warps of a block.
enum class schedule : std::uint8_t {
  any = 0,
  cooperative = 1,  ///< all warps compute one tile
  ping_pong = 2,    ///< each group of warps computes its own tile: one stores while the other multiplies
};
TROUPE_ENUM(schedule, any, cooperative, ping_pong)

/// The side of the result along which the tiles of a band are computed.
enum class raster : std::uint8_t { any = 0, along_columns = 1, along_rows = 2 };
TROUPE_ENUM(raster, any, along_columns, along_rows)

/// A choice of yes or no, which may be left to the library.
enum class decision : std::uint8_t { any = 0, no = 1, yes = 2 };
TROUPE_ENUM(decision, any, no, yes)

/// The choices with which a kernel is built and launched. The library makes each choice that is 0 or `any`. A plan
/// that `prepare` returned can be given with later requests, also in other processes. Rows and columns are those of the
/// kernel's result, which is the transpose of D if the plan is `swapped`.
struct plan {
  cutlass::family family = family::any;
  cutlass::schedule schedule = schedule::any;
  cutlass::raster raster = raster::any;
  decision swapped = decision::any;           ///< yes: B's columns are the rows of the kernel's result
  decision divided = decision::any;           ///< yes: tiles are divided along k among blocks
  std::uint8_t stages = 0;                    ///< number of stages of the factors in shared memory
  std::uint8_t cluster_m = 0, cluster_n = 0;  ///< blocks of a cluster, which share their copies
  std::uint16_t tile_m = 0, tile_n = 0;       ///< rows and columns of the result that a block computes
  std::uint16_t tile_k = 0;                   ///< extent of a stage along k
  std::uint16_t band = 0;                     ///< rows or columns of tiles that are computed together

  friend bool operator==(const plan&, const plan&) = default;
};
static_assert(sizeof(plan) == 16 && std::has_unique_object_representations_v<plan>);

/// Returns "hopper 128x256x64, 4 stages, cluster 2x1, cooperative, along_columns, band 16".
std::string to_string(const plan& p);

}  // namespace troupe::cutlass
