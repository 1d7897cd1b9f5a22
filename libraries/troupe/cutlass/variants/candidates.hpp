// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <troupe/base/result.hpp>
#include <troupe/cuda/gpu_properties.hpp>
#include <troupe/cutlass/variants/signature.hpp>
#include <vector>

namespace troupe::cutlass::vendor {
struct kernel_variant;
}

namespace troupe::cutlass {

/// The largest extent that a kernel's 32-bit counters allow. The margin is for counters beyond the last element.
inline constexpr std::int64_t most_counted = (std::int64_t{1} << 31) - 512;

struct extents {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
};

/// A complete plan and its predicted time.
struct candidate {
  cutlass::plan plan;
  double microseconds = 0;
  double efficiency = 1;  ///< fraction of the multiprocessors that are busy in rounds of tiles
  int most_sharers = 8;   ///< maximum number of clusters that share a divided tile
  const vendor::kernel_variant* variant = nullptr;  ///< kernel of the CUTLASS library; null: a template's kernel
};
/// Division of tiles along k among clusters of blocks. Only the tiles of the last, incomplete round are divided.
struct division {
  std::int64_t undivided = 0, divided = 0;  ///< tiles of full rounds, and the other tiles
  std::int64_t sharers = 0;                 ///< number of clusters that share the divided tiles
  std::int64_t parts = 1;                   ///< maximum number of parts of a tile
  bool aligned = true;                      ///< true if the parts of all tiles begin at the same terms
};
division divide(std::int64_t tiles, std::int64_t clusters, std::int64_t steps, int most_sharers) noexcept;

/// Returns true if plan x is to be tried before plan y: the plans of templates by time, then those of the CUTLASS
/// library, for which the cost model is inexact.
inline bool is_better(const candidate& x, const candidate& y, double us_of_x, double us_of_y) noexcept {
  return (x.variant == nullptr) != (y.variant == nullptr) ? x.variant == nullptr : us_of_x < us_of_y;
}
/// Returns the plan, followed by the kernel's name if it is from the CUTLASS library.
std::string to_string(const candidate& c);

/// Returns the number of plans to measure: the first `most` plans of templates, and all plans of the CUTLASS library,
/// which are moved after those `most`. `of(x)` is the candidate of element x. If `most` is below 2, moves nothing.
template <class T, class CandidateOf>
std::size_t order_for_measuring(std::vector<T>& all, std::size_t most, CandidateOf&& of) {
  const auto other = std::find_if(all.begin(), all.end(), [&](const T& x) { return of(x).variant != nullptr; });
  if (most < 2 || other == all.begin()) return std::min(most, all.size());
  const auto own = static_cast<std::size_t>(other - all.begin());
  if (own > most) std::rotate(all.begin() + static_cast<std::ptrdiff_t>(most), other, all.end());
  return std::min(most, own) + (all.size() - own);
}

/// Plans of the CUTLASS library; `why_not` is the reason if there are none, or not the requested one.
struct cutlass_library_plans {
  std::vector<candidate> all;
  std::string why_not;
};

/// Returns a plan with these tiles and the requested values. If no raster is requested, chooses the one that reads less
/// memory. The caller sets family, schedule, cluster, tile_k and stages, and the band if none is requested.
plan plan_of_tiles(int tile_m, int tile_n, bool swapped, bool divided, const extents& e, const plan& wanted);
/// Calls `fits(stages)` with the requested number of stages, or from `most` down to 2 until it returns true. Returns
/// the last result.
template <class Fits>
bool set_stages(const plan& wanted, int most, Fits&& fits) {
  if (wanted.stages != 0) return wanted.stages > 1 && fits(wanted.stages);
  for (int stages = most; stages > 1; --stages)
    if (fits(stages)) return true;
  return false;
}

/// Returns all plans of templates for a product. If a template has no plan, sets `why_not` to the reason. Fails with
/// `unsupported` if an extent exceeds `most_counted`.
result<std::vector<candidate>> all_candidates(const kernel_signature& f, const extents& e,
                                              const cuda::gpu_properties& gpu, const plan& wanted,
                                              std::string& why_not);
/// Returns true if a plan has all requested values.
bool has_wanted(const plan& p, const plan& wanted) noexcept;
/// Returns the error of a request whose plan matches none of `all`. `why_not` and `why_not_library` are the reasons why
/// the templates and the CUTLASS library have no such plan.
error no_plan(const std::vector<candidate>& all, const plan& wanted, const std::string& why_not,
              const std::string& why_not_library = {});

/// Returns the plans for a product that have the requested values: those of templates, the fastest predicted first,
/// then `library_plans`. Fails with `unsupported` if there is none, and names the reason and the nearest plan.
result<std::vector<candidate>> candidates_for(const kernel_signature& f, const extents& e,
                                              const cuda::gpu_properties& gpu, const plan& wanted,
                                              const cutlass_library_plans& library_plans = {});

}  // namespace troupe::cutlass
