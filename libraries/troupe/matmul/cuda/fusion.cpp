// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/matmul/cuda/fusion.hpp>

namespace troupe::matmul {
namespace {

using epilogue::node, epilogue::op, epilogue::reduction, epilogue::reduction_scope, epilogue::tree,
    epilogue::memory_operand;

// One summand of the tree: the product of these factors.
struct factors {
  double number = 1;
  bool by_value = false;  // true if numbers of the request, and not only signs, are multiplied into `number`
  std::array<operand_index, 3> in_memory{none, none, none};
  std::size_t numbers_in_memory = 0;
  int products = 0;
  operand_index row_vector = none, column_vector = none;  // operands with a number for each row, and for each column
  operand_index matrix = none, derivative_at = none;
  // Returns true if a number by value multiplies the other factors. Depends on the structure alone, not on the number.
  bool is_scaled() const noexcept { return by_value || number != 1; }
};

class matching {
 public:
  matching(const tree& t, const problem& p, dtype sums) noexcept : tree_(t), problem_(p), sums_(sums) {}

  epilogue_fusion run() {
    const bool fine = root(&tree_.root());
    return {fine, epilogue_, std::move(obstacle_)};
  }

 private:
  const node* argument(const node& n, std::size_t i) const noexcept { return &tree_.nodes()[n.arguments[i]]; }
  const memory_operand& memory(operand_index i) const noexcept { return tree_.memory()[static_cast<std::size_t>(i)]; }
  static operand_index operand(const node& n) noexcept { return static_cast<operand_index>(n.operand); }
  bool refuse(std::string what) {
    obstacle_ = std::move(what);
    return false;
  }
  bool is(const node* n, op what) const noexcept { return n->what == what; }
  // Returns true if the node loads a number, in the type of the sums, that all products share.
  bool is_scalar(const node& n) const noexcept {
    return n.what == op::load_number && memory(operand(n)).type == sums_ &&
           (problem_.batch == 1 || memory(operand(n)).batch_stride == 0);
  }
  // Returns true if the load has one element for each row of the stored result.
  bool is_along_rows(op what) const noexcept { return what == (problem_.transposed ? op::load_row : op::load_column); }
  // Returns the stride of a vector, which has one element for each row, or for each column.
  static std::int64_t stride_of(const node& n, const memory_operand& m) noexcept {
    return n.what == op::load_row || (n.what == op::reduce && n.over == reduction_scope::column) ? m.shape.column_stride
                                                                                                 : m.shape.row_stride;
  }

  bool root(const node* n) {
    // A final conversion to D's type is left out, because the store rounds and saturates in the same way.
    if (is(n, op::convert) && n->type == problem_.d.type) n = argument(*n, 0);
    if (is_float8(problem_.d.type)) {
      n = without_d_scale(n);
      if (is(n, op::reduce) && n->combine == reduction::absolute_maximum && n->over == reduction_scope::all &&
          memory(operand(*n)).type == dtype::f32 && problem_.batch == 1) {
        epilogue_.amax = operand(*n);
        n = argument(*n, 0);
      }
    }
    if (is(n, op::reduce) && n->combine == reduction::sum && is_per_row(*n) &&
        stride_of(*n, memory(operand(*n))) == 1) {
      epilogue_.bias_gradient = operand(*n);
      n = argument(*n, 0);
    }
    if (is(n, op::relu) || is(n, op::gelu_tanh)) {
      epilogue_.activation = is(n, op::relu) ? fused_epilogue::activation::relu : fused_epilogue::activation::gelu;
      n = argument(*n, 0);
      if (is(n, op::store) && epilogue_.activation == fused_epilogue::activation::gelu) {
        if (!is_matrix(operand(*n))) return refuse("store");
        epilogue_.aux = operand(*n);
        n = argument(*n, 0);
      }
    }
    if (!sum(n)) return false;
    if (products_ != 1) return refuse(products_ == 0 ? "no acc" : "acc in two summands");
    const bool backward = epilogue_.derivative_at != none;
    if (epilogue_.bias_gradient != none && !backward) return refuse("sum");
    if (backward &&
        (epilogue_.c != none || epilogue_.bias != none || epilogue_.activation != fused_epilogue::activation::none))
      return refuse("d_gelu_tanh in a sum or before an activation");
    return true;
  }

  // Returns true if the reduction has one result for each row of the stored result.
  bool is_per_row(const node& n) const noexcept {
    return n.over == (problem_.transposed ? reduction_scope::column : reduction_scope::row);
  }

  // If a number in memory multiplies all of D, not just the product, takes it as d_scale and returns the other factor.
  const node* without_d_scale(const node* n) {
    if (!is(n, op::multiply)) return n;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const node *const scale = argument(*n, i), *const rest = argument(*n, 1 - i);
      const bool is_all = is(rest, op::relu) || is(rest, op::gelu_tanh) || is(rest, op::add) || is(rest, op::reduce);
      if (is_scalar(*scale) && is_all) {
        epilogue_.d_scale = operand(*scale);
        return rest;
      }
    }
    return n;
  }

