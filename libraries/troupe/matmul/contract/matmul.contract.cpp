// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/graph/graph.hpp>
#include <troupe/matmul/matmul.hpp>

#include <tests/contract/contract.hpp>

namespace troupe::whole {
namespace {

using epilogue::acc, epilogue::load, epilogue::row;

// D = relu(A * B + bias), of 2 x 3 and 3 x 2 elements of T.
template <class T>
struct multiplication {
  using request = matmul::multiplication;
  static constexpr const char* bad_field = "b is 2 x 2; expected 3 rows, as a has columns";
  static buffer<T> values(const device& gpu, std::initializer_list<int> of) {
    std::vector<T> out;
    for (const int v : of) out.push_back(static_cast<T>(static_cast<float>(v)));
    return gpu.upload(out);
  }
  static request make(const device& gpu, extent rows_of_b) {
    return {.a = matrix(values(gpu, {1, 2, 3, -1, -2, -3}), 2, 3),
            .b = matrix(values(gpu, {1, 0, 0, 1, 2, 2}), rows_of_b, 2),
            .d = matrix(gpu.alloc<float>(4), 2, 2),
            .epilogue = relu(acc + row(gpu.upload(std::vector<float>{1, -100})))};
  }
  static request good(const device& gpu) { return make(gpu, 3); }
  static request bad(const device& gpu) { return make(gpu, 2); }
  static void expect_right(const device& gpu, const request& r, const result<matmul::outcome>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.d.range())).get().value(), (std::vector<float>{8, 0, 0, 0}));
  }
};

// The plan of that product.
struct preparation {
  using request = matmul::prepare;
  static constexpr const char* bad_field = multiplication<float>::bad_field;
  static request good(const device& gpu) { return matmul::prepare::of(multiplication<float>::good(gpu)); }
  static request bad(const device& gpu) { return matmul::prepare::of(multiplication<float>::bad(gpu)); }
  static void expect_right(const device&, const request&, const result<matmul::plan_info>& answer) {
    ASSERT_OK(answer);
    EXPECT_TRUE(answer->fused);
    EXPECT_EQ(answer->measured, 0);
  }
};

using matmul_cases = testing::Types<multiplication<float>, multiplication<half>, preparation>;
INSTANTIATE_TYPED_TEST_SUITE_P(matmul, library_actor, matmul_cases);

class products : public testing::Test {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.restarts = 100}));
};

TEST_F(products, of_a_chain_feed_each_other_and_carry_errors_along) {
  const matrix x(gpu.upload(std::vector<float>{1, 2, 3, 4}), 2, 2), w(gpu.upload(std::vector<float>{0, 1, 1, 0}), 2, 2),
      h(gpu.alloc<float>(4), 2, 2), y(gpu.alloc<float>(4), 2, 2);
  EXPECT_TRUE(matmul::multiply(gpu, h, x, w, 2 * acc));
  EXPECT_TRUE(matmul::multiply(gpu, y, h, w, acc + load(x)));
  EXPECT_EQ(gpu.download(y.memory()).get().value(), (std::vector<float>{3, 6, 9, 12}));
  const accepted wrong = matmul::multiply(gpu, h, x, matrix(w.memory(), 1, 4));
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(is_error(wrong.error(), reaction::caller_bug, {"matmul.multiplication", "b is 1 x 4"}));
  EXPECT_FALSE(matmul::multiply(gpu, y, h, w)) << "h is stale: it was to be written by the refused request";
}

TEST_F(products, may_be_given_away_in_place_and_under_call_options) {
  const matrix x(gpu.upload(std::vector<float>{1, 2, 3, 4}), 2, 2), d(gpu.upload(std::vector<float>{1, 1, 1, 1}), 2, 2);
  EXPECT_TRUE(matmul::multiply(gpu, d, x, x, acc + load(d)));
  EXPECT_EQ(gpu.download(d.memory()).get().value(), (std::vector<float>{8, 11, 16, 23}));
  EXPECT_FALSE(matmul::multiply(gpu, d, x, x, acc, {}, {.timeout = time_span{}}));
}

