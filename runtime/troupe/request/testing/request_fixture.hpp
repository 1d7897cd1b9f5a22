// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <troupe/request/checker.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe {

// The minimum of a buffer that a request needs. The real class is in memory/.
template <class T>
class buffer {
 public:
  buffer(block& b, std::uint64_t first, std::uint64_t count)
      : range_{block_ref(&b), b.address + first * sizeof(T), count * sizeof(T)} {
    b.references.fetch_add(1);
  }
  buffer() = default;
  const memory_range& memory() const& { return range_; }
  memory_range memory() && { return std::move(range_); }

 private:
  memory_range range_;
};
template <class T>
class host_buffer : public buffer<T> {
 public:
  using buffer<T>::buffer;
};

namespace request_tests {

enum class side { left, right };
TROUPE_ENUM(side, left, right)

template <class T>
struct multiply {
  in<T> a, b;
  inout<T> c;
  extent m, n, k;
  side where = side::left;
  T alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  text note = {};
  troupe::list<std::int32_t> list = {};

  TROUPE_REQUEST("test.multiply", a, b, c, m, n, k, where, alpha, beta, lda, ldb, ldc, note, list)
  void check(checker& k_) const {
    k_.positive(m);
    k_.positive(n);
    k_.positive(k);
    k_.matrix(a, m, k, k_.leading(lda, m));
    k_.matrix(b, k, n, k_.leading(ldb, k));
    k_.matrix(c, m, n, k_.leading(ldc, m));
    if (beta == T(0)) k_.overwrites(c);
  }
};

/// A request as a beginner might write it: plain integers among the sizes, and leading dimensions that are not checked.
struct relax {
  inout<float> cells;
  out<float> totals;
  extent rows, columns;
  extent ld = tight;
  int steps = 1, every = 1;

  TROUPE_REQUEST("test.relax", cells, totals, rows, columns, ld, steps, every)
  void check(checker& c) const {
    c.at_least(steps, 0);
    c.matrix(cells, rows, columns, ld);
    c.vector(totals, columns, every);
  }
};

struct scale {
  inout<float> x;
  extent n;
  extent inc = 1;
  TROUPE_REQUEST("test.scale", x, n, inc)
  void check(checker& c) const {
    c.positive(n);
    c.vector(x, n, inc);
  }
};

struct add {
  in<float> x;
  inout<float> y;
  extent n;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST("test.add", x, y, n, incx, incy)
  void check(checker& c) const {
    c.positive(n);
    c.vector(x, n, incx);
    c.vector(y, n, incy);
  }
};

struct fake_owner final : memory_owner {
  void recycle(block&) noexcept override { ++recycled; }
  void renew(block&) override { ++renewed; }
  std::optional<error> stale_cause(const block& b, std::uint64_t begin, std::uint64_t end) const override {
    if (b.address != 0 && (end <= stale_begin || begin >= stale_end)) return {};
    if (last) return last;
    return error(error::details{.reaction = reaction::retry_later,
                                .domain = "test",
                                .text = "an earlier request failed",
                                .request = {"test.first", 1}});
  }
  void mark_refused(block&, std::uint64_t, std::uint64_t, const error&) override {}
  block_ref failed_buffer(std::uint64_t, error) override { return {}; }
  int recycled = 0, renewed = 0;
  std::uint64_t stale_begin = 0, stale_end = 0;
  std::optional<error> last;
};

class request_checks : public testing::Test {
 protected:
  request_checks() {
    mine.owner = foreign.owner = &owner;
    foreign.owner = &stranger;
    mine.address = 0x1000;
    foreign.address = 0x9000;
    mine.bytes = foreign.bytes = 4096;
  }
  template <class R>
  std::string refusal(const R& r) {
    checker c(r, &owner, 0);
    r.check(c);
    const auto& e = c.finish();
    return e ? e->to_string() : "";
  }
  buffer<float> at(std::uint64_t first, std::uint64_t count) { return {mine, first, count}; }

  fake_owner owner, stranger;
  block mine, foreign;
};

}  // namespace request_tests
}  // namespace troupe
