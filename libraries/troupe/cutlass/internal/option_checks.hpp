// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/cat.hpp>
#include <troupe/cutlass/options.hpp>
#include <troupe/cutlass/plan.hpp>
#include <troupe/epilogue/expression.hpp>
#include <troupe/request/checker.hpp>

namespace troupe::cutlass::detail {

/// Refuses a plan that no template could follow, whatever the chip.
inline void check_plan(checker& c, const plan& p) {
  c.require(p.family <= family::vendor && p.schedule <= schedule::ping_pong && p.raster <= raster::along_rows &&
                p.swapped <= decision::yes && p.divided <= decision::yes,
            p, "has an unknown choice", "values of their types");
  const auto multiple = [&](std::uint16_t n, int of) { return n % of == 0; };
  if (!multiple(p.tile_m, 16) || !multiple(p.tile_n, 8) || !multiple(p.tile_k, 8))
    c.refuse(&p, cat("has a tile of ", p.tile_m, " x ", p.tile_n, " x ", p.tile_k), "multiples of 16, 8 and 8, or 0");
  if (p.cluster_m > 16 || p.cluster_n > 16 || p.cluster_m * p.cluster_n > 16)
    c.refuse(&p, cat("has a cluster of ", p.cluster_m, " x ", p.cluster_n, " blocks"), "at most 16 blocks, or 0");
}

/// Checks the options that products and convolutions have.
template <class R>
void check_options(checker& c, const R& r) {
  c.require(is_known(r.precision), r.precision, "is not a precision", "exact or tf32");
  c.require(matmul::is_known(r.accumulation), r.accumulation, "is not an accumulation", "precise or fast");
  c.require(is_known(r.compiling), r.compiling, "is not known", "allowed or forbidden");
  check_plan(c, r.plan);
}

/// Checks what a request that prepares has beside those.
template <class R>
void check_preparing(checker& c, const R& r) {
  if (r.measure < 0 || r.measure > 64)
    c.refuse(&r.measure, cat("is ", r.measure), "how many plans to measure, at most 64");
  if (r.log) c.elements(*r.log, static_cast<std::int64_t>(r.log->size()));
}

/// Allows the epilogue to load what it computes from the place of the result: each element is read before it is
/// written. `count` matrices lie `stride` apart.
template <class Result>
void allow_in_place(checker& c, const epilogue::expression& e, const Result& result, const matrix_shape& one,
                    std::int64_t count, std::int64_t stride) {
  std::size_t allowed = 0;
  for (const auto& m : e.memory()) {
    const bool same = m.mode == access_mode::read && m.range.address == result.range().address && m.shape == one &&
                      m.type == result.type() && m.batch == count && (count == 1 || m.batch_stride == stride);
    if (same && allowed++ < checker::max_allowed) c.may_overlap(&m, &result);
  }
}

}  // namespace troupe::cutlass::detail
