// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bench/gpu/product_pair.hpp>
#include <bench/jit_kernels.hpp>
#include <cmath>
#include <troupe/base/cat.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::bench {
namespace {

using epilogue::expression;
using kind = raw_matmul_epilogue;

constexpr std::int64_t random_count = 1 << 20;  // larger operands repeat these numbers

// The elements of the bias, or of C.
std::int64_t third_elements(const raw_matmul_problem& p) {
  return p.epilogue == kind::sum_rows ? std::int64_t{p.m} * p.n * p.count : p.n;
}

}  // namespace

std::vector<std::byte> random_elements(dtype type, std::int64_t count, std::uint64_t seed) {
  count = std::min(count, random_count);
  const bool two = type == dtype::f4e2m1x2;
  const std::vector<float> values = random_floats(two ? 2 * count : count, seed);
  std::vector<std::byte> out(static_cast<std::size_t>(count) * bytes_of(type));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (two) {
      constexpr float largest = 6;
      out[i] = std::bit_cast<std::byte>(
          float4_e2m1x2(float4_e2m1(largest * values[2 * i]), float4_e2m1(largest * values[2 * i + 1])));
    } else {
      epilogue::put_number(out.data() + i * bytes_of(type), type, type == dtype::i8 ? 127 * values[i] : values[i]);
    }
  }
  return out;
}

matrix_copies::matrix_copies(const device& gpu, dtype type, std::int64_t rows, std::int64_t columns, int count,
                             std::span<const std::byte> repeated)
    : type_(type), rows_(rows), columns_(columns), bytes_(static_cast<std::size_t>(rows * columns) * bytes_of(type)) {
  constexpr std::size_t alignment = 256;
  distance_ = (bytes_ + alignment - 1) / alignment * alignment;
  memory_ = gpu.alloc<std::byte>(distance_ * static_cast<std::size_t>(count));
  if (repeated.empty()) return;
  // They go on where the matrix before ended, as those of the raw side.
  const std::size_t all = bytes_ * static_cast<std::size_t>(count), line = distance_ == bytes_ ? all : bytes_;
  constexpr std::size_t most = std::size_t{64} << 20;  // of an upload
  std::vector<std::byte> tile;
  do tile.insert(tile.end(), repeated.begin(), repeated.end());
  while (tile.size() + repeated.size() <= std::min(all, most));
  for (std::size_t done = 0; done < all;) {
    const std::size_t in_line = done % line, from = done % tile.size(),
                      here = std::min(line - in_line, tile.size() - from);
    const auto first = tile.begin() + static_cast<std::ptrdiff_t>(from);
    gpu.upload(memory_.slice(done / line * distance_ + in_line, here),
               std::vector<std::byte>(first, first + static_cast<std::ptrdiff_t>(here)))
        .get()
        .value();
    done += here;
  }
}
memory_range matrix_copies::range(int which) const {
  return memory_.slice(static_cast<std::size_t>(which) * distance_, bytes_).memory();
}
std::vector<std::byte> matrix_copies::download(const device& gpu, int which, std::size_t most_bytes) const {
  return gpu.download(memory_.slice(static_cast<std::size_t>(which) * distance_, std::min(bytes_, most_bytes)))
      .get()
      .value();
}

std::string difference_of(dtype type, std::span<const std::byte> ours, std::span<const std::byte> theirs, double share,
                          double constant) {
  for (std::size_t at = 0; at < ours.size(); at += bytes_of(type)) {
    const double x = epilogue::number_at(ours.data() + at, type), y = epilogue::number_at(theirs.data() + at, type);
    if (!(std::abs(x - y) <= share * std::abs(y) + constant))
      return cat("element ", at / bytes_of(type), " is ", std::to_string(x), ", expected ", std::to_string(y));
  }
  return {};
}

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
  using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::span_of;
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
                                  span_of::row, second_.in_epilogue(which));
    case kind::quantize: {
      const expression noted =
          expression::reducing(acc, reduction::absolute_maximum, span_of::all, second_.in_epilogue(which));
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
  else if (factor == dtype::f32)  // factors are rounded to 10 bits, or cut
    share = 0x1p-9, constant = 0x1p-9 * root;
  else if (factor == dtype::bf16 || factor == dtype::f16)
    share = 0x1p-7, constant = 0x1p-13 * root;
  else if (factor == dtype::f8e4m3)  // 13 bits of 32 terms are added to, in f32 after 128 terms or not at all
    share = 0x1p-7, constant = (problem.fast ? 0x1p-13 * k / 32 : 0x1p-10) * root;
  if (problem.epilogue == kind::swiglu) {
    // The raw side rounds both halves first, whose product has their errors times the other half.
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
  // The raw side sums rounded numbers, each as large as `root`.
  const bool sums = problem.epilogue == kind::sum_rows;
  auto wrong = compared(second_, true, share, sums ? 0x1p-7 * root * std::sqrt(problem.n) : constant);
  return wrong.empty() ? wrong : "what the epilogues write differs: " + wrong;
}

}  // namespace troupe::bench
