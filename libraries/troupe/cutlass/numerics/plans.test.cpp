// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks plans that are prepared, and plans that a request forces.
#include <string>
#include <troupe/cutlass/testing/numerics.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op;

class cutlass_plans : public gemm_suite {
 protected:
  static constexpr std::int64_t m = 200, n = 144, k = 320;
  cutlass_plans()
      : a({dtype::bf16, 1, m, k, true, storing::tidy_rows}, random),
        b({dtype::bf16, 1, n, k, false, storing::tidy_columns}, random),
        d(dtype::bf16, 1, m, n, random, storing::tidy_rows) {}
  gemm product(const plan& p = {}) {
    gemm r = request_of(a, false, b, false, d.operand<access_mode::write>(false),
                        relu(acc + expression::reading(op::load_row, bias)));
    r.options.plan = p;
    return r;
  }
  // Runs the product with a plan. Expects the right result, or a refusal as `unsupported`.
  void expect_right_or_unsupported(const plan& p) {
    SCOPED_TRACE(to_string(p));
    const auto done = engine->run(product(p));
    if (!done) {
      EXPECT_EQ(done.error().reaction(), reaction::unsupported) << done.error().text();
      EXPECT_EQ(done.error().domain(), "cutlass");
      EXPECT_FALSE(done.error().text().empty());
      return;
    }
    EXPECT_TRUE(engine->is_cuda()) << "the host engine has no choices";
    expect_product();
  }
  void expect_product() {
    const std::vector<double> x = a.values(0), y = b.values(0);
    const epilogue::memory_operand bias_memory{bias.range.address, bias.shape, bias.batch_stride,
                                               bias.type,          bias.mode,  {}};
    comparison c(1e-6);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const double sum = sum_of_products(x, i, y, j, k) + epilogue::number_at(bias_memory.at(0, 0, j), bias.type);
        c.expect_near(d.get(0, i, j).real, std::max(0.0, sum), dtype::bf16, [&] { return cat("d(", i, ", ", j, ")"); });
        epilogue::testing::put_poison(d.place(0, i, j), dtype::bf16);  // poison for the next run
      }
  }
  std::string read_log(prepare<gemm>& p, std::size_t log_bytes, plan_info& info) {
    std::vector<std::byte> log(log_bytes + 1, std::byte{'~'});
    p.options.log = out<std::byte>(reinterpret_cast<std::uint64_t>(log.data()), log_bytes);
    const auto answer = engine->run(p);
    EXPECT_TRUE(answer) << answer.error().to_string();
    if (answer) info = *answer;
    EXPECT_EQ(log.back(), std::byte{'~'}) << "written beyond the end of the log";
    const std::string text(reinterpret_cast<const char*>(log.data()), log_bytes);
    return text.substr(0, text.find('\0'));
  }

  test_factor a, b;
  stored_matrices d;
  expression::memory_operand bias = operand(dtype::f32, 1, 1, n, storing::tidy_rows);
};

TEST_F(cutlass_plans, prepare_writes_no_operands) {
  for (const std::int32_t measure : {0, 3}) {
    const auto info = engine->run(prepare{product(), measure});
    ASSERT_TRUE(info) << info.error().to_string();
    EXPECT_GE(info->candidates, 1u);
    EXPECT_GT(info->log_bytes, 1u);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) ASSERT_TRUE(d.is_poisoned(0, i, j));
    if (engine->is_cuda()) {
      EXPECT_NE(info->plan, plan());
      EXPECT_NE(info->kernel, kernel_source::none);
      EXPECT_EQ(info->source == plan_source::measured, info->measured > 0);
      if (info->measured > 0) {
        EXPECT_LE(info->microseconds, info->first_microseconds);
      }
    } else {
      EXPECT_EQ(info->plan, plan()) << "the host engine has one plan";
      EXPECT_EQ(info->kernel, kernel_source::none);
      EXPECT_EQ(info->source, plan_source::none);
      EXPECT_EQ(info->measured, 0u);
    }
    run(product(info->plan));
    expect_product();
  }
}

