// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/product_check.hpp>
#include <troupe/epilogue/check.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::cutlass {
namespace {

using matmul::batch_of_matrices, matmul::matrices_of;

bool reduces_rows(const epilogue::expression& e) {
  if (e.is_too_large()) return false;
  return std::any_of(e.nodes().begin(), e.nodes().end(), [](const epilogue::node& n) {
    return n.what == epilogue::op::reduce && n.over == epilogue::reduction_scope::row;
  });
}

void check_groups(checker& c, const gemm_grouped& r) {
  product_check all(c);
  all.options(r.options);
  const operand_view a(r.a), b(r.b), d(r.d);
  if (!all.has_rank(a, 2, 3, "2 for consecutive groups, or 3 for a matrix for each group") ||
      !all.has_rank(b, 3, 3, "3: a matrix for each group") ||
      !all.has_rank(d, a.shape.rank, a.shape.rank, cat(a.shape.rank, ", as a has")))
    return;
  if (!all.has_types(a, b, d) || !all.fits(a, b, d, epilogue::is_paired(r.epilogue.nodes()))) return;
  const std::int64_t groups = b.shape.extents[0];
  const bool packed = a.shape.rank == 2;
  const batch_of_matrices results = matrices_of(d.shape);
  for (const operand_view* o : {&a, &d})
    if (!packed && matrices_of(o->shape).count != groups)
      return all.refuse(*o, cat(groups, " matrices, one for each group, as b has"));
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (results.one.rows > most || groups > most)
    return all.refuse(results.one.rows > most ? d : b, cat("at most ", most, ", because sizes are 32-bit numbers"));
  if (results.one.columns == 0 && reduces_rows(r.epilogue))
    return all.refuse(d,
                      "at least 1 column, because the epilogue reduces rows, and the rows of each group are known only "
                      "when the request runs");
  c.view(r.a);
  c.view(r.b);
  c.view(r.d);
  c.elements(r.sizes, groups);
  // If groups are packed, each row of A needs its own scale: rows that share one could belong to two groups.
  if (r.a_scales) all.scales(*r.a_scales, a, packed ? 1 : groups, true, packed);
  if (r.b_scales) all.scales(*r.b_scales, b, groups, false);
  epilogue::check(c, r.epilogue,
                  {results.one.rows, results.one.columns, results.count, all.sums(), packed ? groups : 1});
  epilogue::allow_in_place(c, r.epilogue, r.d, results.one, results.count, results.stride);
  // Rows outside all groups keep their content.
  c.leaves_some(&r.d);
  for (const auto& m : r.epilogue.memory())
    if (m.mode == access_mode::write) c.leaves_some(&m);
}

}  // namespace

std::optional<error> error_of(const grouped_outcome& o) {
  if (o.wrong_group < 0) return std::nullopt;
  return error(reaction::caller_bug, "cutlass",
               cat("cutlass.gemm_grouped: sizes[", o.wrong_group, "] is ", o.size, "; expected at least 0 and at most ",
                   o.rows_left,
                   o.partial_results == partial_results::allowed
                       ? ", the remaining rows: this group and the groups after it were not computed"
                       : ", the remaining rows; correct the sizes, or allow partial_results"));
}

std::optional<error> gemm_grouped::failure_in(const grouped_outcome& o) {
  if (o.partial_results == partial_results::allowed) return std::nullopt;
  return error_of(o);
}

void gemm_grouped::check(checker& c) const { check_groups(c, *this); }

}  // namespace troupe::cutlass
