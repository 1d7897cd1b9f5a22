// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/request/checker.hpp>
#include <vector>

/// Requests with known effects: each returns a hash of everything that it has read, so that a success shows its inputs.
namespace simulated {

using namespace troupe;
using word = std::uint32_t;

/// x[i] += by
struct add {
  inout<word> x;
  extent n;
  word by;
  using reply = std::uint64_t;
  TROUPE_REQUEST("simulated.add", x, n, by)
  void check(checker& c) const { c.elements(x, n); }
};

/// y[i] = 31 * a[i] + b[i]
struct combine {
  in<word> a, b;
  out<word> y;
  extent n;
  using reply = std::uint64_t;
  TROUPE_REQUEST("simulated.combine", a, b, y, n)
  void check(checker& c) const {
    c.elements(a, n);
    c.elements(b, n);
    c.elements(y, n);
    c.may_overlap(&a, &b);
  }
};

/// y[0] = the sum of the first elements of the parts
struct gather {
  list<in<word>> parts;
  out<word> y;
  using reply = std::uint64_t;
  TROUPE_REQUEST("simulated.gather", parts, y)
  void check(checker& c) const {
    for (const auto& p : parts) c.elements(p, 1);
    c.elements(y, 1);
  }
};

/// Only reads.
struct look {
  in<word> a;
  extent n;
  using reply = std::uint64_t;
  TROUPE_REQUEST("simulated.look", a, n)
  void check(checker& c) const { c.elements(a, n); }
};

/// Is meant to write y, and fails after the first half of it.
struct spoil {
  out<word> y;
  extent n;
  using reply = std::uint64_t;
  TROUPE_REQUEST("simulated.spoil", y, n)
  void check(checker& c) const { c.elements(y, n); }
};

struct hash_of_words {
  std::uint64_t value = 0xcbf29ce484222325u;
  void mix(std::span<const word> words) noexcept {
    for (const word w : words) value = (value ^ w) * 0x100000001b3u;
  }
};

}  // namespace simulated
