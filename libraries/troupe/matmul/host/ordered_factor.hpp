// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <troupe/base/thread_team.hpp>
#include <troupe/matmul/shapes.hpp>

/// Factors of products on the processor.
namespace troupe::matmul {

/// The rows of A or the columns of B in host memory: `lines` of `terms` numbers along k. Strides are in elements, each
/// of which holds `terms_in(type)` numbers.
struct host_factor {
  const void* data = nullptr;
  dtype type{};
  std::int64_t lines = 0, terms = 0;
  std::int64_t line = 0, term = 0;  ///< strides from line to line, and along k
};

/// The scales of a factor's blocks.
struct host_scales {
  const void* data = nullptr;  ///< null: none
  dtype type{};
  std::int64_t line = 0, term = 0;    ///< strides from block to block
  std::int64_t lines = 1, terms = 1;  ///< extents of a block
};

/// Returns the type that both factors are multiplied in. It has all their values; scaled ones are rounded to f32.
dtype multiplied_in(dtype a, dtype b, bool scaled) noexcept;

/// Returns true if OpenBLAS can read the factor where it is, as elements of the type.
bool is_ordered(const host_factor& f, const host_scales& s, dtype type) noexcept;

/// A copy of a factor times its scales, in another type and contiguous along k or across lines.
class ordered_factor {
 public:
  /// Copies the factor. Precondition: `type` is f32, or has all values of the factor, which then has no scales.
  ordered_factor(const host_factor& f, const host_scales& s, dtype type, thread_team& team);
  host_factor get() const noexcept;
  static std::uint64_t bytes(const host_factor& f, dtype type) noexcept {
    return static_cast<std::uint64_t>(f.lines) * static_cast<std::uint64_t>(f.terms) * bytes_of(type);
  }

 private:
  // The elements of one line along k, or of all lines at one k, whichever are closer together in the original.
  struct run {
    const std::byte* from;
    std::int64_t stride;
    std::size_t half;  ///< number within each pair, for runs across lines
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
  std::int64_t runs_, length_;
  std::unique_ptr<std::byte[]> all_;
};

}  // namespace troupe::matmul
