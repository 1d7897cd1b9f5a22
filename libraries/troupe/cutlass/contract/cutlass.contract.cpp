// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/half.hpp>
#include <troupe/cutlass/cutlass.hpp>

#include <tests/contract/products.hpp>

namespace troupe::whole {
namespace {

using epilogue::acc, epilogue::row;

template <class T>
buffer<T> values(const device& gpu, std::initializer_list<int> of) {
  std::vector<T> out;
  for (const int v : of) out.push_back(static_cast<T>(static_cast<float>(v)));
  return gpu.upload(out);
}

// The product D = relu(A * B + bias), where A is 2 x 3 and B is 3 x 2, of elements of T.
template <class T>
struct product {
  using request = cutlass::gemm;
  static constexpr const char* bad_field = "b is 2 x 2; expected 3 rows, as many as a has columns";
  static request make(const device& gpu, extent rows_of_b) {
    return {.a = matrix(values<T>(gpu, {1, 2, 3, -1, -2, -3}), 2, 3),
            .b = matrix(values<T>(gpu, {1, 0, 0, 1, 2, 2}), rows_of_b, 2),
            .d = matrix(gpu.alloc<float>(4), 2, 2),
            .epilogue = relu(acc + row(gpu.upload(std::vector<float>{1, -100})))};
  }
  static request good(const device& gpu) { return make(gpu, 3); }
  static request bad(const device& gpu) { return make(gpu, 2); }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.d.range())).get().value(), (std::vector<float>{8, 0, 0, 0}));
  }
};

// Two products of different shapes.
struct batch {
  using request = cutlass::gemm_batched;
  static constexpr const char* bad_field = "b[1] is 1 x 2; expected 2 rows, as many as a has columns";
  static request make(const device& gpu, extent rows_of_b) {
    const auto x = values<float>(gpu, {1, 2, 3, 4});
    return {.a = {matrix(x, 2, 2), matrix(x, 1, 2)},
            .b = {matrix(x, 2, 1), matrix(x, rows_of_b, 2)},
            .d = {matrix(gpu.alloc<float>(2), 2, 1), matrix(gpu.alloc<float>(2), 1, 2)},
            .epilogue = 2 * acc};
  }
  static request good(const device& gpu) { return make(gpu, 2); }
  static request bad(const device& gpu) { return make(gpu, 1); }
  static void expect_right(const device& gpu, const request& r, const result<void>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(gpu.download(buffer<float>(r.d[0].range())).get().value(), (std::vector<float>{10, 22}));
    EXPECT_EQ(gpu.download(buffer<float>(r.d[1].range())).get().value(), (std::vector<float>{14, 20}));
  }
};

// A grouped product of 4 rows: the first group has two, the second has one, and the last row belongs to no group.
struct groups {
  using request = cutlass::gemm_grouped;
  static constexpr const char* bad_field = "sizes holds 1 element; expected at least 2";
  static request make(const device& gpu, std::vector<std::int32_t> sizes) {
    const auto d = gpu.alloc<float>(8);
    gpu.fill(d, 7.0f);
    return {.a = matrix(values<half>(gpu, {1, 2, 3, 4, 5, 6, 7, 8}), 4, 2),
            .b = tensor(values<half>(gpu, {1, 0, 0, 1, 10, 0, 0, 10}), {2, 2, 2}),
            .d = matrix(d, 4, 2),
            .sizes = gpu.upload(sizes),
            .epilogue = acc + row(matrix(values<float>(gpu, {1, 1, 2, 2}), 2, 2))};
  }
  static request good(const device& gpu) { return make(gpu, {2, 1}); }
  static request bad(const device& gpu) { return make(gpu, {2}); }
  static void expect_right(const device& gpu, const request& r, const result<cutlass::grouped_outcome>& answer) {
    ASSERT_OK(answer);
    EXPECT_EQ(answer->wrong_group, -1);
    EXPECT_FALSE(cutlass::error_of(*answer));
    EXPECT_EQ(gpu.download(buffer<float>(r.d.range())).get().value(), (std::vector<float>{2, 3, 4, 5, 52, 62, 7, 7}));
  }
};

