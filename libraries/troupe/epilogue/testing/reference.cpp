// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>
#include <troupe/epilogue/testing/reference.hpp>

namespace troupe::epilogue {
namespace {

std::size_t elements_of(const node& n, std::int64_t rows, std::int64_t columns) noexcept {
  if (n.what == op::store) return static_cast<std::size_t>(rows * columns);
  return static_cast<std::size_t>(n.over == reduction_scope::row      ? rows
                                  : n.over == reduction_scope::column ? columns
                                                                      : 1);
}

double combined(reduction how, double so_far, double x) noexcept {
  switch (how) {
    case reduction::sum:
      return so_far + x;
    case reduction::maximum:
      return value_of(op::maximum, so_far, x);
    case reduction::absolute_maximum:
      return value_of(op::maximum, so_far, std::fabs(x));
  }
  return x;
}

// Computes all nodes for one element.
class at_element {
 public:
  at_element(const tree& t, std::int64_t rows, std::int64_t columns, std::int64_t which, evaluated& out) noexcept
      : tree_(t), rows_(rows), columns_(columns), which_(which), out_(out) {}

  template <class Product>
  double operator()(std::int64_t i, std::int64_t j, const Product& product) {
    std::array<double, 256> values{};
    std::size_t k = 0;
    for (const node& n : tree_.nodes()) {
      const double x = values[n.arguments[0]];
      values[k++] = value(n, i, j, product, values);
      if (n.what == op::store) out_.written[n.operand][static_cast<std::size_t>(i + j * rows_)] = x;
      if (n.what == op::reduce) {
        const std::int64_t index = n.over == reduction_scope::row ? i : n.over == reduction_scope::column ? j : 0;
        double& so_far = out_.written[n.operand][static_cast<std::size_t>(index)];
        so_far = combined(n.combine, so_far, x);
      }
    }
    return values[k - 1];
  }

 private:
  template <class Product>
  double value(const node& n, std::int64_t i, std::int64_t j, const Product& product,
               const std::array<double, 256>& values) const {
    const auto in_memory = [&](std::int64_t row, std::int64_t column) {
      const memory_operand& m = tree_.memory()[n.operand];
      return number_at(m.at(which_, row, column), m.type);
    };
    switch (n.what) {
      case op::accumulator:
      case op::left:
        return product(i, j);
      case op::right:
        return product(i, j + columns_);
      case op::number:
        return tree_.numbers()[n.operand];
      case op::load_number:
        return in_memory(0, 0);
      case op::load_row:
        return in_memory(0, j);
      case op::load_column:
        return in_memory(i, 0);
      case op::load:
        return in_memory(i, j);
      case op::convert:
        return nearest_of(n.type, values[n.arguments[0]]);
      default:
        return value_of(n.what, values[n.arguments[0]], values[n.arguments[1]], values[n.arguments[2]]);
    }
  }

  const tree& tree_;
  std::int64_t rows_, columns_, which_;
  evaluated& out_;
};

}  // namespace

evaluated evaluate(const tree& t, std::int64_t rows, std::int64_t columns,
                   const std::function<double(std::int64_t, std::int64_t)>& product, std::int64_t which) {
  evaluated out;
  out.result.resize(static_cast<std::size_t>(rows * columns));
  out.written.resize(t.memory().size());
  for (const node& n : t.nodes())
    if (n.what == op::store || n.what == op::reduce)
      out.written[n.operand].assign(elements_of(n, rows, columns), start_of(n.combine));
  at_element at(t, rows, columns, which, out);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) out.result[static_cast<std::size_t>(i + j * rows)] = at(i, j, product);
  return out;
}

}  // namespace troupe::epilogue
