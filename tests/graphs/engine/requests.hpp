// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/request/checker.hpp>

/// Requests for random graphs. Most are not commutative, so any two that run in the wrong order leave other bytes. They
/// use integers, so results are exact. `work_us` is how long the request takes.
namespace flow {

/// x = x * a + b, every `inc`-th element.
template <class T>
struct affine {
  troupe::inout<T> x;
  troupe::extent n, inc;
  T a, b;
  std::uint32_t work_us;
  TROUPE_REQUEST("flow.affine", x, n, inc, a, b, work_us)
  void check(troupe::checker& c) const {
    c.positive(n);
    c.vector(x, n, inc);
  }
};

/// y = 3 * y + x
struct add {
  troupe::in<std::uint32_t> x;
  troupe::inout<std::uint32_t> y;
  troupe::extent n;
  std::uint32_t work_us;
  TROUPE_REQUEST("flow.add", x, y, n, work_us)
  void check(troupe::checker& c) const {
    c.positive(n);
    c.elements(x, n);
    c.elements(y, n);
  }
};

/// z[i] = x[i] * salt + y[n - 1 - i]
struct mix {
  troupe::in<std::uint32_t> x, y;
  troupe::out<std::uint32_t> z;
  troupe::extent n;
  std::uint32_t salt, work_us;
  TROUPE_REQUEST("flow.mix", x, y, z, n, salt, work_us)
  void check(troupe::checker& c) const {
    c.positive(n);
    c.elements(x, n);
    c.elements(y, n);
    c.elements(z, n);
  }
};

/// x[i] += 5 * x[i - 1], from front to back.
struct scan {
  troupe::inout<std::uint32_t> x;
  troupe::extent n;
  std::uint32_t work_us;
  TROUPE_REQUEST("flow.scan", x, n, work_us)
  void check(troupe::checker& c) const {
    c.positive(n);
    c.elements(x, n);
  }
};

/// y = x + 1, which may overlap.
struct slide {
  troupe::in<std::byte> x;
  troupe::out<std::byte> y;
  troupe::extent n;
  std::uint32_t work_us;
  TROUPE_REQUEST("flow.slide", x, y, n, work_us)
  void check(troupe::checker& c) const {
    c.positive(n);
    c.elements(x, n);
    c.elements(y, n);
    c.may_overlap(&x, &y);
  }
};

/// Returns a number that depends on every byte and its place.
struct hash {
  troupe::in<std::byte> x;
  troupe::extent n;
  std::uint32_t work_us;
  using reply = std::uint64_t;
  TROUPE_REQUEST("flow.hash", x, n, work_us)
  void check(troupe::checker& c) const {
    c.positive(n);
    c.elements(x, n);
  }
};

/// y[i] = x[index[i]]
struct gather {
  troupe::in<std::uint32_t> x;
  troupe::out<std::uint32_t> y;
  troupe::list<std::uint32_t> index;
  std::uint32_t work_us;
  TROUPE_REQUEST("flow.gather", x, y, index, work_us)
  void check(troupe::checker& c) const { c.elements(y, index.size()); }
};

/// c = a, or c = 7 * c + a, column-major.
struct tile {
  troupe::in<std::uint32_t> a;
  troupe::inout<std::uint32_t> c;
  troupe::extent rows, columns, lda, ldc;
  bool replaces;
  std::uint32_t work_us;
  TROUPE_REQUEST("flow.tile", a, c, rows, columns, lda, ldc, replaces, work_us)
  void check(troupe::checker& k) const {
    k.positive(rows);
    k.positive(columns);
    k.matrix(a, rows, columns, k.leading(lda, rows));
    k.matrix(c, rows, columns, k.leading(ldc, rows));
    if (replaces) k.overwrites(c);
  }
};

/// Spoils half of its outputs and fails with a text that names `step`. T selects the lane.
template <class T>
struct fail {
  troupe::in<T> x;
  troupe::inout<T> y;
  troupe::out<T> z;
  std::uint64_t step;
  bool throws;
  std::uint32_t work_us;
  TROUPE_REQUEST("flow.fail", x, y, z, step, throws, work_us)
  void check(troupe::checker&) const {}
};

/// Unknown to the engine.
struct unknown {
  troupe::in<std::byte> x;
  troupe::out<std::byte> y;
  TROUPE_REQUEST("flow.unknown", x, y)
  void check(troupe::checker&) const {}
};

/// A request of a library without an engine.
struct elsewhere {
  troupe::in<std::byte> x;
  troupe::out<std::byte> y;
  TROUPE_REQUEST("nowhere.request", x, y)
  void check(troupe::checker&) const {}
};

}  // namespace flow
