// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/matmul/shapes.hpp>

/// Factors of products in host memory, and copies of those that OpenBLAS cannot read where they are.
namespace troupe::matmul {

/// A factor in host memory: `lines` rows of A or columns of B, with `k` numbers each. Strides are in elements, each of
/// which holds `k_per_element(type)` numbers.
struct host_factor {
  const void* data = nullptr;
  dtype type{};
  std::int64_t lines = 0, k = 0;
  std::int64_t line_stride = 0, k_stride = 0;  ///< from one line to the next; along k
};

/// The scales of a factor, one for each block.
struct host_scales {
  const void* data = nullptr;  ///< null: none
  dtype type{};
  std::int64_t line_stride = 0;               ///< from one group of lines to the next
  std::int64_t k_stride = 0;                  ///< from one block to the next along k
  std::int64_t block_lines = 1, block_k = 1;  ///< extents of a block
};

/// Returns the type in which both factors are multiplied. It has all values of both; if the factors are `scaled`, it
/// is f32, and the scaled values are rounded to it.
dtype multiplied_in(dtype a, dtype b, bool scaled) noexcept;

/// Returns true if OpenBLAS can read the factor where it is: it has this type and no scales, and its lines, or its
/// numbers along k, are contiguous.
bool is_ordered(const host_factor& f, const host_scales& s, dtype type) noexcept;

/// A copy of a factor times its scales, in another type. Its elements along k, or across lines, are contiguous.
class ordered_factor {
 public:
  /// Copies the factor. Precondition: `type` is f32; or it has all values of the factor, and the factor has no scales.
  ordered_factor(const host_factor& f, const host_scales& s, dtype type, thread_team& team);
  /// Returns the copy, which this object owns.
  host_factor get() const noexcept;
  /// Returns the bytes of a copy of this type.
  static std::uint64_t bytes(const host_factor& f, dtype type) noexcept {
    return static_cast<std::uint64_t>(f.lines) * static_cast<std::uint64_t>(f.k) * bytes_of(type);
  }

 private:
  // The numbers of one line, or the numbers of all lines at one k: those that are closer together in the original.
  struct run {
    const std::byte* from;
    std::int64_t stride;
    std::size_t half;  ///< 0 or 1: which number of each pair, for runs across lines
  };
  run run_of(std::int64_t i) const noexcept;
  void copy_all(thread_team& team);
  template <class T>
  void copy(thread_team& team);
  void scale(std::int64_t i, float* to) const;
  template <class F>
  void for_each_run(thread_team& team, F&& f) const;

  host_factor from_;
  host_scales scales_;
  dtype type_;
  bool along_k_;
  std::int64_t runs_;    // number of runs
  std::int64_t length_;  // how many numbers each run has: two in an element of f4e2m1x2
  std::unique_ptr<std::byte[]> all_;
};

}  // namespace troupe::matmul
