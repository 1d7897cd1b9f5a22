// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bench/raw/testing/stand_in_products.hpp>
#include <cmath>
#include <numbers>
#include <set>
#include <troupe/epilogue/numbers.hpp>
#include <vector>

namespace troupe::bench {
namespace {

using kind = raw_matmul_epilogue;

/// A list of values that repeat.
class numbers {
 public:
  numbers(std::span<const std::byte> of, dtype type) : type_(type), bytes_(of.begin(), of.end()) {}
  double at(std::int64_t i) const {
    const std::size_t size = bytes_of(type_);
    return epilogue::number_at(bytes_.data() + static_cast<std::size_t>(i) % (bytes_.size() / size) * size, type_);
  }

 private:
  dtype type_;
  std::vector<std::byte> bytes_;
};

double dot(const numbers& a, std::int64_t first_a, const numbers& b, std::int64_t first_b, int k) {
  double sum = 0;
  for (int l = 0; l < k; ++l) sum += a.at(first_a + l) * b.at(first_b + l);
  return sum;
}
double gelu_by_tanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
void put(std::span<std::byte> to, std::int64_t i, dtype t, double value) {
  epilogue::put_number(to.data() + static_cast<std::size_t>(i) * bytes_of(t), t, value);
}
// Makes one element so wrong that every comparison must detect it.
void spoil(std::span<std::byte> result, dtype t) {
  const auto last = static_cast<std::int64_t>(result.size() / bytes_of(t)) - 1;
  const double is = epilogue::number_at(result.data() + static_cast<std::size_t>(last) * bytes_of(t), t);
  put(result, last, t, is > 0 ? -100 : 100);
}

class matmuls_by_definition final : public raw_matmuls {
 public:
  matmuls_by_definition(const raw_matmul_problem& p, std::span<const std::byte> a, std::span<const std::byte> b,
                        std::span<const std::byte> third, const wrong_results& wrong)
      : p_(p),
        types_(elements_of(p.type)),
        a_(a, types_.factor),
        b_(b, types_.factor),
        third_(third, types_.result),
        wrong_(wrong) {}
  std::array<std::uint64_t, 8> algorithm() const override { return {}; }
  int calls() const override { return p_.epilogue == kind::swiglu || p_.epilogue == kind::sum_rows ? 2 : 1; }
  void multiply(int which) override { multiplied_.insert(which); }
  void poll_until_done() override {}
  void synchronize() override {}
  void download(int which, std::span<std::byte> d) override {
    std::ranges::fill(d, std::byte{0});
    if (!multiplied_.contains(which)) return;
    const auto count = static_cast<std::int64_t>(d.size() / bytes_of(types_.result));
    for (std::int64_t i = 0; i < count; ++i) put(d, i, types_.result, element(which, i / p_.n, i % p_.n));
    if (wrong_.first) spoil(d, types_.result);
  }
  void download_second(int which, std::span<std::byte> to) override {
    double largest = 0;
    for (int row = 0; row < p_.m; ++row) {
      double sum = 0;
      for (int column = 0; column < p_.n; ++column) {
        const double x = product(which, row, column);
        sum += element(which, row, column), largest = std::max(largest, std::abs(x));
        if (p_.epilogue == kind::bias_gelu_aux)
          put(to, std::int64_t{row} * p_.n + column, types_.result, x + third_.at(column));
      }
      if (p_.epilogue == kind::sum_rows) put(to, row, dtype::f32, sum);
    }
    if (p_.epilogue == kind::quantize) put(to, 0, dtype::f32, largest);
    if (wrong_.second) spoil(to, p_.epilogue == kind::bias_gelu_aux ? types_.result : dtype::f32);
  }

 private:
  double product(int which, std::int64_t row, std::int64_t column) const {
    return dot(a_, (std::int64_t{which} * p_.m + row) * p_.k, b_,
               (std::int64_t{which} * p_.rows_of_b() + column) * p_.k, p_.k);
  }
  double element(int which, std::int64_t row, std::int64_t column) const {
    const double x = product(which, row, column);
    switch (p_.epilogue) {
      case kind::none:
        break;
      case kind::bias_relu:
        return std::max(0., x + third_.at(column));
      case kind::bias_gelu:
      case kind::bias_gelu_aux:
        return gelu_by_tanh(x + third_.at(column));
      case kind::swiglu:
        return x / (1 + std::exp(-x)) * product(which, row, column + p_.n);
      case kind::sum_rows:
        return x + third_.at((std::int64_t{which} * p_.m + row) * p_.n + column);
      case kind::quantize:
        return x * static_cast<double>(p_.scale);
    }
    return x;
  }
  const raw_matmul_problem p_;
  const raw_matmul_elements types_;
  const numbers a_, b_, third_;
  const wrong_results wrong_;
  std::set<int> multiplied_;
};

class groups_by_definition final : public raw_groups {
 public:
  groups_by_definition(std::span<const std::int32_t> sizes, int n, int k, std::span<const std::byte> a,
                       std::span<const std::byte> b, bool is_wrong)
      : sizes_(sizes.begin(), sizes.end()), n_(n), k_(k), a_(a, dtype::bf16), b_(b, dtype::bf16), is_wrong_(is_wrong) {}
  void multiply_at_once() override {}
  void multiply_one_by_one() override {}
  void synchronize() override {}
  void download(std::span<std::byte> d) override {
    std::int64_t row = 0, group = 0;
    for (const std::int32_t size : sizes_) {
      for (std::int32_t i = 0; i < size; ++i, ++row)
        for (int column = 0; column < n_; ++column)
          put(d, row * n_ + column, dtype::bf16, dot(a_, row * k_, b_, (group * n_ + column) * k_, k_));
      ++group;
    }
    if (is_wrong_) spoil(d, dtype::bf16);
  }

 private:
  const std::vector<std::int32_t> sizes_;
  const int n_, k_;
  const numbers a_, b_;
  const bool is_wrong_;
};

class no_reads final : public raw_reads {
 public:
  void read(int) override {}
  void synchronize() override {}
};

}  // namespace

std::unique_ptr<raw_matmuls> make_matmuls_stand_in(const raw_matmul_problem& p, std::span<const std::byte> a,
                                                   std::span<const std::byte> b, std::span<const std::byte> third,
                                                   const wrong_results& wrong) {
  return std::make_unique<matmuls_by_definition>(p, a, b, third, wrong);
}
std::unique_ptr<raw_groups> make_groups_stand_in(std::span<const std::int32_t> sizes, int n, int k,
                                                 std::span<const std::byte> a, std::span<const std::byte> b,
                                                 bool is_wrong) {
  return std::make_unique<groups_by_definition>(sizes, n, k, a, b, is_wrong);
}
std::unique_ptr<raw_reads> make_reads_stand_in() { return std::make_unique<no_reads>(); }

}  // namespace troupe::bench
