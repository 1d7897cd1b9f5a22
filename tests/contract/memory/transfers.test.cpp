// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Transfers: every size around every boundary, every element type of fill, pitches, threads.
#include <array>
#include <complex>
#include <random>
#include <troupe/device/matrix_copy.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class transfers : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam()}));
  std::mt19937_64 random{seed_or(21)};

  std::vector<std::uint8_t> noise(std::size_t n) {
    std::vector<std::uint8_t> out(n);
    std::uint64_t state = random();
    for (auto& b : out)
      b = static_cast<std::uint8_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 56);
    return out;
  }
  // Compares without printing megabytes on failure.
  static testing::AssertionResult same(std::span<const std::uint8_t> got, std::span<const std::uint8_t> expected) {
    if (got.size() != expected.size())
      return testing::AssertionFailure() << got.size() << " bytes, expected " << expected.size();
    const auto [a, b] = std::mismatch(got.begin(), got.end(), expected.begin());
    if (a == got.end()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "byte " << a - got.begin() << " is " << int{*a} << ", expected " << int{*b};
  }
};
INSTANTIATE_TEST_SUITE_P(each, transfers, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(transfers, round_trip_every_size_around_the_boundaries) {
  constexpr std::size_t kib = 1024;
  std::vector<std::size_t> sizes{
      1, 2, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, (16 << 20) + 3, (4 << 20) + 256 * kib};
  for (const std::size_t edge : {64 * kib, 128 * kib, 256 * kib, 384 * kib, 512 * kib, 768 * kib, 16 * 256 * kib})
    for (const std::size_t n : {edge - 1, edge, edge + 1}) sizes.push_back(n);
  for (const std::size_t n : sizes) {
    SCOPED_TRACE(n);
    const auto data = noise(n);
    const auto x = gpu.alloc<std::uint8_t>(n + 2);
    gpu.fill(x, std::uint8_t{0xee});
    const auto middle = x.slice(1, n);
    gpu.upload(middle, data);  // at an odd address: nothing beside it may change
    const auto whole = gpu.download(x).get().value();
    EXPECT_TRUE(same(std::span(whole).subspan(1, n), data));
    EXPECT_EQ(whole.front(), 0xee);
    EXPECT_EQ(whole.back(), 0xee);
    std::vector<std::uint8_t> room(n + 5, 0x11);
    EXPECT_OK(gpu.download(middle, std::span(room)).get());
    EXPECT_TRUE(same(std::span(room).first(n), data));
    EXPECT_EQ(std::vector<std::uint8_t>(room.end() - 5, room.end()), std::vector<std::uint8_t>(5, 0x11))
        << "written past the end";
  }
}

TEST_P(transfers, have_read_ordinary_memory_when_upload_returns) {
  for (const std::size_t n : {100u, 1'000'000u}) {
    auto data = noise(n);
    const auto expected = data;
    const auto x = gpu.alloc<std::uint8_t>(n);
    auto done = gpu.upload(x, data);
    std::fill(data.begin(), data.end(), std::uint8_t{0});
    EXPECT_OK(done.get());
    EXPECT_TRUE(same(gpu.download(x).get().value(), expected));
  }
}

TEST_P(transfers, allocate_for_an_upload_of_values) {
  EXPECT_EQ(gpu.download(gpu.upload(counting(100))).get().value(), counting(100));
  EXPECT_EQ(gpu.download(gpu.upload(std::array{1, 2, 3})).get().value(), (std::vector{1, 2, 3}));
  const buffer<complex64> z = gpu.upload(std::vector<std::complex<float>>{{1, 2}, {3, 4}});
  EXPECT_EQ(gpu.download(z).get().value()[1], complex64(3, 4));
  EXPECT_EQ(gpu.download(gpu.upload(std::vector<float>())).get().value(), std::vector<float>());
}

TEST_P(transfers, replace_only_the_front_by_a_smaller_upload) {
  const auto x = gpu.alloc<float>(10);
  gpu.fill(x, 7.0f);
  gpu.upload(x, counting(3));
  EXPECT_EQ(gpu.download(x).get().value(), (std::vector<float>{0, 1, 2, 7, 7, 7, 7, 7, 7, 7}));
}

TEST_P(transfers, round_trip_host_buffers_without_a_copy) {
  const std::size_t n = (3 << 20) + 1;
  const auto data = noise(n);
  const auto from = gpu.alloc_host<std::uint8_t>(n), to = gpu.alloc_host<std::uint8_t>(n + 10, {.zeroed = true});
  std::copy(data.begin(), data.end(), from.begin());
  const auto x = gpu.alloc<std::uint8_t>(n);
  const auto staging_before = gpu.statistics().host_memory;
  gpu.upload(x, from);
  EXPECT_OK(gpu.download(x, to.slice(5, n)).get());
  EXPECT_EQ(gpu.statistics().host_memory.allocations, staging_before.allocations) << "no staging memory was allocated";
  EXPECT_TRUE(same(to.slice(5, n).span(), data));
  for (const std::size_t i : {0u, 1u, 2u, 3u, 4u}) EXPECT_EQ(to[i] + to[n + 5 + i], 0);
}

TEST_P(transfers, requests_can_use_host_buffers) {
  const auto h = gpu.alloc_host<float>(8, {.zeroed = true});
  EXPECT_OK(gpu.ask(increment{.x = h, .n = 8}).get());
  EXPECT_EQ(h[7], 1.0f);
  EXPECT_EQ(h.span().size(), 8u);
}

template <std::size_t Bytes>
struct blob {
  std::uint8_t bytes[Bytes];
};

template <std::size_t... Bytes>
void fill_each(const device& gpu, std::index_sequence<Bytes...>) {
  const auto one = [&]<std::size_t B>(std::integral_constant<std::size_t, B>) {
    SCOPED_TRACE(B);
    blob<B> value;
    for (std::size_t i = 0; i < B; ++i) value.bytes[i] = static_cast<std::uint8_t>(i * 16 + B);
    for (const int n : {1, 2, 3, 7, 64, 1000, 30'000}) {
      const auto x = gpu.alloc<blob<B>>(n + 2);
      gpu.fill(x.template as<std::uint8_t>(), std::uint8_t{0xee});
      gpu.fill(x.slice(1, n), value);
      const auto got = gpu.download(x.template as<std::uint8_t>()).get().value();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const bool edge = i < B || i >= (static_cast<std::size_t>(n) + 1) * B;
        ASSERT_EQ(got[i], edge ? 0xee : value.bytes[i % B]) << "byte " << i << " of " << n;
      }
    }
  };
  (one(std::integral_constant<std::size_t, Bytes + 1>{}), ...);
}

TEST_P(transfers, a_fill_accepts_elements_of_1_to_16_bytes) { fill_each(gpu, std::make_index_sequence<16>{}); }

TEST_P(transfers, copy_only_the_block_in_two_dimensions) {
  for (int round = 0; round < 60; ++round) {
    const std::size_t rows = 1 + random() % 20, columns = 1 + random() % 20;
    const std::size_t from_ld = rows + random() % 4, to_ld = rows + random() % 4;
    SCOPED_TRACE(testing::PrintToString(std::vector{rows, columns, from_ld, to_ld}));
    const auto source = counting(from_ld * columns, 1);
    std::vector<float> expected(to_ld * columns, -1.0f);
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t i = 0; i < rows; ++i) expected[j * to_ld + i] = source[j * from_ld + i];
    const auto a = gpu.alloc<float>(source.size()), b = gpu.alloc<float>(expected.size());
    gpu.upload(a, source);
    gpu.fill(b, -1.0f);
    copy_2d(gpu, matrix_copy{.to = b, .to_ld = to_ld, .from = a, .from_ld = from_ld, .rows = rows, .columns = columns});
    EXPECT_EQ(gpu.download(b).get().value(), expected);
  }
}

