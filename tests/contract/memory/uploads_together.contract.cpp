// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Small uploads that wait in the mailbox, which engines combine into one call: the result is the same as one by one.
#include <random>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using bytes = std::vector<std::uint8_t>;

class uploads_together : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam()}));
  std::mt19937_64 random{seed_or(31)};

  std::size_t below(std::size_t limit) { return random() % limit; }
};
INSTANTIATE_TEST_SUITE_P(each, uploads_together, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

// Uploads have any size around the limit of an engine and any address; many overwrite others.
TEST_P(uploads_together, leave_the_same_bytes_as_one_by_one) {
  constexpr std::size_t room = 256 << 10;
  const auto x = gpu.alloc<std::uint8_t>(room, {.zeroed = true});
  bytes expected(room);
  for (int again = 0; again < 6; ++again) {
    hold_up b(gpu);
    for (int i = 0; i < 120; ++i) {
      const std::size_t n = below(4) == 0 ? 1 + below(20 << 10) : 1 + below(600), at = below(room - n);
      bytes data(n);
      for (auto& one : data) one = static_cast<std::uint8_t>(random());
      std::copy(data.begin(), data.end(), expected.begin() + static_cast<std::ptrdiff_t>(at));
      gpu.upload(x.slice(at, n), data);
    }
    b.lift();
    const bytes got = gpu.download(x).get().value();
    const auto wrong = std::mismatch(got.begin(), got.end(), expected.begin()).first;
    ASSERT_EQ(wrong, got.end()) << "byte " << wrong - got.begin() << " is wrong";
  }
}

// Sends as many as share a call, each to a place of its own with other bytes between.
TEST_P(uploads_together, write_nothing_beside_their_targets) {
  constexpr std::size_t stride = 5000, count = 64;
  for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{16}, std::size_t{4095}, std::size_t{4096}}) {
    const auto x = gpu.alloc<std::uint8_t>(stride * count, {.zeroed = true});
    hold_up b(gpu);
    for (std::size_t i = 0; i < count; ++i)
      gpu.upload(x.slice(i * stride + i % 17, n), bytes(n, static_cast<std::uint8_t>(i + 1)));
    b.lift();
    const bytes got = gpu.download(x).get().value();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t which = i / stride, at = i % stride;
      const bool inside = at >= which % 17 && at < which % 17 + n;
      ASSERT_EQ(got[i], inside ? which + 1 : 0) << "byte " << i << ", uploads of " << n;
    }
  }
}

TEST_P(uploads_together, can_be_cancelled_one_by_one) {
  constexpr std::size_t count = 32, n = 4096;
  std::vector<buffer<std::uint8_t>> to;
  for (std::size_t i = 0; i < count; ++i) to.push_back(gpu.alloc<std::uint8_t>(n, {.zeroed = true}));
  hold_up b(gpu);
  std::vector<pending<void>> answers;
  for (std::size_t i = 0; i < count; ++i)
    answers.push_back(gpu.upload(to[i], bytes(n, static_cast<std::uint8_t>(i + 1))));
  answers[13].cancel();
  b.lift();
  const auto cancelled = answers[13].get();
  if (!cancelled || engine_under_test() != "cuda") {  // a GPU's worker may have started it before it was cancelled
    EXPECT_TRUE(is_error(error_of(cancelled), reaction::retry_later, {"cancelled"}));
    EXPECT_FALSE(to[13].readable());
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 13) continue;
    EXPECT_OK(answers[i].get());
    EXPECT_EQ(gpu.download(to[i]).get().value(), bytes(n, static_cast<std::uint8_t>(i + 1))) << "upload " << i;
  }
}

}  // namespace
}  // namespace troupe::whole
