// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <troupe/request/checker.hpp>
#include <troupe/request/describe.hpp>

namespace troupe {

// The least a buffer must have to stand in a request; the real one lives in memory/.
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

namespace {

enum class side { left, right };
std::string_view to_string(side s) { return s == side::left ? "left" : "right"; }

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

  using reply = void;
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

/// As a newcomer writes it: plain integers among the sizes, and leading dimensions passed on as they are.
struct relax {
  inout<float> cells;
  out<float> totals;
  extent rows, columns;
  extent ld = tight;
  int steps = 1, every = 1;

  using reply = void;
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
  using reply = void;
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
  using reply = void;
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

TEST_F(request_checks, a_good_request_passes_and_says_what_it_touches) {
  const multiply<float> r{.a = at(0, 16), .b = at(16, 16), .c = at(32, 16), .m = 4, .n = 4, .k = 4};
  EXPECT_EQ(refusal(r), "");
  checker c(r, &owner, 0);
  r.check(c);
  ASSERT_EQ(c.uses().size(), 3u);
  EXPECT_EQ(c.uses()[2].touched.begin, 0x1000u + 128);
  EXPECT_EQ(c.uses()[2].touched.end, 0x1000u + 192);
  EXPECT_EQ(c.uses()[2].touched.mode, access_mode::write) << "beta is 0";
}

TEST_F(request_checks, each_bad_size_is_refused_by_name_and_value) {
  multiply<float> r{.a = at(0, 16), .b = at(16, 16), .c = at(32, 16), .m = 4, .n = 4, .k = 4};
  r.m = 0;
  EXPECT_EQ(refusal(r), "caller_bug [request] test.multiply<f32>: m is 0; expected at least 1");
  r.m = -3;
  EXPECT_NE(refusal(r).find("m is -3; expected at least 1"), std::string::npos);
  r.m = 5;
  EXPECT_NE(refusal(r).find("a holds 16 elements; expected at least 20"), std::string::npos) << refusal(r);
  r.m = 4;
  r.ldb = 3;
  EXPECT_NE(refusal(r).find("ldb is 3; expected at least 4 (the rows it must hold)"), std::string::npos) << refusal(r);
  r.ldb = 5;
  EXPECT_NE(refusal(r).find("b holds 16 elements; expected at least 19"), std::string::npos) << refusal(r);
}

TEST_F(request_checks, plain_integers_are_named_as_extents_are) {
  relax r{.cells = at(0, 16), .totals = at(16, 4), .rows = 4, .columns = 4};
  EXPECT_EQ(refusal(r), "");
  r.steps = -1;
  EXPECT_EQ(refusal(r), "caller_bug [request] test.relax: steps is -1; expected at least 0");
  r.steps = 1;
  r.every = 0;
  EXPECT_NE(refusal(r).find("test.relax: every is 0; expected an increment that moves"), std::string::npos)
      << refusal(r);
}

TEST_F(request_checks, tight_needs_no_room_between_columns_wherever_it_is_given) {
  relax r{.cells = at(0, 16), .totals = at(16, 4), .rows = 4, .columns = 4};
  checker c(r, &owner, 0);
  r.check(c);
  EXPECT_EQ(c.finish(), std::nullopt);
  EXPECT_FALSE(c.uses()[0].gaps);
  r.columns = 5;
  EXPECT_NE(refusal(r).find("cells holds 16 elements; expected at least 20"), std::string::npos) << refusal(r);
  scale s{.x = at(0, 4), .n = 4, .inc = tight};
  EXPECT_EQ(refusal(s), "");
  s.n = 5;
  EXPECT_NE(refusal(s).find("x holds 4 elements; expected at least 5"), std::string::npos) << refusal(s);
}

TEST_F(request_checks, products_that_overflow_are_refused) {
  multiply<float> r{.a = at(0, 16), .b = at(16, 16), .c = at(32, 16), .m = 2, .n = INT64_MAX, .k = INT64_MAX};
  EXPECT_NE(refusal(r).find("does not fit 64 bits"), std::string::npos) << refusal(r);
  r.n = extent(INT64_MAX) * 2;
  EXPECT_NE(refusal(r).find("n is too large for 64 bits"), std::string::npos) << refusal(r);
  EXPECT_NE(refusal(scale{.x = at(0, 16), .n = UINT64_MAX}).find("n is too large for 64 bits"), std::string::npos);
}

TEST_F(request_checks, empty_and_foreign_buffers_are_refused_and_old_ones_renewed) {
  buffer<float> moved = at(0, 4);
  (void)buffer<float>(std::move(moved));
  EXPECT_NE(refusal(scale{.x = moved, .n = 4}).find("x is an empty buffer"), std::string::npos);
  EXPECT_NE(refusal(scale{.x = buffer<float>{}, .n = 4}).find("x is an empty buffer"), std::string::npos);
  EXPECT_NE(refusal(scale{.x = buffer<float>(foreign, 0, 4), .n = 4}).find("x belongs to another device"),
            std::string::npos);
  EXPECT_EQ(refusal(scale{.x = at(0, 4), .n = 4}), "");
  EXPECT_EQ(owner.renewed, 0);
  mine.generation = 7;
  EXPECT_EQ(refusal(scale{.x = at(0, 4), .n = 4}), "");
  EXPECT_EQ(owner.renewed, 1);
}

TEST_F(request_checks, a_stale_input_gives_its_cause_and_a_stale_output_does_not_matter) {
  owner.stale_begin = 0x1000;
  owner.stale_end = 0x1040;
  mine.stale_marks = 1;
  multiply<float> r{.a = at(0, 16), .b = at(16, 16), .c = at(32, 16), .m = 4, .n = 4, .k = 4};
  EXPECT_EQ(refusal(r),
            "retry_later [test] test.first #1: an earlier request failed (reached through test.multiply<f32>)");
  r.a = at(48, 16);
  EXPECT_EQ(refusal(r), "");
  r.c = at(0, 16);
  EXPECT_EQ(refusal(r), "") << "c is replaced as a whole";
  r.beta = 1;
  EXPECT_NE(refusal(r), "") << "now c is read";
}

TEST_F(request_checks, a_buffer_whose_allocation_failed_is_refused_even_as_an_output) {
  mine.address = 0;
  EXPECT_NE(refusal(scale{.x = at(0, 4), .n = 4}).find("an earlier request failed"), std::string::npos);
}

TEST_F(request_checks, increments_are_checked_like_blas_has_them) {
  EXPECT_EQ(refusal(scale{.x = at(0, 7), .n = 4, .inc = 2}), "");
  EXPECT_EQ(refusal(scale{.x = at(0, 7), .n = 4, .inc = -2}), "");
  EXPECT_NE(refusal(scale{.x = at(0, 6), .n = 4, .inc = -2}).find("expected at least 7"), std::string::npos);
  EXPECT_NE(refusal(scale{.x = at(0, 7), .n = 4, .inc = 0}).find("inc is 0"), std::string::npos);
  EXPECT_NE(refusal(scale{.x = at(0, 7), .n = 4, .inc = INT64_MIN + 5}).find("|increment| + 1 does not fit 64 bits"),
            std::string::npos);
}

TEST_F(request_checks, outputs_may_not_overlap_inputs) {
  multiply<float> r{.a = at(0, 16), .b = at(16, 16), .c = at(15, 16), .m = 4, .n = 4, .k = 4};
  EXPECT_NE(refusal(r).find("c overlaps a; expected separate memory"), std::string::npos) << refusal(r);
  r.c = at(30, 16);
  EXPECT_NE(refusal(r).find("c overlaps b"), std::string::npos) << refusal(r);
}

// Every placement of two blocks in one matrix, against a plain comparison of their elements.
TEST_F(request_checks, blocks_of_one_matrix_overlap_exactly_when_they_share_an_element) {
  constexpr int ld = 6;
  int met = 0;
  for (int rows = 1; rows <= 4; ++rows)
    for (int columns = 0; columns < 9; ++columns)
      for (int a = 0; a < 20; ++a)
        for (int c = 0; c < 20; ++c) {
          const int n = 1 + columns / 3, k = 1 + columns % 3;
          bool share = false;
          for (int i = 0; i < n * k; ++i)
            for (int p = 0; p < rows; ++p)
              for (int q = 0; q < rows; ++q) share |= a + (i / n) * ld + p == c + (i % n) * ld + q;
          const multiply<float> r{
              .a = at(a, 60), .b = at(500, 60), .c = at(c, 60), .m = rows, .n = n, .k = k, .lda = ld, .ldc = ld};
          EXPECT_EQ(!refusal(r).empty(), share)
              << "rows " << rows << " columns " << k << " and " << n << " a " << a << " c " << c;
          met += share;
        }
  EXPECT_GT(met, 100);
}

TEST_F(request_checks, an_error_of_the_device_is_not_reached_through_the_request_that_meets_it_first) {
  mine.stale_marks = 1;
  owner.stale_begin = 0x1000;
  owner.stale_end = 0x1040;
  owner.last = error(reaction::stopped, "device", "closed");
  EXPECT_EQ(refusal(scale{.x = at(0, 4), .n = 4}), "stopped [device] test.scale: closed");
}

TEST_F(request_checks, an_error_names_the_nearest_requests_it_reached_and_no_more) {
  mine.stale_marks = 1;
  owner.stale_begin = 0x1000;
  owner.stale_end = 0x1040;
  for (int i = 0; i < 100; ++i) {
    const scale r{.x = at(0, 4), .n = 4};
    checker c(r, &owner, 0);
    r.check(c);
    ASSERT_TRUE(c.finish());
    owner.last = c.finish();  // as a refused request leaves it behind
  }
  EXPECT_EQ(owner.last->chain().size(), max_chain);
}

TEST_F(request_checks, interleaved_vectors_are_apart) {
  EXPECT_EQ(refusal(add{.x = at(0, 31), .y = at(1, 31), .n = 4, .incx = 10, .incy = 10}), "")
      << "two rows of one matrix";
  EXPECT_EQ(refusal(add{.x = at(3, 31), .y = at(1, 31), .n = 4, .incx = 10, .incy = -10}), "");
  EXPECT_NE(refusal(add{.x = at(0, 31), .y = at(10, 31), .n = 4, .incx = 10, .incy = 10}).find("y overlaps x"),
            std::string::npos);
  EXPECT_NE(refusal(add{.x = at(0, 31), .y = at(1, 31), .n = 4, .incx = 10, .incy = 5}).find("y overlaps x"),
            std::string::npos);
}

TEST(request, travels_unchanged) {
  fake_owner owner;
  block b;
  b.owner = &owner;
  b.address = 0x5000;
  b.bytes = 4096;
  const multiply<double> r{.a = buffer<double>(b, 1, 2),
                           .b = buffer<double>(b, 3, 4),
                           .c = buffer<double>(b, 7, 8),
                           .m = 2,
                           .n = 3,
                           .k = 4,
                           .where = side::right,
                           .alpha = 2.5,
                           .lda = 9,
                           .note = "source text",
                           .list = {5, 6, 7}};
  ASSERT_EQ(blob_bytes(r), 32u);
  alignas(16) std::byte payload[payload_bytes<multiply<double>>], blob[32];
  encode(r, payload, {blob, reinterpret_cast<std::uintptr_t>(blob)});
  const auto d = decode<multiply<double>>(payload);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(d.a.data()), 0x5008u);
  EXPECT_EQ(d.c.size(), 8u);
  EXPECT_EQ(d.n, extent(3));
  EXPECT_EQ(d.where, side::right);
  EXPECT_EQ(d.alpha, 2.5);
  EXPECT_EQ(d.lda, extent(9));
  EXPECT_EQ(d.ldb, tight);
  EXPECT_EQ(d.note, "source text");
  EXPECT_EQ(d.list, (troupe::list<std::int32_t>{5, 6, 7}));
}

TEST(request, has_a_name_an_opcode_and_a_printable_form) {
  EXPECT_EQ(name_of<multiply<float>>(), "test.multiply<f32>");
  EXPECT_EQ(library_of<multiply<float>>(), "test");
  EXPECT_NE(opcode_of<multiply<float>>, opcode_of<multiply<double>>);
  fake_owner owner;
  block b;
  b.owner = &owner;
  b.address = 0x5000;
  const multiply<float> r{.a = buffer<float>(b, 0, 2),
                          .b = buffer<float>(b, 0, 2),
                          .c = buffer<float>(b, 0, 2),
                          .m = 1,
                          .n = 1,
                          .k = 1,
                          .note = "hi"};
  EXPECT_EQ(
      describe(r),
      "test.multiply<f32>{a=f32[2]@5000, b=f32[2]@5000, c=f32[2]@5000, m=1, n=1, k=1, where=left, alpha=1, beta=0, "
      "lda=tight, ldb=tight, ldc=tight, note=\"hi\", list=list of 0}");
}

// Requests that differ in one thing each.
struct pair {
  float first, second;
};
struct triple {
  float first, second, third;
};
template <class T>
struct map {
  in<float> x;
  extent m, n;
  list<float> weights;
  std::uint32_t count;
  using reply = void;
  TROUPE_REQUEST("test.map", x, m, n, weights, count)
  void check(checker&) const {}
};
namespace swapped {
template <class T>
struct map {
  in<float> x;
  extent n, m;
  list<float> weights;
  std::uint32_t count;
  using reply = void;
  TROUPE_REQUEST("test.map", x, n, m, weights, count)
  void check(checker&) const {}
};
}  // namespace swapped
namespace wider {
template <class T>
struct map {
  in<double> x;
  extent m, n;
  list<float> weights;
  std::uint32_t count;
  using reply = void;
  TROUPE_REQUEST("test.map", x, m, n, weights, count)
  void check(checker&) const {}
};
}  // namespace wider
namespace heavier {
template <class T>
struct map {
  in<float> x;
  extent m, n;
  list<double> weights;
  std::uint32_t count;
  using reply = void;
  TROUPE_REQUEST("test.map", x, m, n, weights, count)
  void check(checker&) const {}
};
}  // namespace heavier
namespace retyped {
template <class T>
struct map {
  in<float> x;
  extent m, n;
  list<float> weights;
  float count;
  using reply = void;
  TROUPE_REQUEST("test.map", x, m, n, weights, count)
  void check(checker&) const {}
};
}  // namespace retyped
template <class T>
struct structs {
  in<T> x;
  using reply = void;
  TROUPE_REQUEST("test.structs", x)
  void check(checker&) const {}
};

TEST(request, that_differs_in_any_field_has_an_opcode_of_its_own) {
  EXPECT_EQ(name_of<map<float>>(), name_of<swapped::map<float>>());
  EXPECT_NE(opcode_of<map<float>>, opcode_of<swapped::map<float>>) << "m and n would change places";
  EXPECT_NE(opcode_of<map<float>>, opcode_of<wider::map<float>>);
  EXPECT_NE(opcode_of<map<float>>, opcode_of<heavier::map<float>>);
  EXPECT_NE(opcode_of<map<float>>, opcode_of<retyped::map<float>>);
  EXPECT_EQ(name_of<structs<pair>>(), name_of<structs<triple>>());
  EXPECT_NE(opcode_of<structs<pair>>, opcode_of<structs<triple>>) << "its bounds are checked in other elements";
}

struct batch {
  list<in<float>> parts;
  out<float> whole;
  scalar<double> factor = 1;
  using reply = void;
  TROUPE_REQUEST("test.batch", parts, whole, factor)
  void check(checker& c) const {
    for (const auto& part : parts) c.elements(part, 2);
    c.elements(whole, 2);
    c.number(factor);
  }
};

TEST_F(request_checks, a_list_of_operands_is_checked_element_by_element) {
  list<in<float>> parts;
  for (std::uint64_t i = 0; i < 30; ++i) parts.emplace_back(at(2 * i, 2));
  EXPECT_EQ(refusal(batch{.parts = parts, .whole = at(100, 2)}), "");
  parts[29] = in<float>(at(58, 1));
  EXPECT_NE(refusal(batch{.parts = parts, .whole = at(100, 2)})
                .find("test.batch: parts[29] holds 1 element; expected at least 2"),
            std::string::npos);
  parts[29] = in<float>(at(100, 2));
  EXPECT_NE(refusal(batch{.parts = parts, .whole = at(101, 2)}).find("whole overlaps parts[29]"), std::string::npos);
}

TEST_F(request_checks, overlaps_among_many_operands_are_found_wherever_they_are) {
  // Against every pair looked at, for random ranges of which few, or many, overlap.
  std::minstd_rand random(7);
  int found = 0;
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t room = round % 3 == 0 ? 1000 : 200;
    std::vector<in<float>> reads;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t first = random() % (room - 4), n = 2 + random() % 3;
      ranges.emplace_back(first, 2);
      reads.emplace_back(at(first, n));
    }
    const std::uint64_t whole = random() % (room - 4);
    bool overlaps = false;
    for (const auto& [first, n] : ranges) overlaps |= whole < first + n && first < whole + 2;
    found += overlaps;
    EXPECT_EQ(!refusal(batch{.parts = reads, .whole = at(whole, 2)}).empty(), overlaps) << "round " << round;
  }
  EXPECT_GT(found, 10);
  EXPECT_LT(found, 290);
}

