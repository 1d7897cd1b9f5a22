// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/scratch.hpp>
#include <utility>
#include <vector>

/// The memory of timing runs: copies of operands.
namespace troupe::cutlass::timing {

/// A range of bytes, from `first` to before `last`.
struct span {
  std::int64_t first = 0, last = 0;  ///< bytes from an operand's address
  std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(last - first); }
};
/// Returns the byte range, relative to the address, that elements with these extents and strides occupy.
span byte_range_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> extents_and_strides, dtype t) noexcept;
/// Returns the bytes that a copy needs, wherever its alignment allows it to begin.
std::uint64_t copy_bytes(const span& s) noexcept;
/// Returns the number of copies, each of `bytes` bytes, that exceed every cache; at most 64.
std::uint64_t copies_beyond_cache(std::uint64_t bytes) noexcept;

/// Allocates memory for a timing run.
result<cuda::scratch> allocate(std::uint64_t bytes, const call& c, CUstream stream);

struct memory_with_counters {
  cuda::scratch all;
  std::uint64_t counters;  ///< address of the counters, which are 0
};
/// Allocates memory for a timing run, with `count` counters after it.
result<memory_with_counters> allocate_with_counters(std::uint64_t bytes, std::uint32_t count, const call& c,
                                                    CUstream stream);

/// An operand of a problem.
struct operand {
  std::uint64_t* address;  ///< refers to the problem's field
  span used;
  bool read;  ///< true if the problem reads it
};
/// Moves an operand to the memory at `next`, and advances `next`. Copies the content if the operand is `read`. The
/// address modulo 256 stays the same, and with it the alignment.
result<void> copy_operand(const operand& o, std::uint64_t& next, CUstream stream);

/// Returns the microseconds of one execution: the least of several averages of `run(times)`.
result<double> least_time(const std::function<result<void>(int times)>& run, CUstream stream);

}  // namespace troupe::cutlass::timing
