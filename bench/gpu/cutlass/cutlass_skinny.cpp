// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products with few rows, whose time is that of reading the weights.
#include <algorithm>
#include <bench/case_list.hpp>
#include <bench/gpu/cutlass/cutlass_pair.hpp>
#include <bench/measures.hpp>
#include <cmath>
#include <random>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::bench {
namespace {

struct extents_of_weights {
  std::int64_t n, k, block;  ///< `block`: elements along k that share a scale
};

/// Weights of a small type with scales, in the layout of `cutlass::weights`, and activations in bf16.
class narrow_weights {
 public:
  narrow_weights(const device& gpu, dtype type, std::int64_t rows, const extents_of_weights& e)
      : gpu_(gpu),
        type_(type),
        rows_(rows),
        e_(e),
        x_(random_elements(dtype::bf16, rows * e.k, 1)),
        y_(random_elements(type, e.n * e.k / terms(), 2)),
        z_(random_elements(dtype::bf16, e.n * e.k / e.block, 3)) {
    const double of_one =
        static_cast<double>(rows * e.k * 2 + e.n * e.k / terms() + e.n * e.k / e.block * 2 + rows * e.n * 2);
    count = copies_beyond_cache(of_one), bytes = of_one;
    // All copies have the same values: each repeats `x_` from its beginning.
    a_ = matrix_copies(gpu, dtype::bf16, rows, e.k, 1, x_);
    for (int i = 0; i < count; ++i) {
      b_.emplace_back(gpu, type, e.n, e.k / terms(), 1, y_);
      scales_.emplace_back(gpu, dtype::bf16, e.n, e.k / e.block, 1, z_);
      d_.emplace_back(gpu, dtype::bf16, rows, e.n, 1);
    }
  }
  std::vector<cutlass::gemm> requests() const {
    std::vector<cutlass::gemm> out;
    for (std::size_t i = 0; i < b_.size(); ++i)
      out.push_back({.a = a_.matrix(0),
                     .b = b_[i].transposed(0),
                     .d = d_[i].matrix<out_any>(0),
                     .b_scales = scales_[i].transposed(0)});
    return out;
  }
  /// Compares some elements of the result with their definition.
  std::string difference() const {
    const std::vector<std::byte> is = d_.back().download(gpu_, 0, d_.back().bytes_of_one());
    std::mt19937 random(1);
    // The engine may round a weight times its scale to bf16.
    const double largest = type_ == dtype::i8 ? 127 : 6,
                 constant = 0x1p-7 * largest * std::sqrt(static_cast<double>(e_.k));
    constexpr int samples = 200;
    for (int i = 0; i < samples; ++i) {
      const std::int64_t row = i == 0 ? rows_ - 1 : static_cast<std::int64_t>(random()) % rows_,
                         column = i == 0 ? e_.n - 1 : static_cast<std::int64_t>(random()) % e_.n;
      std::vector<std::byte> expected(sizeof(bfloat16));
      epilogue::put_number(expected.data(), dtype::bf16, element(row, column));
      const auto ours =
          std::span(is).subspan(static_cast<std::size_t>(row * e_.n + column) * sizeof(bfloat16), sizeof(bfloat16));
      if (const auto wrong = difference_of(dtype::bf16, ours, expected, 0x1p-7, constant); !wrong.empty())
        return cat("row ", row, ", column ", column, " differs: ", wrong);
    }
    return {};
  }
  int count = 0;
  double bytes = 0;  ///< of the operands of one product