struct blocks {
  list<inout<float>> c;
  extent ld;
  using reply = void;
  TROUPE_REQUEST("test.blocks", c, ld)
  void check(checker& k) const {
    for (const auto& one : c) k.matrix(one, 2, 3, ld);
  }
};

TEST_F(request_checks, many_operands_may_be_interleaved_blocks_of_one_matrix) {
  list<inout<float>> c;
  for (std::uint64_t i = 0; i < 16; ++i) c.emplace_back(at(2 * i, 3 * 40 - 2 * i));
  EXPECT_EQ(refusal(blocks{.c = c, .ld = 40}), "");
  c.emplace_back(at(2 * 15 + 1, 82));
  EXPECT_NE(refusal(blocks{.c = c, .ld = 40}).find("overlaps"), std::string::npos);
}

TEST_F(request_checks, lists_and_numbers_arrive_on_the_other_side) {
  list<in<float>> parts;
  for (std::uint64_t i = 0; i < 30; ++i) parts.emplace_back(at(i, 2));
  const batch r{.parts = parts, .whole = at(100, 2), .factor = 2.5};
  alignas(16) std::byte payload[payload_bytes<batch>], blob[512];
  ASSERT_EQ(blob_bytes(r), 480u);
  encode(r, payload, {blob, reinterpret_cast<std::uintptr_t>(blob)});
  const auto d = decode<batch>(payload);
  ASSERT_EQ(d.parts.size(), 30u);
  for (std::uint64_t i = 0; i < 30; ++i)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(d.parts[i].data()), mine.address + 4 * i);
  EXPECT_TRUE(d.factor.by_value());
  EXPECT_EQ(d.factor.load(), 2.5);
  double elsewhere = 4.5;
  mine.address = reinterpret_cast<std::uintptr_t>(&elsewhere);
  const batch from_memory{.parts = {}, .whole = at(100, 2), .factor = buffer<double>(mine, 0, 1)};
  encode(from_memory, payload);
  EXPECT_EQ(decode<batch>(payload).factor.load(), 4.5);
  EXPECT_FALSE(from_memory.factor.is(4.5)) << "not known before it runs";
}

