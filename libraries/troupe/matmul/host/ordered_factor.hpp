// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <troupe/base/thread_team.hpp>
#include <troupe/matmul/shapes.hpp>

/// The factors of a product on the processor.
namespace troupe::matmul {

/// Lines of terms in memory of the host: the rows of A, or the columns of B. Distances are in elements, each of which
/// has `terms_in(type)` terms.
struct host_factor {
  const void* data = nullptr;
  dtype type{};
  std::int64_t lines = 0, terms = 0;
  std::int64_t line = 0, term = 0;  ///< distances from line to line, and along one
};

/// The scales of a factor's blocks.
struct host_scales {
  const void* data = nullptr;  ///< null: none
  dtype type{};
  std::int64_t line = 0, term = 0;    ///< distances from block to block
  std::int64_t lines = 1, terms = 1;  ///< of a block
};

/// Returns the type that both factors are multiplied in, which has all their numbers. Scaled ones are rounded to f32.
dtype multiplied_in(dtype a, dtype b, bool scaled) noexcept;

/// Returns true if OpenBLAS can read the factor where it is, as elements of the type.
bool is_ordered(const host_factor& f, const host_scales& s, dtype type) noexcept;

/// A copy of a factor: times its scales, of another type, with neighbouring lines or terms.
class ordered_factor {
 public:
  /// `type` is f32, or has all numbers of the factor, which then has no scales. Precondition: no type is wider than the
  /// copy's, and only f32 takes scales.
  ordered_factor(const host_factor& f, const host_scales& s, dtype type, thread_team& team);
  host_factor get() const noexcept;
  static std::uint64_t bytes(const host_factor& f, dtype type) noexcept {
    return static_cast<std::uint64_t>(f.lines) * static_cast<std::uint64_t>(f.terms) * bytes_of(type);
  }

 private:
  // A run lies along the lines or along the terms, whichever are closer together in the original.
  struct run {
    const std::byte* from;
    std::int64_t stride;
    std::size_t half;  ///< which number of each element, for runs of pairs that go across them
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
  bool along_terms_;
  std::int64_t runs_, length_;
  std::unique_ptr<std::byte[]> all_;
};

}  // namespace troupe::matmul