 private:
  std::int64_t terms() const noexcept { return type_ == dtype::f4e2m1x2 ? 2 : 1; }
  static double number(const std::vector<std::byte>& of, dtype t, std::int64_t i) {
    return epilogue::number_at(of.data() + static_cast<std::size_t>(i) * bytes_of(t) % of.size(), t);
  }
  double weight(std::int64_t i) const {
    if (terms() == 1) return number(y_, type_, i);
    const auto both =
        float4_e2m1x2::from_bits(std::to_integer<std::uint8_t>(y_[static_cast<std::size_t>(i / 2) % y_.size()]));
    return static_cast<double>(i % 2 == 0 ? both.first() : both.second());
  }
  double element(std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t l = 0; l < e_.k; ++l)
      sum += number(x_, dtype::bf16, row * e_.k + l) * weight(column * e_.k + l) *
             number(z_, dtype::bf16, (column * e_.k + l) / e_.block);
    return sum;
  }
  const device gpu_;
  const dtype type_;
  const std::int64_t rows_;
  const extents_of_weights e_;
  const std::vector<std::byte> x_, y_, z_;
  matrix_copies a_;
  std::vector<matrix_copies> b_, scales_, d_;
};

// Returns the seconds of a product with a measured plan, and the seconds in which a kernel reads as many bytes.
pair_of_medians against_reads(const settings& s, const device& gpu, std::span<const cutlass::gemm> requests,
                              double bytes, raw_side& raw) {
  gpu.ask(cutlass::prepare{requests.front(), measured_plans(s)}).get().value();
  const auto reads = raw->reads((static_cast<std::size_t>(bytes) + 15) / 16 * 16, static_cast<int>(requests.size()));
  return seconds_of_each(
      s.rounds(7), gpu, requests, times_of_turn(s, gpu, requests), [&](int i) { reads->read(i); },
      [&] { reads->synchronize(); });
}

void add_with_raw(case_list& all, const settings& s, const device& gpu, raw_matmul_type type, int m,
                  const extents_of_weights& e, raw_side& raw) {
  const product_pair both(s, gpu,
                          in_copies({.type = type,
                                     .m = m,
                                     .n = static_cast<int>(e.n),
                                     .k = static_cast<int>(e.k),
                                     .fast = type == raw_matmul_type::fp8}));
  const std::vector<cutlass::gemm> requests = gemms_of(both);
  const double bytes = bytes_of_operands(both.problem);
  const pair_of_medians seconds = against_reads(s, gpu, requests, bytes, raw);
  const std::span<const cutlass::gemm> each(requests);
  const pair_of_medians vendor = seconds_of_each(
      s.rounds(5), gpu, each, times_of_turn(s, gpu, each), [&](int i) { both.bare->multiply(i); },
      [&] { both.bare->synchronize(); });
  char name[60];
  std::snprintf(name, sizeof name, "m = %d (%.2f of cuBLASLt)", m, vendor.raw / vendor.ours);
  all.add(name, bytes, 1, seconds, both.difference(both.problem.count - 1));
}

}  // namespace

figures run_cutlass_skinny(const settings& s) {
  const bool small = s.engine == "host";
  const device_under_test gpu(s, for_cutlass());
  raw_side raw(s);
  const extents_of_weights e = small ? extents_of_weights{32, 64, 32} : extents_of_weights{8192, 8192, 128};
  constexpr int usual[] = {1, 4, 16, 64}, few[] = {1, 16};
  const std::span<const int> rows = s.quick && !small ? std::span<const int>(few) : std::span<const int>(usual);
  case_list all(1e9, "GB/s");
  for (const raw_matmul_type t : {raw_matmul_type::bf16, raw_matmul_type::fp8}) {
    all.begin_line(t == raw_matmul_type::bf16 ? "bf16" : "e4m3");
    for (const int m : rows) add_with_raw(all, s, *gpu, t, m, e, raw);
  }
  for (const dtype t : {dtype::i8, dtype::f4e2m1x2}) {
    all.begin_line(cat("bf16 and weights in ", to_string(t), " with scales"));
    for (const int m : rows) {
      const narrow_weights w(*gpu, t, m, e);
      const std::vector<cutlass::gemm> requests = w.requests();
      const pair_of_medians seconds = against_reads(s, *gpu, requests, w.bytes, raw);
      all.add(cat("m = ", m), w.bytes, 1, seconds, w.difference());
    }
  }
  return all.total(cutlass_skinny.goal.limit);
}

}  // namespace troupe::bench