struct with_option {
  in<float> x;
  std::optional<out<float>> result;
  scalar<std::array<float, 5>> five;
  using reply = void;
  TROUPE_REQUEST("test.with_option", x, result, five)
  void check(checker& c) const {
    c.elements(x, 2);
    if (result) c.elements(*result, 1);
    c.number(five);
  }
};

TEST_F(request_checks, an_operand_may_be_left_out) {
  with_option r{.x = at(0, 2), .five = std::array<float, 5>{1, 2, 3, 4, 5}};
  EXPECT_EQ(refusal(r), "");
  EXPECT_NE(describe(r).find("result=none"), std::string::npos) << describe(r);
  r.result = out<float>(at(1, 1));
  EXPECT_NE(refusal(r).find("result overlaps x"), std::string::npos) << refusal(r);
  r.result = out<float>(at(2, 0));
  EXPECT_NE(refusal(r).find("result holds 0 elements"), std::string::npos) << refusal(r);
  r.result = out<float>(at(2, 1));
  EXPECT_EQ(refusal(r), "");
  EXPECT_NE(describe(r).find("result=f32[1]@"), std::string::npos) << describe(r);

  alignas(16) std::byte payload[payload_bytes<with_option>];
  encode(r, payload);
  auto d = decode<with_option>(payload);
  ASSERT_TRUE(d.result.has_value());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(d.result->data()), mine.address + 8);
  EXPECT_EQ(d.five.load()[4], 5) << "numbers larger than 16 bytes travel whole";
  r.result.reset();
  encode(r, payload);
  EXPECT_FALSE(decode<with_option>(payload).result.has_value());
}

