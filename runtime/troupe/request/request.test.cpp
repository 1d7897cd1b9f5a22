// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/request/testing/request_fixture.hpp>

namespace troupe::request_tests {
namespace {

TEST_F(request_checks, a_valid_request_passes_and_lists_its_accesses) {
  const multiply<float> r{.a = at(0, 16), .b = at(16, 16), .c = at(32, 16), .m = 4, .n = 4, .k = 4};
  EXPECT_EQ(refusal(r), "");
  checker c(r, &owner, 0);
  r.check(c);
  ASSERT_EQ(c.uses().size(), 3u);
  EXPECT_EQ(c.uses()[2].touched.begin, 0x1000u + 128);
  EXPECT_EQ(c.uses()[2].touched.end, 0x1000u + 192);
  EXPECT_EQ(c.uses()[2].touched.mode, access_mode::write) << "beta is 0";
}

TEST_F(request_checks, each_invalid_size_is_refused_with_field_and_value) {
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

TEST_F(request_checks, invalid_plain_integers_are_refused_like_extents) {
  relax r{.cells = at(0, 16), .totals = at(16, 4), .rows = 4, .columns = 4};
  EXPECT_EQ(refusal(r), "");
  r.steps = -1;
  EXPECT_EQ(refusal(r), "caller_bug [request] test.relax: steps is -1; expected at least 0");
  r.steps = 1;
  r.every = 0;
  EXPECT_NE(refusal(r).find("test.relax: every is 0; expected a nonzero increment"), std::string::npos) << refusal(r);
}

TEST_F(request_checks, tight_means_no_gap_between_columns_or_elements) {
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

TEST_F(request_checks, buffers_that_are_empty_or_of_another_device_are_refused_and_old_ones_renewed) {
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

TEST_F(request_checks, a_stale_input_is_refused_with_its_cause_and_a_stale_output_is_not) {
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

TEST_F(request_checks, a_stale_output_that_is_written_in_part_is_refused_with_the_remedy) {
  owner.stale_begin = 0x1000;
  owner.stale_end = 0x1040;
  mine.stale_marks = 1;
  const multiply<float> r{.a = at(100, 16), .b = at(200, 16), .c = at(0, 30), .m = 4, .n = 4, .k = 4, .ldc = 8};
  const std::string why =
      "an earlier request failed; test.multiply<f32> writes only a part of c and keeps the rest, so all of c must be "
      "valid: upload or fill it first";
  EXPECT_NE(refusal(r).find(why + " (reached through"), std::string::npos) << refusal(r);
  checker c(r, &owner, 0);
  r.check(c);
  owner.last = c.finish();
  ASSERT_TRUE(owner.last);
  EXPECT_EQ(owner.last->text(), why);
  EXPECT_EQ(refusal(r).find(why), refusal(r).rfind("an earlier request failed")) << "a refusal adds nothing to itself";
}

TEST_F(request_checks, errors_of_the_request_are_reported_before_errors_of_its_data) {
  mine.stale_marks = 1;
  owner.stale_begin = 0x1000, owner.stale_end = 0x2000;
  const multiply<float> overlaps{.a = at(0, 4), .b = at(8, 4), .c = at(2, 4), .m = 2, .n = 2, .k = 2};
  EXPECT_NE(refusal(overlaps).find("c overlaps a"), std::string::npos) << refusal(overlaps);
  mine.seal = seal_state::sealed;
  const multiply<float> sealed{.a = at(0, 4), .b = at(8, 4), .c = at(16, 4), .m = 2, .n = 2, .k = 2};
  EXPECT_NE(refusal(sealed).find("c is sealed"), std::string::npos) << refusal(sealed);
  mine.seal = seal_state::open;
  EXPECT_NE(refusal(sealed).find("an earlier request failed"), std::string::npos) << refusal(sealed);
  const multiply<float> small{.a = at(0, 4), .b = at(8, 4), .c = at(16, 4), .m = -1, .n = 2, .k = 2};
  EXPECT_NE(refusal(small).find("m is -1"), std::string::npos) << refusal(small);
}

TEST_F(request_checks, a_buffer_whose_allocation_failed_is_refused_even_as_an_output) {
  mine.address = 0;
  EXPECT_NE(refusal(scale{.x = at(0, 4), .n = 4}).find("an earlier request failed"), std::string::npos);
}

TEST_F(request_checks, increments_are_checked_by_the_rules_of_blas) {
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

// Compares the check, for every position of two blocks in one matrix, with a plain comparison of their elements.
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

TEST_F(request_checks, the_first_request_that_an_error_refuses_is_not_in_its_chain) {
  mine.stale_marks = 1;
  owner.stale_begin = 0x1000;
  owner.stale_end = 0x1040;
  owner.last = error(reaction::stopped, "device", "closed");
  EXPECT_EQ(refusal(scale{.x = at(0, 4), .n = 4}), "stopped [device] test.scale: closed");
}

TEST_F(request_checks, an_error_names_at_most_max_chain_requests_that_it_reached) {
  mine.stale_marks = 1;
  owner.stale_begin = 0x1000;
  owner.stale_end = 0x1040;
  for (int i = 0; i < 100; ++i) {
    const scale r{.x = at(0, 4), .n = 4};
    checker c(r, &owner, 0);
    r.check(c);
    ASSERT_TRUE(c.finish());
    owner.last = c.finish();  // as device_memory does after a refusal
  }
  EXPECT_EQ(owner.last->chain().size(), max_chain);
}

TEST_F(request_checks, interleaved_vectors_do_not_overlap) {
  EXPECT_EQ(refusal(add{.x = at(0, 31), .y = at(1, 31), .n = 4, .incx = 10, .incy = 10}), "")
      << "two rows of one matrix";
  EXPECT_EQ(refusal(add{.x = at(3, 31), .y = at(1, 31), .n = 4, .incx = 10, .incy = -10}), "");
  EXPECT_NE(refusal(add{.x = at(0, 31), .y = at(10, 31), .n = 4, .incx = 10, .incy = 10}).find("y overlaps x"),
            std::string::npos);
  EXPECT_NE(refusal(add{.x = at(0, 31), .y = at(1, 31), .n = 4, .incx = 10, .incy = 5}).find("y overlaps x"),
            std::string::npos);
}

TEST(request, is_unchanged_by_encoding_and_decoding) {
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

// Requests that differ from the first in one property each.

}  // namespace
}  // namespace troupe::request_tests
