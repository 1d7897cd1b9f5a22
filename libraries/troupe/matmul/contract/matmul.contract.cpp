// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/matmul/matmul.hpp>

#include <tests/contract/products.hpp>

namespace troupe::whole {
namespace {

using epilogue::acc, epilogue::row;

// D = relu(A * B + bias) for 2 x 3 and 3 x 2 elements of T.
template <class T>
struct multiplication {
  using request = matmul::multiplication;
  static constexpr const char* bad_field = "b is 2 x 2; expected 3 rows, as many as a has columns";
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

// A request to prepare the product of `multiplication`.
struct matmul_preparation {
  using request = matmul::prepare<matmul::multiplication>;
  static constexpr const char* bad_field = multiplication<float>::bad_field;
  static request good(const device& gpu) { return matmul::prepare{multiplication<float>::good(gpu)}; }
  static request bad(const device& gpu) { return matmul::prepare{multiplication<float>::bad(gpu)}; }
  static void expect_right(const device&, const request&, const result<matmul::plan_info>& answer) {
    ASSERT_OK(answer);
    EXPECT_TRUE(answer->fused);
    EXPECT_EQ(answer->measured, 0);
  }
};

using matmul_cases = testing::Types<multiplication<float>, multiplication<half>, matmul_preparation>;
INSTANTIATE_TYPED_TEST_SUITE_P(matmul, library_actor, matmul_cases);

struct of_matmul {
  using request = matmul::multiplication;
  using options = matmul::product_options;
  using statistics = matmul::read_statistics;
  template <class... A>
  static accepted multiply(const device& gpu, const A&... arguments) {
    return matmul::multiply(gpu, arguments...);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(matmul, products, of_matmul);

class matmul_products : public products<of_matmul> {};

TEST_F(matmul_products, a_choice_that_prepare_wrote_can_be_given_to_another_prepare) {
  const auto values = gpu.upload(std::vector<half>(300 * 300, half(1.0f)));
  const matmul::multiplication r{
      .a = matrix(values, 300, 300), .b = matrix(values, 300, 300), .d = matrix(gpu.alloc<float>(300 * 300), 300, 300)};
  for (const int measured : {0, 3}) {
    const auto words = gpu.alloc<std::uint64_t>(matmul::choice::size);
    gpu.fill(words, std::uint64_t{7});
    auto p = matmul::prepare{r, measured};
    p.options.chosen = words;
    const auto info = gpu.ask(p).get();
    ASSERT_OK(info);
    const matmul::choice chosen(gpu.download(words).get().value());
    EXPECT_EQ(chosen.library() != 0, info->source != matmul::plan_source::none);
    auto again = matmul::prepare{r};
    again.options.choice = chosen;
    const auto given = gpu.ask(again).get();
    ASSERT_OK(given);
    EXPECT_EQ(given->algorithm, info->algorithm);
  }
  EXPECT_OK(gpu.ask(r).get());
  EXPECT_EQ(gpu.download(buffer<float>(r.d.range())).get().value(), std::vector<float>(300 * 300, 300.0f));
}

TEST_F(matmul_products, factors_may_have_block_scales) {
  const matrix a(gpu.upload(std::vector<float8_e4m3>(64, float8_e4m3(1.0f))), 1, 64),
      b(gpu.upload(std::vector<float8_e4m3>(64, float8_e4m3(2.0f))), 64, 1);
  const std::vector<float8_e8m0> scales{float8_e8m0(1.0f), float8_e8m0(4.0f)};
  const matrix a_scales(gpu.upload(scales), 1, 2), b_scales(gpu.upload(scales), 2, 1);
  const matrix d(gpu.alloc<float>(1), 1, 1);
  EXPECT_TRUE(gpu.tell(matmul::multiplication{.a = a, .b = b, .d = d, .a_scales = a_scales, .b_scales = b_scales}));
  EXPECT_EQ(gpu.download(d.memory()).get().value(), (std::vector<float>{32 * 2 + 32 * 2 * 16}));
}

}  // namespace
}  // namespace troupe::whole
