// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <troupe/cutlass/cells/functor.hpp>
#include <troupe/cutlass/cells/neighbours.hpp>
#include <troupe/cutlass/problem.hpp>
#include <vector>

namespace troupe::cutlass {

/// How a factor is stored.
struct factor_form {
  dtype type{};
  cutlass::neighbours neighbours{};
  std::uint8_t alignment = 0;  ///< bytes, at most 16, of which each line or term of neighbours begins at a multiple
  dtype scale_type{};
  std::uint32_t scale_terms = 0, scale_lines = 0;  ///< of a block
  friend bool operator==(const factor_form&, const factor_form&) = default;
};

/// What the code of a kernel depends on, but for its plan. With other extents, distances, addresses or numbers it stays
/// the same.
struct form {
  factor_form a, b;
  dtype d{}, sums{};
  std::int8_t d_way = 0, d_way_across = 0;  ///< of neighbours in a row, and of those in a column: see memory_kind
  std::uint8_t paired = 0, batched = 0;
  std::uint8_t precision = 0, accumulation = 0;
  /// Of pairs: bytes to which the right half of B begins, if its lines are neighbours. Whether there are groups of
  /// rows.
  std::uint8_t pair_alignment = 16, grouped = 0, reserved[2] = {};
  std::uint32_t numbers = 0;
  std::uint32_t nodes = 0, memories = 0;

  /// Returns true for sums of 8-bit floats that are added to a float now and then.
  bool adds_precisely() const noexcept {
    return matmul::is_float8(a.type) && matmul::is_float8(b.type) &&
           accumulation == static_cast<std::uint8_t>(matmul::accumulation::precise);
  }
  /// Returns true for a factor of f16 or bf16, and one of a narrower type that is widened to it.
  bool is_mixed() const noexcept { return is_narrow(a) != is_narrow(b) && (is_half(a) || is_half(b)); }
  static bool is_half(const factor_form& f) noexcept { return f.type == dtype::f16 || f.type == dtype::bf16; }
  static bool is_narrow(const factor_form& f) noexcept { return bytes_of(f.type) == 1; }
  /// Returns true if a plan that is `swapped`, or not, writes neighbours of D together: they lie in a row of the
  /// kernel. What cannot be swapped is fine as it is.
  bool lies_along(bool swapped) const noexcept {
    return paired != 0 || grouped != 0 || swapped == (d_way <= 0 && d_way_across > 0);
  }
  friend bool operator==(const form&, const form&) = default;
};
static_assert(sizeof(factor_form) == 12 && std::has_unique_object_representations_v<form>);

/// A form with its epilogue. The epilogue is in a normal form: each part of the product, and each matrix that is
/// loaded, has a factor, which is 1 if none was given, so that another factor needs no other kernel.
struct whole_form {
  form head;
  std::vector<epilogue::node> nodes;
  std::vector<memory_kind> memory, memory_across;
  /// Where each number comes from: an index among those of the request; `one`: it is 1.
  static constexpr std::uint8_t one = 0xff;
  std::vector<std::uint8_t> numbers;
  /// The node that each operand in memory belongs to, among the request's.
  std::vector<std::uint8_t> node_of_memory;

  /// The same as the transpose: see problem::swapped.
  whole_form swapped() const;
  /// The same with other places of the factors: rows of the result are lines of the second.
  whole_form crossed() const;
  /// Appends all that the code depends on.
  void write_key(std::string& to) const;
};

/// Returns the largest power of two, at most 16, that divides all of these.
std::uint8_t alignment_of(std::initializer_list<std::int64_t> all) noexcept;

whole_form form_of(const problem& p);
/// Whether the kernel of a plan swaps the factors, but not rows and columns of the result.
bool is_crossed(const form& f, const plan& p) noexcept;
/// The form as the kernel of a plan sees it.
whole_form form_of_kernel(const whole_form& f, const plan& p);
/// Appends what `form_of` depends on, quickly.
void write_key(std::string& to, const problem& p);

}  // namespace troupe::cutlass
