// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/plan.hpp>

namespace troupe::cutlass {

std::string to_string(const plan& p) {
  const auto number = [](int n) { return n == 0 ? std::string("any") : std::to_string(n); };
  std::string out = cat(to_string(p.family), " ", number(p.tile_m), "x", number(p.tile_n), "x", number(p.tile_k), ", ",
                        number(p.stages), " stages, cluster ", number(p.cluster_m), "x", number(p.cluster_n), ", ",
                        to_string(p.schedule), ", ", to_string(p.raster), ", band ", number(p.band));
  if (p.swapped == decision::yes) out += ", swapped";
  if (p.divided == decision::yes) out += ", divided";
  return out;
}

}  // namespace troupe::cutlass
