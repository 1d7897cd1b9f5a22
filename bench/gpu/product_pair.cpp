// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/gpu/product_pair.hpp>
#include <cmath>
#include <troupe/base/text/cat.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::bench {
namespace {

using epilogue::expression;
using kind = raw_matmul_epilogue;

// Returns the number of elements of the bias, or of C.
std::int64_t third_elements(const raw_matmul_problem& p) {
  return p.epilogue == kind::sum_rows ? std::int64_t{p.m} * p.n * p.count : p.n;
}

}  // namespace

product_pair::product_pair(const settings& s, const device& on, const raw_matmul_problem& p)
    : gpu(on),
      problem(p),
      x_(random_elements(elements_of(p.type).factor, std::int64_t{p.m} * p.k * p.count, 1)),
      y_(random_elements(elements_of(p.type).factor, std::int64_t{p.rows_of_b()} * p.k * p.count, 2)),
      z_(random_elements(elements_of(p.type).result, third_elements(p), 3)),
      raw_(s) {
  const auto [factor, result] = elements_of(p.type);
  a_ = matrix_copies(gpu, factor, p.m, p.k, p.count, x_);
  b_ = matrix_copies(gpu, factor, p.rows_of_b(), p.k, p.count, y_);
  d_ = matrix_copies(gpu, result, p.m, p.n, p.count);
  const bool has_bias =
      p.epilogue == kind::bias_relu || p.epilogue == kind::bias_gelu || p.epilogue == kind::bias_gelu_aux;
  if (has_bias) third_ = matrix_copies(gpu, result, 1, p.n, 1, z_);
  if (p.epilogue == kind::sum_rows) {
    third_ = matrix_copies(gpu, result, p.m, p.n, p.count, z_);
    second_ = matrix_copies(gpu, dtype::f32, p.m, 1, p.count);
  }
  if (p.epilogue == kind::bias_gelu_aux) second_ = matrix_copies(gpu, result, p.m, p.n, p.count);
  if (p.epilogue == kind::quantize) {
    second_ = matrix_copies(gpu, dtype::f32, 1, 1, p.count);
    scale_ = matrix_copies(gpu, dtype::f32, 1, 1, 1, std::as_bytes(std::span(&p.scale, 1)));
  }
  bare = raw_->matmuls(p, x_, y_, z_);
}

expression product_pair::epilogue(int which) const {
  using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::reduction_scope;
  const auto bias = [&] { return expression::reading(op::load_row, third_.in_epilogue(0)); };
  switch (problem.epilogue) {
    case kind::none:
      break;
    case kind::bias_relu:
      return relu(acc + bias());
    case kind::bias_gelu:
      return gelu_tanh(acc + bias());
    case kind::bias_gelu_aux:
      return gelu_tanh(expression::writing(acc + bias(), second_.in_epilogue(which)));
    case kind::swiglu:
      return silu(epilogue::left) * epilogue::right;
    case kind::sum_rows:
      return expression::reducing(acc + expression::reading(op::load, third_.in_epilogue(which)), reduction::sum,
                                  reduction_scope::row, second_.in_epilogue(which));
    case kind::quantize: {
      const expression noted =
          expression::reducing(acc, reduction::absolute_maximum, reduction_scope::all, second_.in_epilogue(which));
      return expression::converted(noted * expression::reading(op::load_number, scale_.in_epilogue(0)), d_.type());
    }
  }
  return acc;
}

std::string product_pair::difference(int which) const {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  const dtype factor = a_.type(), result = d_.type();
  const double k = problem.k, root = std::sqrt(k), scale = static_cast<double>(problem.scale);
  double share = 0, constant = 0;  // sums of integers are exact
  if (factor == dtype::f64)
    share = 0x1p-48, constant = 0x1p-50 * root;
  else if (factor == dtype::f32)  // factors are rounded or truncated to 10 bits
    share = 0x1p-9, constant = 0x1p-9 * root;
  else if (factor == dtype::bf16 || factor == dtype::f16)
    share = 0x1p-7, constant = 0x1p-13 * root;
  else if (factor == dtype::f8e4m3)  // sums of 32 products have 13 bits; f32 after 128 products or never
    share = 0x1p-7, constant = (problem.fast ? 0x1p-13 * k / 32 : 0x1p-10) * root;
  if (problem.epilogue == kind::swiglu) {
    // The raw side rounds both halves before it multiplies them, so the error of each is multiplied by the other half.
    share = 0x1p-5, constant *= 4 * root;
  }
  if (result == dtype::f8e4m3) share = 0x1p-3, constant = constant * scale + 0x1p-9;
  const auto compared = [&](const matrix_copies& ours, bool second, double of_number, double at_least) {
    const std::vector<std::byte> is = ours.download(gpu, which, most_bytes);
    std::vector<std::byte> expected(is.size());
    second ? bare->download_second(which, expected) : bare->download(which, expected);
    return difference_of(ours.type(), is, expected, of_number, at_least);
  };
  if (auto wrong = compared(d_, false, share, constant); !wrong.empty()) return "the products differ: " + wrong;
  if (second_.bytes_of_one() == 0) return {};
  // The raw side sums rounded values, each as large as `root`.
  const bool sums = problem.epilogue == kind::sum_rows;
  auto wrong = compared(second_, true, share, sums ? 0x1p-7 * root * std::sqrt(problem.n) : constant);
  return wrong.empty() ? wrong : "what the epilogues write differs: " + wrong;
}

}  // namespace troupe::bench
