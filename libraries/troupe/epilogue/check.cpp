// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/epilogue/check.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/tree.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <utility>

namespace troupe::epilogue {
namespace {

class epilogue_check {
 public:
  epilogue_check(checker& c, const expression& e, const result_of_product& result) noexcept
      : check_(c), expression_(e), result_(result) {}

  void run() {
    if (expression_.is_too_large())
      return refuse("is too large", cat("at most ", most_nodes, " operations, ", most_numbers,
                                        " different numbers and ", most_memory, " operands in memory"));
    const auto all = expression_.nodes();
    const bool uses_all = std::any_of(all.begin(), all.end(), [](const node& n) { return n.what == op::accumulator; });
    if (uses_all && is_paired(expression_.nodes()))
      return refuse("has acc beside left or right", "either acc, or left and right");
    std::array<bool, most_memory> written{};
    for (const node& n : expression_.nodes()) {
      check_types(n);
      if (!has_memory(n.what)) continue;
      check_memory(n);
      if (passes_on(n.what) && std::exchange(written[n.operand], true))
        check_.refuse(&expression_.memory()[n.operand], "is written twice",
                      "separate memory for each value that is written");
    }
  }

 private:
  void refuse(std::string_view value, std::string_view expected) { check_.refuse(&expression_, value, expected); }

  void check_types(const node& n) {
    const bool complex = is_complex(result_.sums);
    if (complex && !is_linear(n.what))
      return refuse(cat("has ", to_string(n.what), " of complex numbers"),
                    "only sums, differences, products and quotients");
    if (n.what == op::convert && (complex ? !is_complex(n.type) : !is_real(n.type)))
      refuse(cat("converts to ", to_string(n.type)),
             complex ? "c64 or c128" : "a type with one real number in each element");
  }

  void check_memory(const node& n) {
    const expression::memory_operand& m = expression_.memory()[n.operand];
    const bool of_groups = result_.groups != extent(1) && !is_tall(n);
    const extent parts = of_groups ? result_.batch * result_.groups : result_.batch;
    if (extent(m.batch) != parts && (m.batch != 1 || m.mode == access_mode::write))
      return check_.refuse(
          &m, "is for " + counted(m.batch, "product", "products"),
          cat(troupe::detail::text(parts), of_groups ? ", one for each group" : ", the number of products",
              m.batch == 1 ? "; one more axis has a part for each: for numbers, matrix(buffer, parts, 1)" : ""));
    if (is_complex(result_.sums) ? !is_complex(m.type) : !is_real(m.type))
      return check_.refuse(
          &m, cat("holds ", to_string(m.type)),
          is_complex(result_.sums) ? "c64 or c128, because the product is complex" : "one real number in each element");
    switch (n.what) {
      case op::load_number:
        return first_element(m);
      case op::load_row:
        return vector(m, m.shape.columns, result_.columns, "column");
      case op::load_column:
        return vector(m, m.shape.rows, result_.rows, "row");
      case op::load:
      case op::store:
        return matrix(m);
      default:
        return reduction_of(n, m);
    }
  }

  void first_element(const expression::memory_operand& m) { touch(m, {1, 1, 1, 1}); }

  void touch(const expression::memory_operand& m, const matrix_shape& s) {
    check_.view_at(&m, {.rank = 3,
                        .extents = {m.batch, s.rows, s.columns},
                        .strides = {m.batch_stride, s.row_stride, s.column_stride}});
  }

  void vector(const expression::memory_operand& m, std::int64_t has, extent needs, std::string_view each) {
    if (extent(has) != needs)
      return check_.refuse(&m, "has " + counted(has, "element", "elements"),
                           cat(troupe::detail::text(needs), ", one for each ", each, " of the result"));
    touch(m, m.shape);
  }

  void matrix(const expression::memory_operand& m) {
    if (extent(m.shape.rows) != result_.rows || extent(m.shape.columns) != result_.columns)
      return check_.refuse(&m, cat("is ", m.shape.rows, " x ", m.shape.columns),
                           cat(troupe::detail::text(result_.rows), " x ", troupe::detail::text(result_.columns),
                               ", the extents of the result"));
    touch(m, m.shape);
  }

  void reduction_of(const node& n, const expression::memory_operand& m) {
    if (m.type != dtype::f32 && !(m.type == dtype::f64 && result_.sums == dtype::f64))
      return check_.refuse(
          &m, cat("holds ", to_string(m.type)),
          result_.sums == dtype::f64 ? "f32 or f64" : "f32, the type in which the values are combined");
    if (n.over == reduction_scope::row) return vector(m, m.shape.rows, result_.rows, "row");
    if (n.over == reduction_scope::column) return vector(m, m.shape.columns, result_.columns, "column");
    first_element(m);
  }

  checker& check_;
  const expression& expression_;
  const result_of_product& result_;
};

}  // namespace

void check(checker& c, const expression& e, const result_of_product& result) { epilogue_check(c, e, result).run(); }

}  // namespace troupe::epilogue
