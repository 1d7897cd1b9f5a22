// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/scratch.hpp>
#include <utility>
#include <vector>

/// What rehearsals share: copies of operands in memory of their own.
namespace troupe::cutlass::rehearsing {

/// A part of memory: from the first byte that is used to the last.
struct span {
  std::int64_t first = 0, last = 0;  ///< bytes from the address
  std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(last - first); }
};
/// Of elements whose indexes have these extents and distances.
span span_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> extents_and_distances, dtype t) noexcept;
/// Bytes for a copy that is aligned as it is.
std::uint64_t room(const span& s) noexcept;
/// The number of copies, each with these bytes, that no cache holds.
std::uint64_t copies_beyond_cache(std::uint64_t bytes) noexcept;

/// Memory that the rehearsal has until its end.
result<cuda::scratch> take(std::uint64_t bytes, const call& c, CUstream stream);

struct memory_with_counters {
  cuda::scratch all;
  std::uint64_t counters;  ///< the address of numbers that are 0, behind the rest
};
result<memory_with_counters> take_with_counters(std::uint64_t bytes, std::uint32_t count, const call& c,
                                                CUstream stream);

/// An operand, by the place of its address in a problem.
struct operand {
  std::uint64_t* address;
  span used;
  bool read;
};
/// Moves an operand to the next free memory, and copies it there if it is `read`. What is written is read by no other
/// plan. It lies at the same place within 256 bytes, so that alignments stay what they are.
result<void> move(const operand& o, std::uint64_t& next, CUstream stream);

/// Returns the least average of the microseconds that `run(times)` takes.
result<double> least_time(const std::function<result<void>(int times)>& run, CUstream stream);

}  // namespace troupe::cutlass::rehearsing
