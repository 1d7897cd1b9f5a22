// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/scratch.hpp>
#include <utility>
#include <vector>

/// Memory of timing runs: copies of operands.
namespace troupe::cutlass::timing {

/// A part of memory: from the first byte that is used to the last.
struct span {
  std::int64_t first = 0, last = 0;  ///< bytes from the address
  std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(last - first); }
};
/// Returns the byte range, relative to the address, that elements with these extents and strides occupy.
span byte_range_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> extents_and_strides, dtype t) noexcept;
/// Returns the bytes for a copy that has the same alignment.
std::uint64_t copy_bytes(const span& s) noexcept;
/// Returns the number of copies, each with these bytes, that exceed every cache.
std::uint64_t copies_beyond_cache(std::uint64_t bytes) noexcept;

/// Returns memory that is released at the end of the timing run.
result<cuda::scratch> take(std::uint64_t bytes, const call& c, CUstream stream);

struct memory_with_counters {
  cuda::scratch all;
  std::uint64_t counters;  ///< the address of numbers that are 0, behind the rest
};
result<memory_with_counters> take_with_counters(std::uint64_t bytes, std::uint32_t count, const call& c,
                                                CUstream stream);

/// An operand; `address` is the field of a problem.
struct operand {
  std::uint64_t* address;
  span used;
  bool read;
};
/// Moves an operand to the next free memory, and copies it there if it is `read`. What is written is read by no other
/// plan. Its address modulo 256 bytes is kept, so that alignments stay the same.
result<void> move(const operand& o, std::uint64_t& next, CUstream stream);

/// Returns the least average of the microseconds that `run(times)` takes.
result<double> least_time(const std::function<result<void>(int times)>& run, CUstream stream);

}  // namespace troupe::cutlass::timing