TEST_F(cutlass_plans, the_log_is_cut_to_the_length_of_its_buffer) {
  auto p = prepare{product()};
  plan_info info, shorter;
  const std::string all = read_log(p, 100'000, info);
  EXPECT_EQ(all.size() + 1, info.log_bytes);
  EXPECT_NE(all.find('\n'), std::string::npos) << all;
  const std::string some = read_log(p, 12, shorter);
  EXPECT_EQ(shorter.log_bytes, info.log_bytes);
  EXPECT_EQ(some, all.substr(0, some.size()));
  EXPECT_GE(some.size(), 11u);
}

TEST_F(cutlass_plans, a_product_runs_in_the_workspace_that_prepare_returns) {
  gemm r = product();
  const auto info = engine->run(prepare{r});
  ASSERT_TRUE(info) << info.error().to_string();
  r.options.workspace = info->workspace;
  run(r);
  expect_product();
}

TEST_F(cutlass_plans, equal_requests_make_at_most_one_plan) {
  ASSERT_TRUE(engine->run(read_statistics{.start_anew = true}));
  for (int i = 0; i < 3; ++i) {
    run(product());
    expect_product();
  }
  const auto counted = engine->run(read_statistics{});
  ASSERT_TRUE(counted);
  EXPECT_LE(counted->made, 1u);
}

TEST_F(cutlass_plans, preparing_a_batch_or_groups_writes_no_result) {
  const gemm one = product();
  const gemm_batched many{.a = {one.a, one.a}, .b = {one.b, one.b}, .d = {one.d, one.d}};
  for (const std::int32_t measure : {0, 2}) {
    const auto info = engine->run(prepare{many, measure});
    ASSERT_TRUE(info) << info.error().to_string();
    EXPECT_GE(info->candidates, 1u);
  }
  test_factor weights({dtype::bf16, 3, n, k, false}, random);
  const std::vector<std::int32_t> sizes{100, 60, 40};
  const gemm_grouped groups{.a = one.a,
                            .b = weights.elements(true),
                            .d = one.d,
                            .sizes = in<std::int32_t>(reinterpret_cast<std::uint64_t>(sizes.data()), sizes.size())};
  for (const std::int32_t measure : {0, 2}) {
    const auto info = engine->run(prepare{groups, measure});
    ASSERT_TRUE(info) << info.error().to_string();
    EXPECT_GE(info->candidates, 1u);
  }
  for (std::int64_t i = 0; i < m; ++i) ASSERT_TRUE(d.is_poisoned(0, i, 0)) << "a result was written";
}

TEST_F(cutlass_plans, a_forced_plan_is_used_or_refused) {
  for (const family f : {family::hopper, family::ampere, family::vendor}) expect_right_or_unsupported({.family = f});
  for (const schedule s : {schedule::cooperative, schedule::ping_pong}) expect_right_or_unsupported({.schedule = s});
  for (const raster r : {raster::along_columns, raster::along_rows}) expect_right_or_unsupported({.raster = r});
  for (const decision x : {decision::no, decision::yes}) {
    expect_right_or_unsupported({.swapped = x});
    expect_right_or_unsupported({.divided = x});
    expect_right_or_unsupported({.swapped = x, .divided = x});
  }
  for (const std::uint8_t stages : {1, 2, 3, 4, 5, 8, 100}) expect_right_or_unsupported({.stages = stages});
  for (const std::uint8_t side : {1, 2, 4}) {
    expect_right_or_unsupported({.cluster_m = side});
    expect_right_or_unsupported({.cluster_n = side});
    expect_right_or_unsupported({.cluster_m = side, .cluster_n = side});
  }
  for (const std::uint16_t side : {16, 32, 64, 128, 192, 256, 512}) {
    expect_right_or_unsupported({.tile_m = side});
    expect_right_or_unsupported({.tile_n = side});
    expect_right_or_unsupported({.tile_k = side});
    expect_right_or_unsupported({.tile_m = side, .tile_n = side, .tile_k = 64});
  }
  for (const std::uint16_t band : {1, 3, 16, 1000}) expect_right_or_unsupported({.band = band});
}

TEST_F(cutlass_plans, a_refusal_of_the_host_engine_names_the_forced_plan) {
  if (engine->is_cuda()) return;
  const std::string reason =
      ": plan is hopper 128xanyxany, any stages, cluster anyxany, any, any, band any; expected none, because the host "
      "engine has no choices: leave the plan out";
  const auto expect_refused = [&](const auto& answer, const std::string& request) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().text(), request + reason);
    EXPECT_EQ(answer.error().reaction(), reaction::unsupported);
  };
  const plan forced{.family = family::hopper, .tile_m = 128};
  expect_refused(engine->run(product(forced)), "cutlass.gemm");
  expect_refused(engine->run(prepare{product(forced)}), "cutlass.prepare");
  const gemm one = product();
  expect_refused(engine->run(gemm_batched{.a = {one.a}, .b = {one.b}, .d = {one.d}, .options = {.plan = forced}}),
                 "cutlass.gemm_batched");
}

}  // namespace
}  // namespace troupe::cutlass
