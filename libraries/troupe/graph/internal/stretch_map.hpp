// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace troupe::graph {

/// Maps bytes of memory to values. Stores ranges of bytes with equal values, and splits a range when a part of it gets
/// another value.
template <class T>
class stretch_map {
 public:
  struct stretch {
    std::uint64_t end;
    T value;
  };

  /// Calls f(value) for each range within [begin, end), in order. Bytes without a value get `fresh` before.
  template <class F>
  void visit(std::uint64_t begin, std::uint64_t end, const T& fresh, F&& f) {
    if (begin >= end) return;
    split(begin);
    split(end);
    auto at = all_.lower_bound(begin);
    while (begin < end) {
      if (at == all_.end() || at->first > begin) {
        const std::uint64_t until = at == all_.end() ? end : std::min(end, at->first);
        at = all_.emplace_hint(at, begin, stretch{until, fresh});
      }
      f(at->second.value);
      begin = at->second.end;
      ++at;
    }
  }
  /// Returns the ranges, by their first byte.
  const std::map<std::uint64_t, stretch>& all() const noexcept { return all_; }

 private:
  void split(std::uint64_t where) {
    auto at = all_.upper_bound(where);
    if (at == all_.begin()) return;
    --at;
    if (at->first == where || at->second.end <= where) return;
    stretch rest = at->second;
    at->second.end = where;
    all_.emplace_hint(std::next(at), where, std::move(rest));
  }

  std::map<std::uint64_t, stretch> all_;
};

}  // namespace troupe::graph
