// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/dnn/operations/random/generator.hpp>
#include <troupe/dnn/testing/variable.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;
using numbers = std::vector<double>;

void expect_words(const random_words& got, std::array<std::uint32_t, 4> want) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(got.word[i], want[i]) << i;
}

TEST(dnn_random, words_match_the_known_answers_of_philox) {
  // Known answers that the library Random123 publishes.
  expect_words(philox(0, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect_words(philox(~0ull, ~0ull, ~0ull), {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_words(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(dnn_random, elements_are_numbered_in_row_major_order) {
  const numbers all = values_of(random_uniform({3, 5}, {77, 6}));
  ASSERT_EQ(all.size(), 15u);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i], (random_word(77, 6 + i) >> 8) * 0x1p-24) << "element " << i;
  EXPECT_EQ(values_of(random_uniform({4}, {77, 8})), numbers(all.begin() + 2, all.begin() + 6));
  EXPECT_EQ(random_word(0, 0), 0x6627e8d5u);
  EXPECT_EQ(random_word(0, 3), 0x9b00dbd8u);
  EXPECT_NE(values_of(random_uniform({3, 5}, {78, 6})), all);
}

TEST(dnn_random, numbers_have_the_mean_and_variance_of_their_distribution) {
  constexpr std::int64_t count = 40000;
  const auto mean = [](const numbers& all, int power) {
    double sum = 0;
    for (const double x : all) sum += std::pow(x, power);
    return sum / count;
  };
  const numbers uniform = values_of(random_uniform({count}, 1)), normal = values_of(random_normal({count}, 2));
  EXPECT_NEAR(mean(uniform, 1), 0.5, 0.006);
  EXPECT_NEAR(mean(uniform, 2), 1.0 / 3, 0.006);
  EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), 0);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 1);
  EXPECT_NEAR(mean(normal, 1), 0, 0.02);
  EXPECT_NEAR(mean(normal, 2), 1, 0.03);
  EXPECT_NEAR(mean(normal, 3), 0, 0.08);
  EXPECT_NEAR(mean(normal, 4), 3, 0.2);
  EXPECT_NEAR(mean(values_of(random_bernoulli({count}, 0.3, 3)), 1), 0.3, 0.01);
  EXPECT_EQ(mean(values_of(random_bernoulli({count}, 0, 3)), 1), 0);
  EXPECT_EQ(mean(values_of(random_bernoulli({count}, 1, 3)), 1), 1);
  for (const double p : {0.25, 0.1, 1e-9})
    for (std::size_t i = 0; i < 1000; ++i) {
      const std::uint32_t word = random_word(3, i);
      EXPECT_EQ(bernoulli_of<float>(word, bernoulli_limit(p)) != 0, uniform_of<double>(word) < p);
    }
}

TEST(dnn_random, normal_numbers_match_the_box_muller_transform) {
  for (std::uint64_t n = 0; n < 1000; n += 2) {
    const double u = (random_word(5, n) / 512 + 0.5) / 8388608,
                 angle = 2 * M_PI * (random_word(5, n + 1) >> 8) / 16777216;
    const double radius = std::sqrt(-2 * std::log(u));
    EXPECT_NEAR(random_normal<double>(5, n), radius * std::cos(angle), 1e-13);
    EXPECT_NEAR(random_normal<double>(5, n + 1), radius * std::sin(angle), 1e-13);
    EXPECT_NEAR(random_normal<float>(5, n), radius * std::cos(angle), 2e-6);
  }
  EXPECT_NEAR(normal_of<double>(0, 0, false), std::sqrt(48 * std::log(2.0)), 1e-12) << "the largest";
}

TEST(dnn_random, the_seed_can_be_read_from_memory) {
  const std::uint32_t seed[] = {77, 5}, with_offset[] = {77, 5, 4, 1};
  const std::int32_t negative[] = {-1, -2};
  const auto words = [](const auto& w) {
    using T = std::remove_cvref_t<decltype(w[0])>;
    const auto n = static_cast<std::int64_t>(std::size(w));
    return random_seed(value(in_any(memory_range{{}, reinterpret_cast<std::uint64_t>(&w[0]), sizeof w},
                                    {.rank = 1, .extents = {n}, .strides = {1}}, dtype_of<T>)),
                       3);
  };
  EXPECT_EQ(values_of(random_uniform({9}, words(seed))), values_of(random_uniform({9}, {77 | 5ull << 32, 3})));
  EXPECT_EQ(values_of(random_uniform({9}, words(with_offset))),
            values_of(random_uniform({9}, {77 | 5ull << 32, (4 | 1ull << 32) + 3})));
  EXPECT_EQ(values_of(random_normal({9}, words(negative))), values_of(random_normal({9}, {0xfffffffeffffffff, 3})));
}

TEST(dnn_random, dropout_scales_the_elements_that_it_retains) {
  variable x{numbers(1000), {10, 100}};
  for (std::size_t i = 0; i < 1000; ++i) x.numbers[i] = static_cast<double>(i + 1);
  x.numbers[0] = x.numbers[999] = std::nan("");
  const random_seed seed(9, 100);
  const numbers y = values_of(dropout(x.read(), 0.25, seed)), mask = values_of(random_bernoulli({1000}, 0.75, seed));
  for (std::size_t i = 1; i < 999; ++i) EXPECT_EQ(y[i], mask[i] != 0 ? x.numbers[i] * (1 / 0.75) : 0);
  EXPECT_EQ(std::isnan(y[0]), mask[0] != 0);
  EXPECT_EQ(values_of(dropout_gradient(x.read(), 0.25, seed))[1], y[1]);
  const numbers all = values_of(dropout(x.read(), 0, seed)), none = values_of(dropout(x.read(), 1, seed));
  EXPECT_EQ(all[500], 501);
  EXPECT_EQ(none, numbers(1000));
}

}  // namespace
}  // namespace troupe::dnn
