// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares products of matrices, and linear layers, with the reference in double precision.
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

class dnn_products : public dnn_numerics {
 protected:
  // Returns a matrix or a batch of matrices, stored as it is or transposed.
  value factor(dtype t, extents e) {
    if (random.between(0, 1) == 0) return given(t, e);
    const std::size_t last = e.size() - 1;
    std::swap(e[last], e[last - 1]);
    std::vector<std::size_t> axes(e.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::swap(axes[last], axes[last - 1]);
    return transpose(given(t, e), axes);
  }
  // Sets `tolerance` to that of the functions: cuBLASLt approximates gelu_tanh after products of half types.
  value followed_by_functions(value x, dtype of_operands, double& tolerance) {
    tolerance = 3e-5;
    extents whole(x.extents().begin(), x.extents().end()), row(whole.size(), 1);
    row.back() = whole.back();
    if (random.between(0, 3) == 0) x = x * 0.5;
    const auto any_type = [&] { return random.one_of({of_operands, dtype::f32}); };
    extents more = whole;
    if (whole[whole.size() - 2] == 1) more[whole.size() - 2] = 3;  // broadcasts the product
    switch (random.between(0, 4)) {
      case 3:
        x = x + given(any_type(), more);
        break;
      case 0:
        x = x + given(any_type(), row);
        break;
      case 1:
        x = x + given(any_type(), whole);
        break;
      case 2:
        x = given(any_type(), row) + x * 2.0;
        break;
      default:
        break;
    }
    switch (random.between(0, 4)) {
      case 0:
        return relu(x);
      case 1:
        if (of_operands == dtype::f16 || of_operands == dtype::bf16) tolerance = 1e-3;
        return gelu_tanh(x);
      case 2:
        return sigmoid(x);
      default:
        return x;
    }
  }
};

TEST_F(dnn_products, of_matrices_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::i8})
    for (int i = 0; i < 10 && !HasFailure(); ++i) {
      const std::int64_t m = random.between(1, 40), n = random.between(1, 40), k = random.between(1, 60),
                         batch = random.between(1, 3);
      const value a = given(t, {random.one_of<std::int64_t>({1, batch}), 2, m, k}),
                  b = given(t, {batch, random.one_of<std::int64_t>({1, 2}), k, n});
      expect_as_defined({product(a, b)}, t == dtype::i8 ? dtype::i32 : dtype::f32, 3e-5);
    }
}

TEST_F(dnn_products, with_functions_match_the_definition_for_any_layout) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16})
    for (int i = 0; i < 40 && !HasFailure(); ++i) {
      const std::int64_t m = random.between(1, 70), n = 8 * random.between(1, 12), k = 8 * random.between(1, 12);
      extents a{m, k}, b{k, n};
      if (const std::int64_t batch = random.between(1, 3); random.between(0, 1) == 0) {
        a.insert(a.begin(), batch);
        b.insert(b.begin(), random.one_of<std::int64_t>({1, batch}));
      }
      double tolerance = 0;
      const value x = followed_by_functions(product(factor(t, a), factor(t, b)), t, tolerance);
      const bool is_converted = random.between(0, 1) == 0;
      // The approximation may change what a value is rounded to.
      if (is_converted && tolerance > 1e-4) tolerance += t == dtype::f16 ? 0x1p-10 : 0x1p-7;
      expect_as_defined({is_converted ? convert(x, t) : x}, random.one_of({t, dtype::f32}), tolerance);
    }
}

TEST_F(dnn_products, follow_one_another_and_reshaped_tensors) {
  for (const dtype t : {dtype::f32, dtype::f16, dtype::bf16})
    for (int i = 0; i < 10 && !HasFailure(); ++i) {
      const std::int64_t batch = random.between(1, 3), m = random.between(1, 20), heads = random.between(1, 3), w = 16;
      const value x = given(t, {batch, m, heads * w}),
                  y = convert(relu(product(x, given(t, {1, heads * w, heads * w}))), t);
      // Scores of attention, whose heads are views.
      const value split = reshape(y, {batch, m, heads, w});
      const value left = transpose(split, {0, 2, 1, 3}), right = transpose(split, {0, 2, 3, 1});
      expect_as_defined({product(left, right), y}, dtype::f32, 3e-4);
    }
}

TEST_F(dnn_products, may_replace_what_they_read) {
  for (const dtype t : {dtype::f32, dtype::bf16}) {
    stored_tensor& x = stored(t, {24, 32}, dense);
    x.fill([&] { return random.value(); });
    const value read(x.operand<access_mode::read>());
    expect_written({read + product(read, given(t, {32, 32}))}, {&x}, 3e-4);
  }
}

}  // namespace
}  // namespace troupe::dnn
