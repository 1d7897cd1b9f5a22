// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Included only by hazards.cpp. The unnamed namespace lets the compiler inline functions that are called once, which
// the speed of each request depends on.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <troupe/worker/schedule/hazards/hazards.hpp>

namespace troupe {
namespace {

/// A position packed into one word; 0: none.
using packed_position = std::uint64_t;
static_assert(max_lanes == 16);

packed_position pack(position p) noexcept { return p.sequence << 4 | p.lane; }
position unpack(packed_position p) noexcept { return {static_cast<std::uint32_t>(p & 15), p >> 4}; }
/// Returns true if the operation at this position is not complete.
bool is_open(packed_position p, lane_progress completed) noexcept { return p >> 4 > completed[p & 15]; }

class chunk;

/// A range of bytes with a common history. A search or a write uses only the first cache line.
struct alignas(64) interval {
  std::uint64_t begin = 0;  ///< if begin == end, the object is unused
  std::uint64_t end = 0;
  interval* previous = nullptr;
  interval* next = nullptr;
  packed_position writer = 0;
  std::uint64_t poison = 0;
  chunk* home = nullptr;                         ///< the index's chunk that holds this interval
  std::uint32_t readers = 0;                     ///< lanes that have read since the last write, one bit each
  std::array<std::uint64_t, max_lanes> reads{};  ///< last reading sequence of each of these lanes; undefined for others

  template <class F>
  void for_each_reader(F&& f) const {
    for (std::uint32_t rest = readers; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      f(position{lane, reads[lane]});
    }
  }

  bool has_same_history(const interval& o) const noexcept {
    if (writer != o.writer || readers != o.readers || poison != o.poison) return false;
    bool equal = true;
    for_each_reader([&](position p) { equal &= o.reads[p.lane] == p.sequence; });
    return equal;
  }

  /// Drops complete operations and forgotten poison. Returns false if no history is left.
  bool refresh(lane_progress completed, std::uint64_t forgotten) noexcept {
    for_each_reader([&](position p) {
      if (p.sequence <= completed[p.lane]) readers &= ~(1u << p.lane);
    });
    if (!is_open(writer, completed)) writer = 0;
    if (poison <= forgotten) poison = 0;
    return writer != 0 || readers != 0 || poison != 0;
  }
};

}  // namespace
}  // namespace troupe
