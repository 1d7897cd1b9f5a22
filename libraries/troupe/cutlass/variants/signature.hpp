// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <troupe/cutlass/problems/problem.hpp>
#include <troupe/cutlass/variants/contiguous_axis.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <vector>

namespace troupe::cutlass {

/// Properties of a factor that the code of a kernel depends on.
struct factor_signature {
  dtype type{};
  contiguous_axis contiguous{};
  /// Bytes, at most 16, to which the beginnings of all contiguous runs are aligned. A run is a line, or one term of all
  /// lines.
  std::uint8_t alignment = 0;
  dtype scale_type{};
  std::uint32_t scale_block_k = 0, scale_block_lines = 0;  ///< extents of a block of scales; 0: no scales
  friend bool operator==(const factor_signature&, const factor_signature&) = default;
};

/// Everything that the code of a kernel depends on, except its plan and epilogue. The code does not depend on extents,
/// strides, addresses, and values of the epilogue's numbers.
struct signature_head {
  factor_signature a, b;
  dtype d{}, sums{};
  std::int8_t d_access = 0, d_access_across = 0;  ///< access along a row and along a column: see memory_kind
  std::uint8_t paired = 0, batched = 0;
  std::uint8_t precision = 0, accumulation = 0;
  /// pair_alignment: bytes to which the right half of a paired B is aligned, if its lines are contiguous. grouped: 0:
  /// no groups of rows, 1: packed groups, 2: separate groups.
  std::uint8_t pair_alignment = 16, grouped = 0, reserved[2] = {};
  std::uint32_t numbers = 0;
  std::uint32_t nodes = 0, memories = 0;

  /// Returns true if sums of 8-bit floats are added to a float at intervals.
  bool adds_precisely() const noexcept {
    return matmul::is_float8(a.type) && matmul::is_float8(b.type) &&
           accumulation == static_cast<std::uint8_t>(matmul::accumulation::precise);
  }
  /// Returns true if one factor is f16 or bf16 and the other has a narrower type that is widened to it.
  bool is_mixed() const noexcept { return is_narrow(a) != is_narrow(b) && (is_half(a) || is_half(b)); }
  static bool is_half(const factor_signature& f) noexcept { return f.type == dtype::f16 || f.type == dtype::bf16; }
  static bool is_narrow(const factor_signature& f) noexcept { return bytes_of(f.type) == 1; }
  /// Returns true if contiguous elements of D are in a row of the kernel of a plan that is `swapped` or not, so that
  /// they are written together. Also true for products that cannot be swapped.
  bool writes_contiguously(bool swapped) const noexcept {
    return paired != 0 || grouped != 0 || swapped == (d_access <= 0 && d_access_across > 0);
  }
  friend bool operator==(const signature_head&, const signature_head&) = default;
};
static_assert(sizeof(factor_signature) == 12 && std::has_unique_object_representations_v<signature_head>);

/// A signature with its epilogue. The epilogue is normalized: each use of the sums (`acc`, `left`, `right`) and of a
/// loaded matrix is multiplied by a number, which is 1 if the request has none, so that requests with other numbers use
/// the same kernel.
struct kernel_signature {
  signature_head head;
  std::vector<epilogue::node> nodes;
  std::vector<memory_kind> memory, memory_across;
  /// The source of each number: its index among the numbers of the request, or `one` for the number 1.
  static constexpr std::uint8_t one = 0xff;
  std::vector<std::uint8_t> numbers;
  /// The index of the request's node that each operand in memory belongs to.
  std::vector<std::uint8_t> node_of_memory;

  /// Returns the signature of the transposed problem: see problem::swapped.
  kernel_signature swapped() const;
  /// Returns the signature with the factors exchanged: see problem::crossed.
  kernel_signature crossed() const;
  /// Appends everything that the code depends on to a cache key.
  void write_key(std::string& to) const;
};

/// Returns the largest power of two, at most 16, that divides all values.
std::uint8_t alignment_of(std::initializer_list<std::int64_t> all) noexcept;

kernel_signature signature_of(const problem& p);
/// Returns true if the kernel of a plan exchanges the factors, but not rows and columns of the result.
bool is_crossed(const signature_head& f, const plan& p) noexcept;
/// Returns the signature with the factors and the epilogue in the order of the plan's kernel.
kernel_signature signature_of_kernel(const kernel_signature& f, const plan& p);

}  // namespace troupe::cutlass
