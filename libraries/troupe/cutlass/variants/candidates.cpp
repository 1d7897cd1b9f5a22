// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>
#include <troupe/cutlass/vendor/interface.hpp>

namespace troupe::cutlass {
namespace {

// Returns the number of requested values that differ from the plan; the family counts 8 times.
int count_differences(const plan& p, const plan& wanted) noexcept {
  const auto differs = [](auto expected, auto is) {
    return expected != decltype(expected){} && expected != is ? 1 : 0;
  };
  return 8 * differs(wanted.family, p.family) + differs(wanted.schedule, p.schedule) +
         differs(wanted.raster, p.raster) + differs(wanted.swapped, p.swapped) + differs(wanted.divided, p.divided) +
         differs(wanted.stages, p.stages) + differs(wanted.cluster_m, p.cluster_m) +
         differs(wanted.cluster_n, p.cluster_n) + differs(wanted.tile_m, p.tile_m) + differs(wanted.tile_n, p.tile_n) +
         differs(wanted.tile_k, p.tile_k) + differs(wanted.band, p.band);
}

}  // namespace

division divide(std::int64_t tiles, std::int64_t clusters, std::int64_t steps, int most_sharers) noexcept {
  constexpr std::int64_t fewest_steps = 4;  // stages of the smallest part
  division d;
  d.undivided = tiles / clusters * clusters, d.divided = tiles - d.undivided;
  if (d.divided == 0) return d;
  d.sharers =
      std::clamp<std::int64_t>(std::min(d.divided * steps / fewest_steps, d.divided * most_sharers), 1, clusters);
  // Blocks that read the same terms at the same time find them in the L2 cache. That saves more time than a few idle
  // blocks cost.
  const std::int64_t each = d.sharers / d.divided;
  d.aligned = each > 1 && each * d.divided * 5 >= d.sharers * 4;
  if (d.aligned) {
    d.sharers = each * d.divided, d.parts = each;
  } else {
    const std::int64_t share = std::max<std::int64_t>(1, d.divided * steps / d.sharers);
    d.parts = (steps + share - 1) / share + 1;
  }
  return d;
}

plan plan_of_tiles(int tile_m, int tile_n, bool swapped, bool divided, const extents& e, const plan& wanted) {
  plan p;
  p.swapped = swapped ? decision::yes : decision::no, p.divided = divided ? decision::yes : decision::no;
  p.raster = wanted.raster != raster::any ? wanted.raster : e.m >= e.n ? raster::along_columns : raster::along_rows;
  p.tile_m = static_cast<std::uint16_t>(tile_m), p.tile_n = static_cast<std::uint16_t>(tile_n);
  p.band = wanted.band;
  return p;
}

bool has_wanted(const plan& p, const plan& wanted) noexcept { return count_differences(p, wanted) == 0; }

std::string to_string(const candidate& c) {
  return to_string(c.plan) + (c.variant == nullptr ? "" : cat(", ", c.variant->name));
}

error no_plan(const std::vector<candidate>& all, const plan& wanted, const std::string& why_not,
              const std::string& why_not_library) {
  const auto nearest = std::min_element(all.begin(), all.end(), [&](const candidate& x, const candidate& y) {
    return count_differences(x.plan, wanted) < count_differences(y.plan, wanted);
  });
  return error(
      reaction::unsupported, "cutlass",
      cat("no kernel has plan = ", to_string(wanted),
          wanted.family == family::vendor && !why_not_library.empty() ? cat(", because ", why_not_library) : "",
          nearest == all.end() ? cat(": ", why_not)
                               : cat("; the nearest possible plan is ", to_string(nearest->plan))));
}

result<std::vector<candidate>> all_candidates(const kernel_signature& f, const extents& of,
                                              const cuda::gpu_properties& gpu, const plan& wanted,
                                              std::string& why_not) {
  std::vector<candidate> all;
  extents e = of;
  // Each of several consecutive groups may end with a tile that is not full: half full on average.
  if (f.head.grouped == 1) e.m = of.m + of.batch * 64, e.batch = 1;
  if (std::max({of.m, of.n, of.k, of.batch}) > most_counted)
    return error(reaction::unsupported, "cutlass",
                 cat("m is ", of.m, ", n is ", of.n, ", k is ", of.k, ", batch is ", of.batch, "; expected at most ",
                     most_counted, " of each, because kernels count in 32 bits: split the request"));
  why_not = add_hopper_plans(f, e, gpu, wanted, all);
  if (const std::string other = add_ampere_plans(f, e, gpu, wanted, all); !other.empty())
    why_not += (why_not.empty() ? "" : "; ") + other;
  return all;
}

result<std::vector<candidate>> candidates_for(const kernel_signature& f, const extents& e,
                                              const cuda::gpu_properties& gpu, const plan& wanted,
                                              const cutlass_library_plans& library_plans) {
  std::string why_not;
  auto all = TROUPE_TRY(all_candidates(f, e, gpu, wanted, why_not));
  all.insert(all.end(), library_plans.all.begin(), library_plans.all.end());
  const auto end =
      std::stable_partition(all.begin(), all.end(), [&](const candidate& c) { return has_wanted(c.plan, wanted); });
  if (end == all.begin()) return no_plan(all, wanted, why_not, library_plans.why_not);
  all.erase(end, all.end());
  std::stable_sort(all.begin(), all.end(), [](const candidate& x, const candidate& y) {
    return is_better(x, y, x.microseconds, y.microseconds);
  });
  return all;
}

}  // namespace troupe::cutlass
