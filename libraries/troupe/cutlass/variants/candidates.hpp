// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <troupe/base/result.hpp>
#include <troupe/cutlass/cells/chip.hpp>
#include <troupe/cutlass/cells/form.hpp>
#include <vector>

namespace troupe::cutlass::vendor {
struct cell;
}

namespace troupe::cutlass {

/// What kernels count to, with some room for numbers beyond the last.
inline constexpr std::int64_t most_counted = (std::int64_t{1} << 31) - 512;

struct extents {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
};

/// A plan without anything left open, and what the cost model expects of it.
struct candidate {
  cutlass::plan plan;
  double microseconds = 0;
  double efficiency = 1;               ///< of waves: how much of the multiprocessors' time is used
  int most_sharers = 8;                ///< blocks that may share a tile, if it is divided
  const vendor::cell* cell = nullptr;  ///< a kernel of CUTLASS; null: one is written
};
/// How clusters of blocks share tiles that are divided along k: those of full rounds are not.
struct division {
  std::int64_t whole = 0, rest = 0;  ///< tiles of full rounds, and the others
  std::int64_t sharers = 0;          ///< of the others: clusters
  std::int64_t parts = 1;            ///< of a tile, at most
  bool aligned = true;               ///< whether the parts of all tiles begin at the same terms
};
division divide(std::int64_t tiles, std::int64_t clusters, std::int64_t steps, int most_sharers) noexcept;

/// Returns true if a plan is to be tried before another. What the cost model expects of CUTLASS's kernels is rough:
/// they come after all others.
inline bool is_better(const candidate& x, const candidate& y, double us_of_x, double us_of_y) noexcept {
  return (x.cell == nullptr) != (y.cell == nullptr) ? x.cell == nullptr : us_of_x < us_of_y;
}
/// Returns the plan, and the kernel's name if it is one of CUTLASS.
std::string to_string(const candidate& c);

/// Returns how many of these to measure: the first `most`, and then all of CUTLASS's, which are moved behind them.
template <class T, class CandidateOf>
std::size_t order_for_measuring(std::vector<T>& all, std::size_t most, CandidateOf&& of) {
  const auto other = std::find_if(all.begin(), all.end(), [&](const T& x) { return of(x).cell != nullptr; });
  if (most < 2 || other == all.begin()) return std::min(most, all.size());
  const auto own = static_cast<std::size_t>(other - all.begin());
  if (own > most) std::rotate(all.begin() + static_cast<std::ptrdiff_t>(most), other, all.end());
  return std::min(most, own) + (all.size() - own);
}

/// Plans of kernels that are not written here; `why_not` says why there are none, or not the one that is wanted.
struct other_plans {
  std::vector<candidate> all;
  std::string why_not;
};

/// Returns a plan of these tiles with what is wanted of it, in the order of tiles that reads less. Family, schedule,
/// clusters, terms and stages are left open, and the band if none is wanted.
plan plan_of_tiles(int tile_m, int tile_n, bool swapped, bool divided, const extents& e, const plan& wanted);
/// Asks `fits(stages)`, which sets them, for as many as may be, or for those that are wanted. Returns the last answer.
template <class Fits>
bool set_stages(const plan& wanted, int most, Fits&& fits) {
  if (wanted.stages != 0) return wanted.stages > 1 && fits(wanted.stages);
  for (int stages = most; stages > 1; --stages)
    if (fits(stages)) return true;
  return false;
}

/// Returns all plans that could compute this; `why_not` says why there are none, or fewer. Fails with `unsupported` if
/// kernels cannot count so far.
result<std::vector<candidate>> all_candidates(const whole_form& f, const extents& e, const chip& on, const plan& wanted,
                                              std::string& why_not);
/// Returns true if a plan has all that is wanted.
bool has_wanted(const plan& p, const plan& wanted) noexcept;
/// Returns the error of a request whose plan none of these has. `why_not_other`: why it is none of CUTLASS's.
error no_plan(const std::vector<candidate>& all, const plan& wanted, const std::string& why_not,
              const std::string& why_not_other = {});

/// Returns the plans that can compute this, the best first, and `others` last. `wanted` has choices of the user. Fails
/// with `unsupported` if there is none, with the reason, and the nearest that there is.
result<std::vector<candidate>> candidates_for(const whole_form& f, const extents& e, const chip& on, const plan& wanted,
                                              const other_plans& others = {});

}  // namespace troupe::cutlass