struct plain_matrix {
  in<float> x;
  extent rows, columns, ld, count;
  using reply = void;
  TROUPE_REQUEST("test.plain_matrix", x, rows, columns, ld, count)
  void check(checker& c) const { c.matrices(x, rows, columns, ld, count, tight); }
};

TEST_F(request_checks, columns_that_would_overlap_are_refused_also_where_the_check_has_not_looked) {
  for (const extent count : {1, 2}) {
    plain_matrix r{.x = at(0, 64), .rows = 8, .columns = 3, .ld = 5, .count = count};
    EXPECT_NE(refusal(r).find("x has a leading dimension of 5; expected at least 8 (the rows it must hold)"),
              std::string::npos)
        << refusal(r);
    r.ld = 8;
    EXPECT_EQ(refusal(r), "");
  }
}

struct with_faulty_check {
  in<float> x;
  std::optional<in<float>> y = {};
  int fault = 0;
  using reply = void;
  TROUPE_REQUEST("test.with_faulty_check", x, y, fault)
  void check(checker& c) const {
    if (fault == 1) c.also_writes(&fault);
    if (fault == 2) c.also_writes(&y);
    if (fault == 3)
      for (int i = 0; i < 5; ++i) c.may_overlap(&x, &y);
  }
};

TEST_F(request_checks, a_check_that_is_wrong_itself_is_blamed) {
  with_faulty_check r{.x = at(0, 1)};
  EXPECT_EQ(refusal(r), "");
  for (r.fault = 1; r.fault < 3; ++r.fault)
    EXPECT_EQ(
        refusal(r),
        "fatal [request] test.with_faulty_check: its check() names a place that holds no operand: a number given by "
        "value, or an optional that was left out");
  EXPECT_EQ(refusal(r), "fatal [request] test.with_faulty_check: its check() allows more than 4 overlaps");
}

