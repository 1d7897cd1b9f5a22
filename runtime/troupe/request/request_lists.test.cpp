// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/request/testing/request_fixture.hpp>

namespace troupe::request_tests {
namespace {

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
  TROUPE_REQUEST("test.map", x, m, n, weights, count)
  void check(checker&) const {}
};
}  // namespace retyped
template <class T>
struct structs {
  in<T> x;
  TROUPE_REQUEST("test.structs", x)
  void check(checker&) const {}
};

TEST(request, has_another_opcode_if_any_field_differs) {
  EXPECT_EQ(name_of<map<float>>(), name_of<swapped::map<float>>());
  EXPECT_NE(opcode_of<map<float>>, opcode_of<swapped::map<float>>) << "m and n would be swapped";
  EXPECT_NE(opcode_of<map<float>>, opcode_of<wider::map<float>>);
  EXPECT_NE(opcode_of<map<float>>, opcode_of<heavier::map<float>>);
  EXPECT_NE(opcode_of<map<float>>, opcode_of<retyped::map<float>>);
  EXPECT_EQ(name_of<structs<pair>>(), name_of<structs<triple>>());
  EXPECT_NE(opcode_of<structs<pair>>, opcode_of<structs<triple>>)
      << "its bounds are checked in elements of another size";
}

struct batch {
  list<in<float>> parts;
  out<float> whole;
  scalar<double> factor = 1;
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

TEST_F(request_checks, overlaps_among_many_operands_are_found_at_any_position) {
  // Compares with a check of every pair, for random ranges of which some or many overlap.
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

TEST_F(request_checks, lists_and_numbers_are_unchanged_by_encoding_and_decoding) {
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
  EXPECT_FALSE(from_memory.factor.is(4.5)) << "unknown before it runs";
}

struct with_option {
  in<float> x;
  std::optional<out<float>> result;
  scalar<std::array<float, 5>> five;
  TROUPE_REQUEST("test.with_option", x, result, five)
  void check(checker& c) const {
    c.elements(x, 2);
    if (result) c.elements(*result, 1);
    c.number(five);
  }
};

TEST_F(request_checks, an_optional_operand_may_be_omitted) {
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
  EXPECT_EQ(d.five.load()[4], 5) << "numbers larger than 16 bytes are encoded whole";
  r.result.reset();
  encode(r, payload);
  EXPECT_FALSE(decode<with_option>(payload).result.has_value());
}

struct plain_matrix {
  in<float> x;
  extent rows, columns, ld, count;
  TROUPE_REQUEST("test.plain_matrix", x, rows, columns, ld, count)
  void check(checker& c) const { c.matrices(x, rows, columns, ld, count, tight); }
};

TEST_F(request_checks, overlapping_columns_are_refused_even_if_the_check_does_not_call_leading) {
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
  TROUPE_REQUEST("test.with_faulty_check", x, y, fault)
  void check(checker& c) const {
    if (fault == 1) c.also_writes(&fault);
    if (fault == 2) c.also_writes(&y);
    if (fault == 3)
      for (int i = 0; i < 5; ++i) c.may_overlap(&x, &y);
  }
};

TEST_F(request_checks, a_mistake_in_a_check_is_reported_as_a_fatal_error) {
  with_faulty_check r{.x = at(0, 1)};
  EXPECT_EQ(refusal(r), "");
  for (r.fault = 1; r.fault < 3; ++r.fault)
    EXPECT_EQ(
        refusal(r),
        "fatal [request] test.with_faulty_check: its check() names a place that holds no operand: a number given by "
        "value, or an optional that was left out");
  EXPECT_EQ(refusal(r),
            "fatal [request] test.with_faulty_check: its check() allows more than 4 pairs of operands to overlap");
}

struct strided {
  inout<float> c;
  extent ld, count, stride;
  in<float> other;
  TROUPE_REQUEST("test.strided", c, ld, count, stride, other)
  void check(checker& k) const {
    k.matrices(c, 2, 3, ld, count, stride);
    k.overwrites(c);
    k.elements(other, 1);
  }
};

// Compares with an enumeration of the elements of 2 x 3 matrices.
TEST_F(request_checks, strided_matrices_touch_only_their_elements) {
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
  // Column blocks of one matrix, side by side: the request does not touch the rest of that matrix.
  EXPECT_EQ(refusal(strided{.c = at(0, 22), .ld = 8, .count = 3, .stride = 2, .other = at(6, 1)}), "");
}

template <class A, class B>
struct mixed {
  in<A> a;
  in<B> b;
  TROUPE_REQUEST("test.mixed", a, b)
  void check(checker&) const {}
};
TEST(request, name_lists_equal_types_once) {
  EXPECT_EQ((name_of<mixed<float, float>>()), "test.mixed<f32>");
  EXPECT_EQ((name_of<mixed<float, double>>()), "test.mixed<f32,f64>");
}

TEST(request, releases_its_buffers_when_it_is_destroyed) {
  fake_owner owner;
  block b;
  b.owner = &owner;
  {
    const scale r{.x = buffer<float>(b, 0, 2), .n = 2};
  }
  EXPECT_EQ(owner.recycled, 1);
}

}  // namespace
}  // namespace troupe::request_tests
