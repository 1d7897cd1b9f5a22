// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <troupe/base/cat.hpp>
#include <troupe/matmul/cuda/fusion.hpp>

namespace troupe::matmul {
namespace {

using epilogue::node, epilogue::op, epilogue::reduction, epilogue::span_of, epilogue::tree, epilogue::tree_memory;

// One term of a sum: a product of these.
struct factors {
  double number = 1;
  bool by_value = false;  // whether `number` comes from the request, and not from signs alone
  std::array<operand_index, 3> in_memory{none, none, none};
  std::size_t numbers_in_memory = 0;
  int products = 0;
  operand_index along_rows = none, along_columns = none;  // a factor for each row, for each column
  operand_index matrix = none, derivative_at = none;
  // Whether a number by value multiplies the rest: known from the structure, whatever the number.
  bool is_scaled() const noexcept { return by_value || number != 1; }
};

class matching {
 public:
  matching(const tree& t, const problem& p, dtype sums) noexcept : tree_(t), problem_(p), sums_(sums) {}

  fusion_match run() {
    const bool fine = root(&tree_.root());
    return {fine, form_, std::move(obstacle_)};
  }

 private:
  const node* argument(const node& n, std::size_t i) const noexcept { return &tree_.nodes()[n.arguments[i]]; }
  const tree_memory& memory(operand_index i) const noexcept { return tree_.memory()[static_cast<std::size_t>(i)]; }
  static operand_index operand(const node& n) noexcept { return static_cast<operand_index>(n.operand); }
  bool refuse(std::string what) {
    obstacle_ = std::move(what);
    return false;
  }
  bool is(const node* n, op what) const noexcept { return n->what == what; }
  // A number in memory of the type in which cuBLASLt computes, the same for all products.
  bool is_scalar(const node& n) const noexcept {
    return n.what == op::load_number && memory(operand(n)).type == sums_ &&
           (problem_.batch == 1 || memory(operand(n)).batch_stride == 0);
  }
  // Whether a load has one element for each row of the stored result.
  bool is_along_rows(op what) const noexcept { return what == (problem_.transposed ? op::load_row : op::load_column); }
  // The element's distance of a vector that has one for each row, or for each column.
  static std::int64_t step(const node& n, const tree_memory& m) noexcept {
    return n.what == op::load_row || (n.what == op::reduce && n.over == span_of::column) ? m.shape.column_stride
                                                                                         : m.shape.row_stride;
  }

  bool root(const node* n) {
    // Storing rounds and saturates as a conversion does.
    if (is(n, op::convert) && n->type == problem_.d.type) n = argument(*n, 0);
    if (is_float8(problem_.d.type)) {
      n = without_d_scale(n);
      if (is(n, op::reduce) && n->combine == reduction::absolute_maximum && n->over == span_of::all &&
          memory(operand(*n)).type == dtype::f32 && problem_.batch == 1) {
        form_.amax = operand(*n);
        n = argument(*n, 0);
      }
    }
    if (is(n, op::reduce) && n->combine == reduction::sum && is_per_row(*n) && step(*n, memory(operand(*n))) == 1) {
      form_.bias_gradient = operand(*n);
      n = argument(*n, 0);
    }
    if (is(n, op::relu) || is(n, op::gelu_tanh)) {
      form_.activation = is(n, op::relu) ? fused_form::activation::relu : fused_form::activation::gelu;
      n = argument(*n, 0);
      if (is(n, op::store) && form_.activation == fused_form::activation::gelu) {
        if (!is_matrix(operand(*n))) return refuse("store");
        form_.aux = operand(*n);
        n = argument(*n, 0);
      }
    }
    if (!sum(n)) return false;
    if (products_ != 1) return refuse(products_ == 0 ? "an epilogue without acc" : "acc in two terms");
    const bool backward = form_.derivative_at != none;
    if (form_.bias_gradient != none && !backward) return refuse("sum");
    if (backward && (form_.c != none || form_.bias != none || form_.activation != fused_form::activation::none))
      return refuse("d_gelu_tanh in a sum");
    return true;
  }

  // Whether a reduction has one result for each row of the stored result.
  bool is_per_row(const node& n) const noexcept {
    return n.over == (problem_.transposed ? span_of::column : span_of::row);
  }

  // A number that multiplies all of D, apart from those that multiply the product alone.
  const node* without_d_scale(const node* n) {
    if (!is(n, op::multiply)) return n;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const node *const scale = argument(*n, i), *const rest = argument(*n, 1 - i);
      const bool is_all = is(rest, op::relu) || is(rest, op::gelu_tanh) || is(rest, op::add) || is(rest, op::reduce);
      if (is_scalar(*scale) && is_all) {
        form_.d_scale = operand(*scale);
        return rest;
      }
    }
    return n;
  }

  // Column by column in this orientation.
  bool is_matrix(operand_index i) const noexcept {
    const epilogue::tree_memory& m = memory(i);
    const bool columns_apart = problem_.across(m.shape) >= problem_.d.rows || problem_.d.columns == 1;
    return (problem_.along(m.shape) == 1 || problem_.d.rows == 1) && columns_apart;
  }