TEST_F(products, have_plans_that_are_counted) {
  const matrix x(gpu.upload(std::vector<float>{1, 2, 3, 4}), 2, 2), d(gpu.alloc<float>(4), 2, 2);
  EXPECT_OK(gpu.ask(matmul::read_statistics{.start_anew = true}).get());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(matmul::multiply(gpu, d, x, x));
  const auto counted = gpu.ask(matmul::read_statistics{}).get();
  ASSERT_OK(counted);
  EXPECT_LE(counted->made, 1u);
}

TEST_F(products, have_choices_that_can_be_kept_and_given) {
  const auto values = gpu.upload(std::vector<half>(300 * 300, half(1.0f)));
  const matmul::multiplication r{
      .a = matrix(values, 300, 300), .b = matrix(values, 300, 300), .d = matrix(gpu.alloc<float>(300 * 300), 300, 300)};
  for (const int measured : {0, 3}) {
    const auto words = gpu.alloc<std::uint64_t>(matmul::choice::size);
    gpu.fill(words, std::uint64_t{7});
    matmul::prepare p = matmul::prepare::of(r, measured);
    p.chosen = words;
    const auto info = gpu.ask(p).get();
    ASSERT_OK(info);
    const matmul::choice chosen(gpu.download(words).get().value());
    EXPECT_EQ(chosen.library() != 0, info->source != matmul::plan_source::none);
    matmul::prepare again = matmul::prepare::of(r);
    again.choice = chosen;
    const auto given = gpu.ask(again).get();
    ASSERT_OK(given);
    EXPECT_EQ(given->algorithm, info->algorithm);
  }
  EXPECT_OK(gpu.ask(r).get());
  EXPECT_EQ(gpu.download(buffer<float>(r.d.range())).get().value(), std::vector<float>(300 * 300, 300.0f));
}

TEST_F(products, may_be_scaled_by_blocks) {
  const matrix a(gpu.upload(std::vector<float8_e4m3>(64, float8_e4m3(1.0f))), 1, 64),
      b(gpu.upload(std::vector<float8_e4m3>(64, float8_e4m3(2.0f))), 64, 1);
  const std::vector<float8_e8m0> scales{float8_e8m0(1.0f), float8_e8m0(4.0f)};
  const matrix a_scales(gpu.upload(scales), 1, 2), b_scales(gpu.upload(scales), 2, 1);
  const matrix d(gpu.alloc<float>(1), 1, 1);
  EXPECT_TRUE(matmul::multiply(gpu, d, a, b, acc, {.a_scales = a_scales, .b_scales = b_scales}));
  EXPECT_EQ(gpu.download(d.memory()).get().value(), (std::vector<float>{32 * 2 + 32 * 2 * 16}));
}

TEST_F(products, of_batches_share_a_factor) {
  const tensor a(gpu.upload(std::vector<float>{1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3}), {3, 2, 2});
  const matrix b(gpu.upload(std::vector<float>{1, 2, 3, 4}), 2, 2);
  const tensor d(gpu.alloc<float>(12), {3, 2, 2});
  EXPECT_TRUE(matmul::multiply(gpu, d, a, b));
  EXPECT_EQ(gpu.download(d.memory()).get().value(), (std::vector<float>{1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12}));
}

TEST_F(products, are_recorded_in_graphs_and_rebound) {
  const auto x = gpu.upload(std::vector<float>{1, 2, 3, 4}), other = gpu.upload(std::vector<float>{10, 20, 30, 40}),
             bias = gpu.upload(std::vector<float>{1, 2}), more = gpu.upload(std::vector<float>{100, 200});
  const auto d = gpu.alloc<float>(4);
  graph::recorder rec(gpu);
  ASSERT_TRUE(rec.add(matmul::multiplication{
      .a = matrix(x, 2, 2), .b = matrix(x, 2, 2), .d = matrix(d, 2, 2), .epilogue = acc + row(bias)}));
  const graph::graph g = rec.finish();
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu.download(d).get().value(), (std::vector<float>{8, 12, 16, 24}));
  EXPECT_OK(g.rebind(x, other));
  EXPECT_OK(g.rebind(bias, more));
  gpu.tell(graph::launch{.graph = g});
  EXPECT_EQ(gpu.download(d).get().value(), (std::vector<float>{800, 1200, 1600, 2400}));
}

}  // namespace
}  // namespace troupe::whole
