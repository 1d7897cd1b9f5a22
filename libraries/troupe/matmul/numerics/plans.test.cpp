// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests requests about plans, and small products that share a launch.
#include <troupe/base/half.hpp>
#include <troupe/matmul/testing/numerics.hpp>

namespace troupe::matmul {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op;
using enum stored_matrices::storing;

class matmul_plans : public matmul_numerics {
 protected:
  static constexpr std::int64_t m = 64, n = 48, k = 320;
  matmul_plans()
      : a(dtype::f16, 1, m, k, random, tidy_rows),
        b(dtype::f16, 1, k, n, random, tidy_columns),
        d(dtype::f16, 1, m, n, random, tidy_rows) {
    a.fill([&] { return whole(dtype::f16); });
    b.fill([&] { return whole(dtype::f16); });
  }
  multiplication product() {
    return {.a = a.operand<access_mode::read>(false),
            .b = b.operand<access_mode::read>(false),
            .d = d.operand<access_mode::write>(false),
            .epilogue = relu(acc + expression::reading(op::load_row, bias))};
  }
  void expect_product() {
    run(product());
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const epilogue::memory_operand memory{bias.range.address, bias.shape, bias.batch_stride,
                                              bias.type,          bias.mode,  {}};
        double sum = epilogue::number_at(memory.at(0, 0, j), bias.type);
        for (std::int64_t l = 0; l < k; ++l) sum += a.get(0, i, l).real * b.get(0, l, j).real;
        ASSERT_NEAR(d.get(0, i, j).real, std::max(0.0, sum), 0x1p-10 * std::fabs(sum) + 1e-3);
      }
  }

  stored_matrices a, b, d;
  expression::memory_operand bias = operand(dtype::f16, 1, 1, n, tidy_rows);
};

TEST_F(matmul_plans, preparing_and_measuring_do_not_write_the_operands) {
  auto p = prepare{product()};
  const auto found = engine->run(p);
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_TRUE(found->fused);
  EXPECT_EQ(found->measured, 0);

  std::vector<std::uint64_t> words(choice::size, 99);
  p.measure = 3;
  p.options.chosen = out<std::uint64_t>(reinterpret_cast<std::uint64_t>(words.data()), words.size());
  const auto measured = engine->run(p);
  ASSERT_TRUE(measured) << measured.error().to_string();
  const choice chosen{words};
  if (!engine->is_cuda()) {
    EXPECT_EQ(found->source, plan_source::none);
    EXPECT_EQ(measured->measured, 0);
    EXPECT_EQ(chosen, choice()) << "the host engine has one algorithm";
  } else {
    EXPECT_NE(found->source, plan_source::none);
    EXPECT_EQ(measured->source, plan_source::measured);
    EXPECT_GE(measured->measured, 1);
    EXPECT_GT(measured->microseconds, 0);
    EXPECT_LE(measured->microseconds, measured->first_microseconds);
    EXPECT_NE(chosen.library(), 0u);
  }
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) ASSERT_TRUE(d.is_poisoned(0, i, j));

  auto again = prepare{product()};
  again.options.choice = chosen;
  const auto given = engine->run(again);
  ASSERT_TRUE(given) << given.error().to_string();
  EXPECT_EQ(given->source, engine->is_cuda() ? plan_source::given : plan_source::none);
  EXPECT_EQ(given->algorithm, measured->algorithm);
  expect_product();

  again.options.choice.words.fill(7);
  const auto wrong = engine->run(again);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("choice is an algorithm of cuBLASLt"), std::string::npos) << wrong.error().text();
  expect_product();
}

TEST_F(matmul_plans, a_choice_is_written_for_a_product_without_an_epilogue) {
  multiplication r = product();
  r.epilogue = acc;
  std::vector<std::uint64_t> words(choice::size, 99);
  auto p = prepare{r};
  p.options.chosen = out<std::uint64_t>(reinterpret_cast<std::uint64_t>(words.data()), words.size());
  ASSERT_TRUE(engine->run(p));
  EXPECT_EQ(choice{words}.library() != 0, engine->is_cuda());
}

TEST_F(matmul_plans, a_repeated_product_makes_at_most_one_plan) {
  const auto before = engine->run(read_statistics{.start_anew = true});
  ASSERT_TRUE(before);
  expect_product();
  expect_product();
  const auto after = engine->run(read_statistics{});
  ASSERT_TRUE(after);
  EXPECT_LE(after->made, 1u);
  EXPECT_GE(after->plans, engine->is_cuda() ? 1u : 0u);
}

TEST_F(matmul_plans, small_products_have_the_same_bits_alone_and_together) {
  constexpr std::int64_t size = 24;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16, dtype::i8, dtype::f8e5m2}) {
    std::vector<std::unique_ptr<stored_matrices>> all;
    std::vector<multiplication> requests;
    stored_matrices shape(t, 1, size, size, random);
    const auto one = [&](auto&& value) -> stored_matrices& {
      auto& made = *all.emplace_back(std::make_unique<stored_matrices>(t, 1, size, size, random, tidy_rows));
      made.fill(value);
      return made;
    };
    std::vector<stored_matrices*> results;
    for (int i = 0; i < 50; ++i) {
      stored_matrices &x = one([&] { return element_value{random.value(), 0}; }),
                      &y = one([&] { return element_value{random.value(), 0}; });
      results.push_back(
          all.emplace_back(std::make_unique<stored_matrices>(dtype::f32, 1, size, size, random, tidy_rows)).get());
      requests.push_back(
          {.a = x.operand<access_mode::read>(false),
           .b = y.operand<access_mode::read>(false),
           .d = results.back()->operand<access_mode::write>(false),
           .epilogue = silu(acc + expression::reading(op::load_row, operand(dtype::f32, 1, 1, size, tidy_rows)))});
    }
    const auto together = engine->run_together(requests);
    if (together.empty()) {
      EXPECT_FALSE(engine->is_cuda()) << "the products do not share a call";
      return;
    }
    std::vector<std::vector<double>> got;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      ASSERT_TRUE(together[i]) << together[i].error().to_string();
      EXPECT_TRUE(together[i]->fused);
      auto& bits = got.emplace_back();
      for (std::int64_t r = 0; r < size; ++r)
        for (std::int64_t q = 0; q < size; ++q) bits.push_back(results[i]->get(0, r, q).real);
      run(requests[i]);
      std::size_t next = 0;
      for (std::int64_t r = 0; r < size; ++r)
        for (std::int64_t q = 0; q < size; ++q) ASSERT_EQ(results[i]->get(0, r, q).real, bits[next++]) << i;
    }
  }
}

}  // namespace
}  // namespace troupe::matmul
