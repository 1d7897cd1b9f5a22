// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bench/device_under_test.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <span>
#include <string>
#include <troupe/base/clock.hpp>
#include <troupe/epilogue/expression.hpp>
#include <troupe/request/any_operand.hpp>
#include <vector>

namespace troupe::bench {

/// Returns random elements: numbers from -1 to 1, or from the least to the largest of i8 and f4e2m1x2. Operands with
/// more of them repeat these.
std::vector<std::byte> random_elements(dtype type, std::int64_t count, std::uint64_t seed);

/// Matrices in the memory of a device, stored row by row: one for each of some products.
class matrix_copies {
 public:
  matrix_copies() = default;
  /// `repeated`: their elements; none: they are only written.
  matrix_copies(const device& gpu, dtype type, std::int64_t rows, std::int64_t columns, int count,
                std::span<const std::byte> repeated = {});

  memory_range range(int which) const;
  template <class Operand = in_any>
  Operand matrix(int which) const {
    return Operand(range(which), {.rank = 2, .extents = {rows_, columns_}, .strides = {columns_, 1}}, type_);
  }
  in_any transposed(int which) const {
    return in_any(range(which), {.rank = 2, .extents = {columns_, rows_}, .strides = {1, columns_}}, type_);
  }
  epilogue::expression::memory_operand in_epilogue(int which) const {
    return {.range = range(which), .shape = {rows_, columns_, columns_, 1}, .type = type_};
  }
  std::vector<std::byte> download(const device& gpu, int which, std::size_t most_bytes) const;
  std::size_t bytes_of_one() const noexcept { return bytes_; }
  dtype type() const noexcept { return type_; }

 private:
  dtype type_{};
  std::int64_t rows_ = 0, columns_ = 0;
  std::size_t bytes_ = 0, distance_ = 0;
  buffer<std::byte> memory_;
};

/// Returns how elements differ, "" if they do not: by more than a share of the number and a constant.
std::string difference_of(dtype type, std::span<const std::byte> ours, std::span<const std::byte> theirs, double share,
                          double constant);

/// Both sides of a comparison of products, with the same numbers: D = A * B^T.
class product_pair {
 public:
  product_pair(const settings& s, const device& on, const raw_matmul_problem& p);

  in_any a(int which) const { return a_.matrix(which); }
  in_any b(int which) const { return b_.transposed(which); }
  out_any d(int which) const { return d_.matrix<out_any>(which); }
  /// The epilogue that the raw side computes.
  epilogue::expression epilogue(int which) const;
  double operations() const noexcept { return 2. * problem.m * problem.rows_of_b() * problem.k; }
  /// Returns how the results of a product that both sides computed differ; "" if they do not.
  std::string difference(int which = 0) const;

  const device gpu;
  const raw_matmul_problem problem;

 private:
  const std::vector<std::byte> x_, y_, z_;
  raw_side raw_;
  matrix_copies a_, b_, d_, third_, second_, scale_;

 public:
  std::unique_ptr<raw_matmuls> bare;  // after the raw side, which it belongs to
};

/// Runs `times` of some requests, one after another, and waits for the last.
template <class R>
void run_in_turn(const device& gpu, std::span<const R> requests, int times) {
  for (int i = 0; i < times - 1; ++i) gpu.tell(requests[static_cast<std::size_t>(i) % requests.size()]);
  gpu.ask(requests[static_cast<std::size_t>(times - 1) % requests.size()]).get().value();
}

/// Returns the seconds of one request and of one `raw(i)`, which `wait()` waits for. Requests are used in turn, `times`
/// of them in a turn of each side.
template <class R, class Raw, class Wait>
pair_of_medians seconds_of_each(int rounds, const device& gpu, std::span<const R> requests, int times, Raw&& raw,
                                Wait&& wait) {
  const auto each = [times](std::int64_t start) { return static_cast<double>(now_ns() - start) / 1e9 / times; };
  const int count = static_cast<int>(requests.size());
  return interleaved(
      rounds,
      [&] {
        const std::int64_t start = now_ns();
        run_in_turn(gpu, requests, times);
        return each(start);
      },
      [&] {
        const std::int64_t start = now_ns();
        for (int i = 0; i < times; ++i) raw(i % count);
        wait();
        return each(start);
      });
}

/// Returns how many requests take a tenth of a second: a GPU may take a millisecond to turn to another process. On the
/// host engine, which tests use, few are enough.
template <class R>
int times_of_turn(const settings& s, const device& gpu, std::span<const R> requests) {
  if (s.engine == "host") return static_cast<int>(requests.size());
  constexpr double turn = 0.1;
  constexpr int most = 8000;  // less than the mailboxes of these measures hold
  run_in_turn(gpu, requests, 3);
  for (int times = 3;; times *= 4) {
    const std::int64_t start = now_ns();
    run_in_turn(gpu, requests, times);
    const double took = static_cast<double>(now_ns() - start) / 1e9;
    if (took > turn / 10 || 4 * times > most)
      return static_cast<int>(std::clamp(times * turn / took, static_cast<double>(requests.size()), double{most}));
  }
}

/// Returns how many copies of operands with so many bytes a second cache cannot hold.
inline int copies_beyond_cache(double bytes) {
  constexpr double of_all = 256 << 20;  // several times as much as the largest second cache of the chips measured here
  return static_cast<int>(std::clamp(std::ceil(of_all / bytes), 2., 64.));
}

}  // namespace troupe::bench
