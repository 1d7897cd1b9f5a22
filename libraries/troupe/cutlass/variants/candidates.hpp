// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <troupe/base/result.hpp>
#include <troupe/cutlass/variants/gpu_properties.hpp>
#include <troupe/cutlass/variants/signature.hpp>
#include <vector>

namespace troupe::cutlass::vendor {
struct kernel_variant;
}

namespace troupe::cutlass {

/// The largest number that a kernel's 32-bit counters reach, less a margin for numbers beyond the last.
inline constexpr std::int64_t most_counted = (std::int64_t{1} << 31) - 512;

struct extents {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
};

/// A complete plan and its predicted time.
struct candidate {
  cutlass::plan plan;
  double microseconds = 0;
  double efficiency = 1;                            ///< fraction of the multiprocessors' time that waves use
  int most_sharers = 8;                             ///< blocks that may share a tile, if it is divided
  const vendor::kernel_variant* variant = nullptr;  ///< a kernel of CUTLASS; null: one is written
};
/// Division of tiles along k among clusters of blocks; tiles of full rounds are not divided.
struct division {
  std::int64_t whole = 0, rest = 0;  ///< tiles of full rounds, and the others
  std::int64_t sharers = 0;          ///< number of clusters that share the other tiles
  std::int64_t parts = 1;            ///< of a tile, at most
  bool aligned = true;               ///< true if the parts of all tiles begin at the same terms
};
division divide(std::int64_t tiles, std::int64_t clusters, std::int64_t steps, int most_sharers) noexcept;

/// Returns true if a plan is to be tried before another. The cost model is inexact for CUTLASS's kernels: they come
/// after all others.
inline bool is_better(const candidate& x, const candidate& y, double us_of_x, double us_of_y) noexcept {
  return (x.variant == nullptr) != (y.variant == nullptr) ? x.variant == nullptr : us_of_x < us_of_y;
}
/// Returns the plan, and the kernel's name if it is one of CUTLASS.
std::string to_string(const candidate& c);

/// Returns how many of these to measure: the first `most`, and then all of CUTLASS's, which are moved behind them.
template <class T, class CandidateOf>
std::size_t order_for_measuring(std::vector<T>& all, std::size_t most, CandidateOf&& of) {
  const auto other = std::find_if(all.begin(), all.end(), [&](const T& x) { return of(x).variant != nullptr; });
  if (most < 2 || other == all.begin()) return std::min(most, all.size());
  const auto own = static_cast<std::size_t>(other - all.begin());
  if (own > most) std::rotate(all.begin() + static_cast<std::ptrdiff_t>(most), other, all.end());
  return std::min(most, own) + (all.size() - own);
}

/// Plans of kernels that are not written here; `why_not` says why there are none, or not the requested one.
struct other_plans {
  std::vector<candidate> all;
  std::string why_not;
};

/// Returns a plan of these tiles with the requested values, in the order of tiles that reads less. Family, schedule,
/// clusters, terms and stages are left open, and the band if none is requested.
plan plan_of_tiles(int tile_m, int tile_n, bool swapped, bool divided, const extents& e, const plan& wanted);
/// Calls `fits(stages)`, which sets them, for the requested number, or from `most` down until it fits. Returns the last
/// result.
template <class Fits>
bool set_stages(const plan& wanted, int most, Fits&& fits) {
  if (wanted.stages != 0) return wanted.stages > 1 && fits(wanted.stages);
  for (int stages = most; stages > 1; --stages)
    if (fits(stages)) return true;
  return false;
}

/// Returns all plans that can compute this; `why_not` says why there are none, or fewer. Fails with `unsupported` if an
/// extent exceeds the kernels' counters.
result<std::vector<candidate>> all_candidates(const kernel_signature& f, const extents& e, const gpu_properties& gpu,
                                              const plan& wanted, std::string& why_not);
/// Returns true if a plan has all requested values.
bool has_wanted(const plan& p, const plan& wanted) noexcept;
/// Returns the error of a request whose plan is in none of these. `why_not_other`: why no kernel of CUTLASS has it.
error no_plan(const std::vector<candidate>& all, const plan& wanted, const std::string& why_not,
              const std::string& why_not_other = {});

/// Returns the plans that can compute this and have the requested values, the fastest predicted first, `others` last.
/// Fails with `unsupported` if there is none, with the reason and the nearest plan that exists.
result<std::vector<candidate>> candidates_for(const kernel_signature& f, const extents& e, const gpu_properties& gpu,
                                              const plan& wanted, const other_plans& others = {});

}  // namespace troupe::cutlass
