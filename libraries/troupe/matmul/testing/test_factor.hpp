// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>
#include <troupe/base/float4.hpp>
#include <troupe/matmul/shapes.hpp>
#include <troupe/matmul/testing/stored_matrices.hpp>

namespace troupe::matmul::testing {

/// The type of the scales of a factor, and the block of numbers that share a scale.
struct test_scales {
  dtype type;
  scale_block block;
};

/// A factor of a product in the memory of a test, or a batch of factors. Its lines along k are the rows of A or the
/// columns of B. Filled with small integers, so that every sum of their products is exact in every type of sums, or
/// with random 4-bit numbers; scales are powers of 2.
class test_factor {
 public:
  struct layout {
    dtype type;
    std::int64_t count, lines, k;
    bool lines_are_rows;
    stored_matrices::storing how = stored_matrices::storing::anyhow;
    std::optional<test_scales> scales = {};
  };
  test_factor(const layout& f, numerics::random_source& random)
      : layout_(f),
        elements_(f.type, f.count, f.lines_are_rows ? f.lines : f.k / k_per_element(f.type),
                  f.lines_are_rows ? f.k / k_per_element(f.type) : f.lines, random, f.how) {
    for (std::int64_t w = 0; w < f.count; ++w)
      for (std::int64_t l = 0; l < f.lines; ++l)
        for (std::int64_t e = 0; e < f.k / k_per_element(f.type); ++e) {
          if (f.type == dtype::f4e2m1x2)
            *static_cast<std::uint8_t*>(place(w, l, e)) = static_cast<std::uint8_t>(random.between(0, 255));
          else
            write(place(w, l, e), f.type, {whole(random), epilogue::is_complex(f.type) ? whole(random) : 0});
        }
    elements_.remember();
    if (!f.scales) return;
    const std::int64_t across = blocks(f.lines, f.scales->block.lines), along = blocks(f.k, f.scales->block.k);
    scales_.emplace(f.scales->type, f.count, f.lines_are_rows ? across : along, f.lines_are_rows ? along : across,
                    random);
    scales_->fill([&] { return element_value{std::ldexp(1.0, static_cast<int>(random.between(-2, 2))), 0}; });
  }
  /// Replaces all elements with random numbers in (-1, 1).
  void make_random(numerics::random_source& random) {
    elements_.fill([&] { return element_value{random.value(), 0}; });
  }
  /// Returns number `k` of a line of factor `w`, times its scale.
  double at(std::int64_t w, std::int64_t line, std::int64_t k) {
    w = layout_.count == 1 ? 0 : w;
    void* const from = place(w, line, k / k_per_element(layout_.type));
    double out = 0;
    if (layout_.type == dtype::f4e2m1x2) {
      const auto pair = float4_e2m1x2::from_bits(*static_cast<std::uint8_t*>(from));
      out = static_cast<double>(static_cast<float>(k % 2 == 0 ? pair.first() : pair.second()));
    } else {
      out = read(from, layout_.type).real;
    }
    if (!scales_) return out;
    const std::int64_t l = line / layout_.scales->block.lines, block = k / layout_.scales->block.k;
    return out * (layout_.lines_are_rows ? scales_->get(w, l, block) : scales_->get(w, block, l)).real;
  }
  /// Returns all numbers of factor `w` times their scales, line by line.
  std::vector<double> values(std::int64_t w) {
    std::vector<double> out;
    for (std::int64_t l = 0; l < layout_.lines; ++l)
      for (std::int64_t k = 0; k < layout_.k; ++k) out.push_back(at(w, l, k));
    return out;
  }
  /// Returns the operand, with an axis for the batch if `as_batch`.
  in_any elements(bool as_batch) { return elements_.operand<access_mode::read>(as_batch); }
  std::optional<in_any> scales(bool as_batch) {
    return scales_ ? std::optional(scales_->operand<access_mode::read>(as_batch)) : std::nullopt;
  }
  bool is_untouched() { return elements_.untouched_outside() && (!scales_ || scales_->untouched_outside()); }

 private:
  static double whole(numerics::random_source& random) { return static_cast<double>(random.between(-3, 3)); }
  static std::int64_t blocks(std::int64_t n, std::int64_t of) { return (n + of - 1) / of; }
  void* place(std::int64_t w, std::int64_t line, std::int64_t element) {
    return layout_.lines_are_rows ? elements_.place(w, line, element) : elements_.place(w, element, line);
  }

  layout layout_;
  stored_matrices elements_;
  std::optional<stored_matrices> scales_;
};

/// The extents, types and storage of a product.
struct test_product {
  using storing = stored_matrices::storing;
  dtype a, b, d;
  std::int64_t m, n, k, batch = 1;
  bool shares_a = false, shares_b = false;
  storing a_stored = storing::anyhow, b_stored = storing::anyhow, d_stored = storing::anyhow;
  std::optional<test_scales> a_scales = {}, b_scales = {};
};

}  // namespace troupe::matmul::testing