  // Returns true if the operand is stored column by column, as D is.
  bool is_matrix(operand_index i) const noexcept {
    const epilogue::memory_operand& m = memory(i);
    const bool columns_apart = problem_.column_stride_of(m.shape) >= problem_.d.rows || problem_.d.columns == 1;
    return (problem_.row_stride_of(m.shape) == 1 || problem_.d.rows == 1) && columns_apart;
  }

  bool sum(const node* n) {
    if (is(n, op::add)) return sum(argument(*n, 0)) && sum(argument(*n, 1));
    if (is(n, op::subtract)) {
      if (!sum(argument(*n, 0))) return false;
      return summand(argument(*n, 1), -1);
    }
    return summand(n, 1);
  }

  bool summand(const node* n, double sign) {
    factors f{.number = sign};
    if (!collect(n, f)) return false;
    if (f.products == 1) return product_summand(f);
    if (f.products > 1) return refuse("a product of acc and acc");
    if (f.derivative_at != none) return refuse("d_gelu_tanh without acc");
    if (f.matrix != none && f.row_vector == none && f.column_vector == none && f.numbers_in_memory <= 1) {
      if (epilogue_.c != none) return refuse("two matrices that are added");
      if (!is_matrix(f.matrix)) return refuse("a matrix whose rows and columns are not stored as those of the result");
      epilogue_.c = f.matrix, epilogue_.beta = f.number, epilogue_.beta_in_memory = f.in_memory[0];
      if (f.numbers_in_memory == 1 && f.is_scaled()) return refuse("a product of a number by value and one in memory");
      return true;
    }
    if (f.row_vector != none && f.column_vector == none && f.matrix == none && f.numbers_in_memory == 0 &&
        !f.is_scaled()) {
      if (epilogue_.bias != none) return refuse("two vectors that are added");
      epilogue_.bias = f.row_vector;
      return true;
    }
    return refuse(f.column_vector != none ? "a vector with one element for each contiguous line of the result"
                  : f.matrix != none      ? "load"
                                          : "a number that is added");
  }

  bool product_summand(const factors& f) {
    ++products_;
    if (f.matrix != none) return refuse("a matrix that multiplies acc");
    epilogue_.derivative_at = f.derivative_at;
    epilogue_.alpha = f.number;
    const bool narrow = is_float8(problem_.a.type) && !problem_.has_scales();
    if (f.row_vector != none || f.column_vector != none) {
      if (!narrow) return refuse("a vector that multiplies acc");
      if (f.row_vector == none || f.column_vector == none || f.numbers_in_memory != 0 || problem_.batch != 1)
        return refuse("a vector that multiplies acc without one vector for the rows and one for the columns");
      epilogue_.row_scales = f.row_vector, epilogue_.column_scales = f.column_vector;
      return true;
    }
    if (narrow) {
      epilogue_.a_scale = f.in_memory[0], epilogue_.b_scale = f.in_memory[1];
      if (f.numbers_in_memory == 3) {
        // The third number becomes D's scale. cuBLASLt takes amax before that scale, this epilogue after it.
        if (epilogue_.d_scale != none || epilogue_.amax != none || !is_float8(problem_.d.type))
          return refuse("three numbers in memory that multiply acc");
        epilogue_.d_scale = f.in_memory[2];
      }
      return true;
    }
    if (f.numbers_in_memory > 1) return refuse("two numbers in memory that multiply acc");
    if (f.numbers_in_memory == 1 && f.is_scaled()) return refuse("a product of a number by value and one in memory");
    epilogue_.alpha_in_memory = f.in_memory[0];
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
        if (f.numbers_in_memory == f.in_memory.size()) return refuse("a product of four numbers in memory");
        f.in_memory[f.numbers_in_memory++] = operand(*n);
        return true;
      case op::load_row:
      case op::load_column: {
        operand_index& slot = is_along_rows(n->what) ? f.row_vector : f.column_vector;
        const memory_operand& m = memory(operand(*n));
        if (slot != none || (stride_of(*n, m) != 1 && problem_.d.rows != 1))
          return refuse(std::string(to_string(n->what)));
        slot = operand(*n);
        return true;
      }
      case op::load:
        if (f.matrix != none) return refuse("a product of two matrices in memory");
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
  fused_epilogue epilogue_;
  int products_ = 0;
  std::string obstacle_;
};

}  // namespace

epilogue_fusion match(const epilogue::tree& t, const problem& p, dtype sums) {
  if (p.paired) return {.obstacle = "left and right"};
  epilogue_fusion out = matching(t, p, sums).run();
  // cuBLASLt computes no epilogue of integer sums.
  if (out.fits && sums == dtype::i32 && !t.is_plain()) return {.obstacle = "operations on integer sums"};
  return out;
}

}  // namespace troupe::matmul
