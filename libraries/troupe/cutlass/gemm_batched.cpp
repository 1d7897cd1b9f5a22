// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/product_check.hpp>
#include <troupe/epilogue/check.hpp>
#include <troupe/epilogue/tree.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::cutlass {
namespace {

class batch_check {
 public:
  batch_check(checker& c, const gemm_batched& r) noexcept : check_(c), all_(c), r_(r) {}

  void run() {
    all_.options(r_.options);
    const std::size_t count = r_.d.size();
    if (count == 0) return check_.refuse(&r_.d, "is empty", "a matrix for each product");
    if (!has_size(r_.a, count, true) || !has_size(r_.b, count, true) || !has_size(r_.a_scales, count, false) ||
        !has_size(r_.b_scales, count, false))
      return;
    if (!are_alike(r_.a) || !are_alike(r_.b) || !are_alike(r_.d) ||
        !all_.has_types(operand_view(r_.a[0]), operand_view(r_.b[0]), operand_view(r_.d[0])))
      return;
    const bool pairs = epilogue::is_paired(r_.epilogue.nodes());
    for (std::size_t i = 0; i < count; ++i)
      if (!all_.fits(operand_view(r_.a[i]), operand_view(r_.b[i]), operand_view(r_.d[i]), pairs)) return;
    // Views are checked in the order of the request's fields, in which the checker finds fields fastest.
    for (const auto& one : r_.a) check_.view(one);
    for (const auto& one : r_.b) check_.view(one);
    for (const auto& one : r_.d) check_.view(one);
    for (const epilogue_operand& o : epilogue_operands()) check_extents(o);
    const tensor_shape& first = r_.d[0].shape();
    epilogue::check(check_, r_.epilogue, {first.extents[0], first.extents[1], count, all_.sums()});
    for (std::size_t i = 0; i < r_.a_scales.size(); ++i) all_.scales(r_.a_scales[i], operand_view(r_.a[i]), 1, true);
    for (std::size_t i = 0; i < r_.b_scales.size(); ++i) all_.scales(r_.b_scales[i], operand_view(r_.b[i]), 1, false);
  }

 private:
  struct epilogue_operand {
    const void* field;
    bool is_tall, is_wide;  // true if the operand has an element for each row, or for each column
  };

  template <class List>
  bool has_size(const List& l, std::size_t count, bool required) {
    if (l.size() == count || (l.empty() && !required)) return true;
    check_.refuse(&l, "has " + counted(l.size(), "matrix", "matrices"),
                  cat(count, ", as d has", required ? "" : ", or none"));
    return false;
  }
  // Checks that a list has only matrices of one type.
  template <class List>
  bool are_alike(const List& l) {
    for (const auto& one : l) {
      if (!all_.has_rank(operand_view(one), 2, 2, "2: a matrix; gemm has batches of matrices")) return false;
      if (one.type() == l[0].type()) continue;
      check_.refuse(&one, cat("holds ", to_string(one.type())),
                    cat(to_string(l[0].type()), ", as the first matrix of the list holds"));
      return false;
    }
    return true;
  }

  std::vector<epilogue_operand> epilogue_operands() const {
    std::vector<epilogue_operand> out;
    if (r_.epilogue.is_too_large()) return out;
    for (const epilogue::node& n : r_.epilogue.nodes())
      if (epilogue::has_memory(n.what))
        out.push_back({&r_.epilogue.memory()[n.operand], epilogue::is_tall(n), epilogue::is_wide(n)});
    return out;
  }
  // Checks that an operand with an element for each row, or for each column, fits all results.
  void check_extents(const epilogue_operand& o) {
    for (std::size_t i = 1; i < r_.d.size(); ++i)
      for (const std::size_t axis : {0, 1}) {
        const std::int64_t first = r_.d[0].shape().extents[axis], here = r_.d[i].shape().extents[axis];
        if (first == here || !(axis == 0 ? o.is_tall : o.is_wide)) continue;
        const std::string_view what = axis == 0 ? "rows" : "columns";
        return check_.refuse(o.field, cat("is for ", first, " ", what, ", and d[", i, "] has ", here),
                             cat("results with equal numbers of ", what, ", or an operand that fits all results"));
      }
  }

  checker& check_;
  product_check all_;
  const gemm_batched& r_;
};

}  // namespace

void gemm_batched::check(checker& c) const { batch_check(c, *this).run(); }

}  // namespace troupe::cutlass
