// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/product_check.hpp>
#include <troupe/epilogue/check.hpp>
#include <troupe/request/checks_of.hpp>

namespace troupe::cutlass {
namespace {

using matmul::batch_of_matrices, matmul::matrices_of;

void check_product(checker& c, const gemm& r) {
  product_check all(c);
  all.options(r.options);
  const operand_view a(r.a), b(r.b), d(r.d);
  for (const operand_view* o : {&a, &b, &d})
    if (!all.has_rank(*o)) return;
  if (!all.has_types(a, b, d) || !all.fits(a, b, d, epilogue::is_paired(r.epilogue.nodes()))) return;
  const batch_of_matrices results = matrices_of(d.shape);
  if (!all.has_count(a, results.count, "d") || !all.has_count(b, results.count, "d")) return;
  c.view(r.a);
  c.view(r.b);
  c.view(r.d);
  if (r.a_scales) all.scales(*r.a_scales, a, results.count, true);
  if (r.b_scales) all.scales(*r.b_scales, b, results.count, false);
  epilogue::check(c, r.epilogue, {results.one.rows, results.one.columns, results.count, all.sums()});
  epilogue::allow_in_place(c, r.epilogue, r.d, results.one, results.count, results.stride);
}

}  // namespace

void gemm::check(checker& c) const { check_product(c, *this); }

void prepare_options::check(checker& c, std::int32_t) const {
  if (log) c.elements(*log, static_cast<std::int64_t>(log->size()));
}

}  // namespace troupe::cutlass

TROUPE_CHECKS(troupe::cutlass::all_requests)
