// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/numbers/int8_sums.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/matmul/operand_check.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::matmul {

void operand_check::refuse(const operand_view& o, std::string_view expected) {
  check_.refuse(o.field, "is " + troupe::detail::extents_text(o.shape), expected);
}

bool operand_check::has_rank(const operand_view& o, std::uint64_t least, std::uint64_t most,
                             std::string_view expected) {
  const bool fine = o.shape.rank >= least && o.shape.rank <= most;
  if (!fine) check_.refuse(o.field, "has " + counted(o.shape.rank, "axis", "axes"), expected);
  return fine;
}
bool operand_check::has_rank(const operand_view& o) { return has_rank(o, 2, 3, "2, or 3 for a batch of matrices"); }

bool operand_check::fits(const operand_view& a, const operand_view& b, const operand_view& d, bool pairs) {
  const matrix_shape ma = matrices_of(a.shape).one, mb = matrices_of(b.shape).one, md = matrices_of(d.shape).one;
  const std::int64_t k = ma.columns * k_per_element(a.type), columns = pairs ? mb.columns / 2 : mb.columns;
  if (mb.rows * k_per_element(b.type) != k)
    return refuse(b, cat(k / k_per_element(b.type), " rows, as many as a has columns")), false;
  if (pairs && mb.columns % 2 != 0)
    return refuse(b, "an even number of columns, because the epilogue pairs them"), false;
  if (md.rows != ma.rows || md.columns != columns)
    return refuse(d, cat(ma.rows, " x ", columns,
                         pairs ? " (rows of a, half the columns of b)" : " (rows of a, columns of b)")),
           false;
  return true;
}

bool operand_check::has_count(const operand_view& o, std::int64_t count, std::string_view as) {
  const std::int64_t has = matrices_of(o.shape).count;
  if (has == count || has == 1) return true;
  return refuse_count(o, cat(count == 1 ? "" : "1 or ", count, ", as ", as, " has")), false;
}

void operand_check::refuse_count(const operand_view& o, std::string_view expected) {
  check_.refuse(o.field,
                cat("has ", counted(matrices_of(o.shape).count, "matrix", "matrices"), " (",
                    troupe::detail::extents_text(o.shape), ")"),
                expected);
}

bool operand_check::fits_sums(const operand_view& a, dtype sums) {
  if (sums != dtype::i32 || matrices_of(a.shape).one.columns <= longest_int8_sum) return true;
  return refuse(a, cat("at most ", longest_int8_sum, " columns, so that no sum of products overflows")), false;
}

}  // namespace troupe::matmul