  bool sum(const node* n) {
    if (is(n, op::add)) return sum(argument(*n, 0)) && sum(argument(*n, 1));
    if (is(n, op::subtract)) {
      if (!sum(argument(*n, 0))) return false;
      return term(argument(*n, 1), -1);
    }
    return term(n, 1);
  }

  bool term(const node* n, double sign) {
    factors f{.number = sign};
    if (!collect(n, f)) return false;
    if (f.products == 1) return product_term(f);
    if (f.products > 1) return refuse("acc as a factor of acc");
    if (f.derivative_at != none) return refuse("d_gelu_tanh without acc");
    if (f.matrix != none && f.along_rows == none && f.along_columns == none && f.numbers_in_memory <= 1) {
      if (form_.c != none) return refuse("a second matrix that is added");
      if (!is_matrix(f.matrix)) return refuse("a matrix stored otherwise than the result");
      form_.c = f.matrix, form_.beta = f.number, form_.beta_in_memory = f.in_memory[0];
      if (f.numbers_in_memory == 1 && f.is_scaled()) return refuse("a number by value and one in memory");
      return true;
    }
    if (f.along_rows != none && f.along_columns == none && f.matrix == none && f.numbers_in_memory == 0 &&
        !f.is_scaled()) {
      if (form_.bias != none) return refuse("a second bias");
      form_.bias = f.along_rows;
      return true;
    }
    return refuse(f.along_columns != none ? "a bias along the lines of the result"
                  : f.matrix != none      ? "load"
                                          : "a number that is added");
  }

  bool product_term(const factors& f) {
    ++products_;
    if (f.matrix != none) return refuse("a matrix that multiplies acc");
    form_.derivative_at = f.derivative_at;
    form_.alpha = f.number;
    const bool narrow = is_float8(problem_.a.type) && !problem_.has_scales();
    if (f.along_rows != none || f.along_columns != none) {
      if (!narrow) return refuse("a vector that multiplies acc");
      if (f.along_rows == none || f.along_columns == none || f.numbers_in_memory != 0 || problem_.batch != 1)
        return refuse("a vector that multiplies acc, unless there is one for the rows and one for the columns");
      form_.row_scales = f.along_rows, form_.column_scales = f.along_columns;
      return true;
    }
    if (narrow) {
      form_.a_scale = f.in_memory[0], form_.b_scale = f.in_memory[1];
      if (f.numbers_in_memory == 3) {
        // The largest magnitude is that before the scale of D.
        if (form_.d_scale != none || form_.amax != none || !is_float8(problem_.d.type))
          return refuse("a third number in memory");
        form_.d_scale = f.in_memory[2];
      }
      return true;
    }
    if (f.numbers_in_memory > 1) return refuse("two numbers in memory that multiply acc");
    if (f.numbers_in_memory == 1 && f.is_scaled()) return refuse("a number by value and one in memory");
    form_.alpha_in_memory = f.in_memory[0];
    return true;
  }

  bool collect(const node* n, factors& f) {
    switch (n->what) {
      case op::accumulator:
        ++f.products;
        return true;
      case op::multiply:
        return collect(argument(*n, 0), f) && collect(argument(*n, 1), f);
      case op::negate:
        f.number = -f.number;
        return collect(argument(*n, 0), f);
      case op::number:
        f.number *= tree_.numbers()[n->operand];
        f.by_value = true;
        return true;
      case op::load_number:
        if (!is_scalar(*n)) return refuse(cat("a number in memory of type ", to_string(memory(operand(*n)).type)));
        if (f.numbers_in_memory == f.in_memory.size()) return refuse("a fourth number in memory");
        f.in_memory[f.numbers_in_memory++] = operand(*n);
        return true;
      case op::load_row:
      case op::load_column: {
        operand_index& place = is_along_rows(n->what) ? f.along_rows : f.along_columns;
        const tree_memory& m = memory(operand(*n));
        if (place != none || (step(*n, m) != 1 && problem_.d.rows != 1)) return refuse(std::string(to_string(n->what)));
        place = operand(*n);
        return true;
      }
      case op::load:
        if (f.matrix != none) return refuse("a matrix as a factor of a matrix");
        f.matrix = operand(*n);
        return true;
      case op::d_gelu_tanh: {
        const node* const at = argument(*n, 0);
        if (!is(at, op::load) || f.derivative_at != none || !is_matrix(operand(*at))) return refuse("d_gelu_tanh");
        f.derivative_at = operand(*at);
        return true;
      }
      default:
        return refuse(std::string(to_string(n->what)));
    }
  }

  const tree& tree_;
  const problem& problem_;
  const dtype sums_;
  fused_form form_;
  int products_ = 0;
  std::string obstacle_;
};

}  // namespace

fusion_match match(const epilogue::tree& t, const problem& p, dtype sums) {
  if (p.paired) return {.obstacle = "left and right"};
  fusion_match out = matching(t, p, sums).run();
  // Sums of integers are of a type in which cuBLASLt computes nothing further.
  if (out.fits && sums == dtype::i32 && !t.is_plain()) return {.obstacle = "an epilogue of integer sums"};
  return out;
}

}  // namespace troupe::matmul
