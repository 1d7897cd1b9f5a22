// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/request/ready_request.hpp>
#include <troupe/request/testing/request_fixture.hpp>

namespace troupe::request_tests {
namespace {

/// totals = cells after `times` steps. Sent as a `relax`.
struct relax_often {
  inout<float> grid;
  out<float> sums;
  extent rows, columns;
  int times = 2;
  side from = side::left;
  TROUPE_REQUEST("test.relax_often", grid, sums, rows, columns, times, from)
  relax to_request() const {
    return {.cells = grid, .totals = sums, .rows = rows, .columns = columns, .steps = times - 1};
  }
};
static_assert(ready_request<relax_often> && any_request<relax_often> && !request<relax_often>);

/// Has a check of its own, which is stricter than that of `relax` and does not forbid overlaps.
struct relax_squares {
  out<float> sums;
  inout<float> grid;
  extent n;
  TROUPE_REQUEST("test.relax_squares", sums, grid, n)
  void check(checker& c) const {
    c.at_least(n, 2);
    c.matrix(grid, n, n, n);
    c.elements(sums, n);
    c.may_overlap(&sums, &grid);
  }
  relax to_request() const { return {.cells = grid, .totals = sums, .rows = n, .columns = n}; }
};
static_assert(ready_request<relax_squares> && checks_itself<relax_squares> && !checks_itself<relax_often>);
static_assert(!ready_request<relax> && any_request<relax>);

class ready_requests : public request_checks {
 protected:
  relax_often make() { return {.grid = at(0, 16), .sums = at(16, 4), .rows = 4, .columns = 4}; }
  template <class R, class F>
  auto checked(const R& r, F&& f) {
    const relax sent = r.to_request();
    const detail::ready_and_sent<R> both{r, sent};
    checker c(both, &owner, 0);
    both.checked().check(c);
    return f(c, sent);
  }
  template <class R>
  std::string refusal_of(const R& r) {
    return checked(r, [](checker& c, const relax&) {
      const auto& e = c.finish();
      return e ? e->text() : "";
    });
  }
};

TEST_F(ready_requests, touch_the_operands_of_the_request_that_is_sent) {
  EXPECT_EQ(refusal_of(make()), "");
  checked(make(), [](checker& c, const relax&) {
    ASSERT_EQ(c.uses().size(), 2u);
    EXPECT_EQ(c.uses()[0].touched.mode, access_mode::read_write);
  });
}

TEST_F(ready_requests, are_refused_with_their_own_name_and_fields) {
  relax_often r = make();
  r.columns = 5;
  EXPECT_EQ(
      refusal_of(r),
      "test.relax_often: grid holds 16 elements; expected at least 20 ((columns - 1) * leading dimension + rows)");
  r = make();
  r.sums = at(12, 4);
  EXPECT_NE(refusal_of(r).find("test.relax_often: sums overlaps grid"), std::string::npos) << refusal_of(r);
  r = make();
  r.times = 0;
  EXPECT_EQ(refusal_of(r), "test.relax_often: steps is -1; expected at least 0") << "a field that only the other has";
}

TEST_F(ready_requests, are_refused_if_an_enumerator_is_unknown) {
  relax_often r = make();
  r.from = side(7), r.times = 0;
  EXPECT_EQ(refusal_of(r), "test.relax_often: from is 7; expected left or right");
}

TEST_F(ready_requests, let_the_check_of_the_sent_request_find_their_fields_by_name) {
  const relax_often r = make();
  checked(r, [&](checker& c, const relax&) {
    EXPECT_EQ(c.ready_field("times"), &r.times);
    EXPECT_EQ(c.ready_field("steps"), nullptr);
  });
  const relax plain = r.to_request();
  EXPECT_EQ(checker(plain, &owner, 0).ready_field("steps"), nullptr) << "only ready requests have some";
}

TEST_F(ready_requests, may_have_a_check_that_replaces_that_of_the_sent_request) {
  relax_squares r{.sums = at(0, 4), .grid = at(0, 16), .n = 4};
  EXPECT_EQ(refusal_of(r), "") << "what is sent would be refused, because its operands overlap";
  checked(r, [](checker& c, const relax&) {
    ASSERT_EQ(c.uses().size(), 2u);
    EXPECT_EQ(c.uses()[0].touched.mode, access_mode::write) << "the first operand of the ready request";
  });
  r.n = 1;
  EXPECT_EQ(refusal_of(r), "test.relax_squares: n is 1; expected at least 2");
  r.n = 5;
  EXPECT_EQ(
      refusal_of(r),
      "test.relax_squares: grid holds 16 elements; expected at least 25 ((columns - 1) * leading dimension + rows)");
}

TEST_F(ready_requests, are_described_with_their_own_name_and_fields) {
  EXPECT_NE(describe(make()).find("test.relax_often{grid="), std::string::npos);
  EXPECT_EQ(name_of<relax_often>(), "test.relax_often");
}

}  // namespace
}  // namespace troupe::request_tests