struct strided {
  inout<float> c;
  extent ld, count, stride;
  in<float> other;
  using reply = void;
  TROUPE_REQUEST("test.strided", c, ld, count, stride, other)
  void check(checker& k) const {
    k.matrices(c, 2, 3, ld, count, stride);
    k.overwrites(c);
    k.elements(other, 1);
  }
};

// Against a list of the elements of 2 by 3 matrices.
TEST_F(request_checks, matrices_at_strides_touch_their_elements_and_no_others) {
  for (const std::int64_t ld : {2, 3, 8, 9})
    for (const std::int64_t stride : {2, 3, 6, 9, 24, 30})
      for (const std::int64_t count : {1, 3, 4}) {
        std::set<std::int64_t> touched;
        for (std::int64_t m = 0; m < count; ++m)
          for (std::int64_t j = 0; j < 3; ++j)
            for (std::int64_t i = 0; i < 2; ++i) touched.insert(m * stride + j * ld + i);
        const auto span = static_cast<std::uint64_t>(*touched.rbegin()) + 1;
        SCOPED_TRACE(std::to_string(ld) + ", " + std::to_string(stride) + ", " + std::to_string(count));
        const auto request = [&](std::uint64_t first, std::uint64_t room) {
          return strided{.c = at(0, room), .ld = ld, .count = count, .stride = stride, .other = at(first, 1)};
        };
        EXPECT_EQ(refusal(request(span, span)), "");
        EXPECT_NE(refusal(request(span, span - 1)).find("; expected at least " + std::to_string(span)),
                  std::string::npos);
        for (const std::int64_t i : touched)
          EXPECT_NE(refusal(request(static_cast<std::uint64_t>(i), span)).find("overlaps"), std::string::npos) << i;
      }
  // Blocks of one matrix, side by side: what lies beside them is free.
  EXPECT_EQ(refusal(strided{.c = at(0, 22), .ld = 8, .count = 3, .stride = 2, .other = at(6, 1)}), "");
}

template <class A, class B>
struct mixed {
  in<A> a;
  in<B> b;
  using reply = void;
  TROUPE_REQUEST("test.mixed", a, b)
  void check(checker&) const {}
};
TEST(request, names_types_that_are_all_the_same_once) {
  EXPECT_EQ((name_of<mixed<float, float>>()), "test.mixed<f32>");
  EXPECT_EQ((name_of<mixed<float, double>>()), "test.mixed<f32,f64>");
}

TEST(request, lets_go_of_its_buffers) {
  fake_owner owner;
  block b;
  b.owner = &owner;
  {
    const scale r{.x = buffer<float>(b, 0, 2), .n = 2};
  }
  EXPECT_EQ(owner.recycled, 1);
}

}  // namespace
}  // namespace troupe