TEST_P(transfers, may_touch_but_not_overlap_within_one_buffer) {
  const auto x = gpu.alloc<float>(100);
  gpu.upload(x, counting(100));
  EXPECT_OK(gpu.copy(x.slice(50, 50), x.slice(0, 50)).get());
  const auto got = gpu.download(x).get().value();
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(got[i], static_cast<float>(i % 50));
}

TEST_P(transfers, keep_overlapping_uploads_of_several_threads_atomic) {
  constexpr std::size_t n = 600'000, step = 100'000;
  const auto x = gpu.alloc<std::uint8_t>(n + 3 * step);
  gpu.fill(x, std::uint8_t{0});
  std::vector<std::thread> threads;
  for (std::uint8_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<std::uint8_t> mine(n, static_cast<std::uint8_t>(t + 1));
      for (int i = 0; i < 4; ++i) EXPECT_OK(gpu.upload(x.slice(t * step, n), mine).get());
    });
  }
  for (auto& t : threads) t.join();
  // The result must be as if the uploads ran one at a time: between two neighboring starts or ends, all elements are
  // from one upload.
  const auto got = gpu.download(x).get().value();
  for (std::size_t s = 0; s < got.size(); s += step) {
    EXPECT_NE(got[s], 0);
    for (std::size_t i = s; i < s + step; ++i) ASSERT_EQ(got[i], got[s]) << "torn at byte " << i;
  }
}

TEST_P(transfers, complete_many_downloads_at_once) {
  const std::size_t n = 300'000;
  std::vector<buffer<std::uint8_t>> all;
  std::vector<std::vector<std::uint8_t>> data;
  std::vector<pending<std::vector<std::uint8_t>>> answers;
  for (int i = 0; i < 12; ++i) {
    all.push_back(gpu.alloc<std::uint8_t>(n));
    data.push_back(noise(n));
    gpu.upload(all.back(), data.back());
    answers.push_back(gpu.download(all.back()));
  }
  for (std::size_t i = answers.size(); i-- > 0;) EXPECT_TRUE(same(answers[i].get().value(), data[i]));
}

TEST_P(transfers, finish_downloads_on_the_reactor_if_no_thread_waits) {
  const std::size_t n = 5'000'000;
  const auto data = noise(n);
  const auto x = gpu.alloc<std::uint8_t>(n);
  gpu.upload(x, data);
  std::atomic<int> state{0};
  gpu.download(x).then([&](const result<std::vector<std::uint8_t>>& r) {
    state = r && same(*r, data) ? 1 : 2;
    state.notify_all();
  });
  state.wait(0);
  EXPECT_EQ(state, 1);
}

TEST_P(transfers, pipelined_give_the_same_as_one_at_a_time) {
  const auto x = gpu.alloc<float>(100'000), y = gpu.alloc<float>(100'000);
  for (int round = 0; round < 30; ++round) {
    gpu.fill(x, static_cast<float>(round));
    gpu.tell(increment{.x = x, .n = 100'000});
    gpu.tell(testing_actor::copy{.source = x, .target = y, .n = 100'000});
    gpu.fill(x, -1.0f);
    auto got = gpu.download(y);
    gpu.fill(y, -2.0f);
    EXPECT_EQ(got.get().value(), std::vector<float>(100'000, static_cast<float>(round + 1)));
  }
}

}  // namespace
}  // namespace troupe::whole
