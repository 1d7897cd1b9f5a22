// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/request/encoding/encoded_field.hpp>
#include <troupe/request/testing/request_fixture.hpp>

namespace troupe::request_tests {
namespace {

struct rounding {
  side toward = side::left;
  std::uint64_t steps = 1;
  TROUPE_FIELDS(toward, steps)
};

struct shift {
  in<float> from;
  out<float> to;
  extent n;
  rounding options = {};
  text note = {};
  TROUPE_REQUEST("test.shift", from, to, n, options, note)
  void check(checker& c) const {
    c.elements(from, n);
    c.elements(to, n);
    c.require(options.steps > 0, options.steps, "is 0", "at least 1");
    c.leaves_some(&to);
  }
};

template <class R>
struct rehearse {
  int times;
  R request;
  std::optional<out<float>> log = {};
  TROUPE_REQUEST("test.rehearse", times, request, log)
  void check(checker& c) const {
    request.check(c);
    c.only_reads(request);
    if (log) c.elements(*log, 1);
  }
};

class field_groups : public request_checks {
 protected:
  rehearse<shift> make() {
    return {.times = 3,
            .request = {.from = at(0, 4), .to = at(4, 4), .n = 4, .options = {.steps = 7}, .note = text("a note")}};
  }
};

TEST_F(field_groups, are_named_after_the_field_that_holds_them) {
  rehearse<shift> r = make();
  EXPECT_EQ(refusal(r), "");
  r.request.options.steps = 0;
  EXPECT_EQ(refusal(r), "caller_bug [request] test.rehearse<shift>: request.options.steps is 0; expected at least 1");
  EXPECT_EQ(refusal(r.request), "caller_bug [request] test.shift: options.steps is 0; expected at least 1");
  r = make(), r.request.n = 5;
  EXPECT_NE(refusal(r).find("test.rehearse<shift>: request.from holds 4 elements"), std::string::npos) << refusal(r);
  r = make(), r.log = at(2, 4);
  EXPECT_NE(refusal(r).find("log overlaps request.from"), std::string::npos) << refusal(r);
}

TEST_F(field_groups, unknown_enumerators_are_refused_before_the_request_is_checked) {
  rehearse<shift> r = make();
  r.request.options = {.toward = side(2), .steps = 0};
  EXPECT_EQ(refusal(r),
            "caller_bug [request] test.rehearse<shift>: request.options.toward is 2; expected left or right");
  EXPECT_EQ(refusal(r.request), "caller_bug [request] test.shift: options.toward is 2; expected left or right");
  r.request.options = {.toward = side(-1)};
  EXPECT_EQ(refusal(r.request), "caller_bug [request] test.shift: options.toward is -1; expected left or right");
}

TEST_F(field_groups, of_a_request_that_is_only_prepared_count_as_read) {
  rehearse<shift> r = make();
  r.request.to = at(0, 4);
  EXPECT_NE(refusal(r.request).find("to overlaps from"), std::string::npos);
  EXPECT_EQ(refusal(r), "");
  mine.seal = seal_state::sealed;
  EXPECT_EQ(refusal(r), "");
  checker c(r, &owner, 0);
  r.check(c);
  EXPECT_EQ(c.finish(), std::nullopt);
  ASSERT_EQ(c.uses().size(), 2u);
  EXPECT_EQ(c.uses()[1].touched.mode, access_mode::read);
}

TEST_F(field_groups, are_unchanged_by_encoding_which_sets_every_byte) {
  using request = rehearse<shift>;
  const request r = make();
  alignas(8) std::array<std::byte, payload_bytes<request>> payload, again;
  payload.fill(std::byte{1}), again.fill(std::byte{2});
  std::vector<std::byte> blob(blob_bytes(r) + 8);
  auto* const aligned = blob.data();
  encode(r, payload.data(), {aligned, reinterpret_cast<std::uintptr_t>(aligned)});
  encode(r, again.data(), {aligned, reinterpret_cast<std::uintptr_t>(aligned)});
  EXPECT_EQ(payload, again);
  const request back = decode<request>(payload.data());
  EXPECT_EQ(back.times, 3);
  EXPECT_EQ(back.request.to.range().address, 0x1000u + 16);
  EXPECT_EQ(back.request.n, extent(4));
  EXPECT_EQ(back.request.options.toward, side::left);
  EXPECT_EQ(back.request.options.steps, 7u);
  EXPECT_EQ(back.request.note.str(), "a note");
  EXPECT_FALSE(back.log);
  std::string all;
  for (const encoded_operand& o :
       operands_of(encoded_fields_of<request>, request::request_fields, payload, 1, std::span<const std::byte>()))
    all += to_string(o) + "\n";
  EXPECT_EQ(all, "request.from (f32[4])\nrequest.to (f32[4])\n");
}

TEST_F(field_groups, are_described_with_their_fields) {
  EXPECT_EQ(describe(make().request),
            "test.shift{from=f32[4]@1000, to=f32[4]@1010, n=4, options={toward=left, steps=7}, note=\"a note\"}");
}

/// A struct like `options`, in which one field has another name.
struct other_rounding {
  side to = side::left;
  std::uint64_t steps = 1;
  TROUPE_FIELDS(to, steps)
};
template <class Options>
struct with_options {
  Options options;
  TROUPE_REQUEST("test.with_options", options)
  void check(checker&) const {}
};
static_assert(opcode_of<rehearse<shift>> != opcode_of<rehearse<scale>>);
static_assert(opcode_of<with_options<rounding>> != opcode_of<with_options<other_rounding>>);

}  // namespace
}  // namespace troupe::request_tests