// The preparation of one of these products.
template <class Product>
struct product_preparation {
  using request = cutlass::prepare<typename Product::request>;
  static constexpr const char* bad_field = Product::bad_field;
  static request good(const device& gpu) { return {Product::good(gpu)}; }
  static request bad(const device& gpu) { return {Product::bad(gpu)}; }
  static void expect_right(const device&, const request&, const result<cutlass::plan_info>& answer) {
    ASSERT_OK(answer);
    EXPECT_GE(answer->candidates, 1u);
    EXPECT_EQ(answer->measured, 0u);
  }
};

using cutlass_cases = testing::Types<product<float>, product<half>, batch, groups, product_preparation<product<half>>,
                                     product_preparation<batch>, product_preparation<groups>>;
static_assert(covers<cutlass_cases,
                     joined_requests<cutlass::product_requests,
                                     requests_for<types<cutlass::gemm, cutlass::gemm_batched, cutlass::gemm_grouped>,
                                                  cutlass::prepare>>>);
INSTANTIATE_TYPED_TEST_SUITE_P(cutlass, library_actor, cutlass_cases);

// The products of cutlass, for the suite that all libraries with products share.
struct cutlass_library {
  using request = cutlass::gemm;
  using options = cutlass::product_options;
  using statistics = cutlass::read_statistics;
  template <class... A>
  static accepted multiply(const device& gpu, const A&... arguments) {
    return cutlass::multiply(gpu, arguments...);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(cutlass, products, cutlass_library);

class cutlass_products : public products<cutlass_library> {};

TEST_F(cutlass_products, a_group_of_a_wrong_size_fails_the_request_and_makes_its_result_stale) {
  for (const std::vector<std::int32_t>& sizes : {std::vector<std::int32_t>{1, 4}, {-1, 2}}) {
    const auto r = groups::make(gpu, sizes);
    gpu.tell(r);
    const buffer<float> d(r.d.range());
    const std::string wrong = sizes[0] < 0 ? "sizes[0] is -1; expected at least 0 and at most 4, the remaining rows"
                                           : "sizes[1] is 4; expected at least 0 and at most 3, the remaining rows";
    const auto got = gpu.download(d).get();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().reaction(), reaction::caller_bug) << got.error().to_string();
    EXPECT_NE(got.error().to_string().find(wrong), std::string::npos) << got.error().to_string();
    EXPECT_EQ(got.error().request().name, "cutlass.gemm_grouped");
    ASSERT_FALSE(d.readable());
    EXPECT_EQ(d.cause()->request().name, "cutlass.gemm_grouped");
    gpu.fill(d, 7.0f);
    const auto answer = gpu.ask(r).get();
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().text().find(wrong), std::string::npos) << answer.error().to_string();
    gpu.upload(buffer<std::int32_t>(r.sizes.range()), std::vector<std::int32_t>{2, 1});
    gpu.fill(d, 7.0f);
    groups::expect_right(gpu, r, gpu.ask(r).get());
  }
}

TEST_F(cutlass_products, a_group_of_a_wrong_size_is_reported_if_partial_results_are_allowed) {
  auto r = groups::make(gpu, {1, 4});
  r.partial_results = cutlass::partial_results::allowed;
  const auto answer = gpu.ask(r).get();
  ASSERT_OK(answer);
  EXPECT_EQ(answer->wrong_group, 1);
  EXPECT_EQ(answer->size, 4);
  EXPECT_EQ(answer->rows_left, 3);
  EXPECT_TRUE(cutlass::error_of(*answer));
  EXPECT_EQ(gpu.download(buffer<float>(r.d.range())).get().value(), (std::vector<float>{2, 3, 7, 7, 7, 7, 7, 7}));
}

}  // namespace
}  // namespace troupe::whole
