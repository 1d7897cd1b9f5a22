// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For the sources of cutlass.
#pragma once

#include <optional>
#include <string_view>
#include <troupe/base/cat.hpp>
#include <troupe/cutlass/gemm.hpp>
#include <troupe/matmul/shapes.hpp>
#include <troupe/request/checker.hpp>

/// What the checks of all requests for products share.
namespace troupe::cutlass {

/// A matrix, or a batch of them, among the operands of a request, whatever its access.
struct seen_operand {
  template <access_mode M>
  explicit seen_operand(const any_operand<M>& o) noexcept : place(&o), shape(o.shape()), type(o.type()) {}
  const void* place;
  const tensor_shape& shape;
  dtype type;
};

/// Refuses what is wrong. The functions return false if they have refused, or if a view was refused when it was made:
/// then what follows would only confuse.
class product_check {
 public:
  explicit product_check(checker& c) noexcept : check_(c) {}

  template <class R>
  void options_of(const R& r) {
    check_.require(is_known(r.precision), r.precision, "is not a precision", "exact or tf32");
    check_.require(matmul::is_known(r.accumulation), r.accumulation, "is not an accumulation", "precise or fast");
    check_.require(is_known(r.compiling), r.compiling, "is not known", "allowed or forbidden");
    check_plan(r.plan);
  }
  bool has_rank(const seen_operand& o, std::uint64_t least, std::uint64_t most, std::string_view expected);
  /// Also keeps the type of the sums.
  bool has_types(const seen_operand& a, const seen_operand& b, const seen_operand& d);
  /// Whether the extents of one product fit each other.
  bool fits(const seen_operand& a, const seen_operand& b, const seen_operand& d, bool pairs);
  bool has_count(const seen_operand& o, std::int64_t count, std::string_view as);
  /// The scales of a factor, of `batch` products. `per_line`: no scale may be that of several lines.
  void scales(const in_any& scales, const seen_operand& factor, std::int64_t batch, bool lines_are_rows,
              bool per_line = false);
  void refuse(const seen_operand& o, std::string_view expected);
  dtype sums() const noexcept { return sums_; }

 private:
  void check_plan(const plan& p);

  checker& check_;
  dtype sums_{};
};

/// What is computed may be what the epilogue loads: each element is read before it is written. `count` matrices lie
/// `stride` elements apart.
template <class D>
void allow_in_place(checker& c, const epilogue::expression& e, const D& to, const matrix_shape& one, std::int64_t count,
                    std::int64_t stride) {
  std::size_t allowed = 0;
  for (const auto& m : e.memory()) {
    const bool same = m.mode == access_mode::read && m.range.address == to.range().address && m.shape == one &&
                      m.type == to.type() && m.batch == count && (count == 1 || m.batch_stride == stride);
    if (same && allowed++ < checker::max_allowed) c.may_overlap(&m, &to);
  }
}
template <class D>
void allow_in_place(checker& c, const epilogue::expression& e, const D& to) {
  const matmul::batch_of_matrices d = matmul::matrices_of(to.shape());
  allow_in_place(c, e, to, d.one, d.count, d.stride);
}

/// The fields of a request that prepares: how many plans to measure, and where the log is written.
template <class R>
void check_measuring(checker& c, const R& r) {
  if (r.measure < 0 || r.measure > 64)
    c.refuse(&r.measure, cat("is ", r.measure), "how many plans to measure, at most 64");
  if (r.log) c.elements(*r.log, static_cast<std::int64_t>(r.log->size()));
}

}  // namespace troupe::cutlass
