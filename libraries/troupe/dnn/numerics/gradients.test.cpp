// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests networks and their derived gradients together in one graph.
#include <troupe/dnn/testing/numerics.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

class dnn_derived_gradients : public dnn_numerics {
 protected:
  // Compares a loss and its gradients with the reference. The loss is a mean, so that another order of summands changes
  // it little.
  void expect_with_gradients(const value& y, const std::vector<value>& variables, double tolerance) {
    std::vector<std::size_t> all(y.rank());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const value loss = reduce(y * y, reduction_kind::mean, all);
    std::vector<value> values = gradients(loss, variables);
    values.push_back(loss);
    expect_as_defined(values, dtype::f32, tolerance);
  }
};

TEST_F(dnn_derived_gradients, gradients_of_an_image_network_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16}) {
    if (HasFailure()) return;
    const value x = given(t, {3, 4, 7, 6}), w1 = given(t, {8, 4, 3, 3}), w2 = given(t, {8, 8, 1, 1}),
                scale = given(t, {1, 8, 1, 1}), offset = given(t, {1, 8, 1, 1}), last = given(t, {8, 5});
    const value h = convolution(x, w1, {.padding = 1, .stride = 2});
    const value n = silu(batch_norm(h, 0.1, affine{scale, offset}).y);
    const value sum = n + convolution(convert(n, t), w2);
    const value pooled = reshape(reduce(sum, reduction_kind::mean, {2, 3}), {3, 8});
    const value y = log_softmax(product(convert(pooled, t), last), 1);
    expect_with_gradients(y, {w1, w2, scale, offset, last, x}, t == dtype::f16 ? 2e-2 : 1e-3);
  }
}

TEST_F(dnn_derived_gradients, gradients_of_a_sequence_network_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16}) {
    if (HasFailure()) return;
    const value x = given(t, {2, 6, 8}), qkv = given(t, {1, 8, 24}), wide = given(t, {1, 8, 16}),
                narrow = given(t, {1, 16, 8}), scale = given(t, {1, 1, 8});
    const value all = product(convert(rms_norm(x, 1, 0.1, scale).y, t), qkv);
    const value parts = transpose(reshape(convert(all, t), {2, 6, 3, 2, 4}), {2, 0, 3, 1, 4});
    const auto part = [&](std::int64_t i) { return reshape(slice(parts, 0, i, 1), {2, 2, 6, 4}); };
    attention_options o;
    o.window = causal;
    const value mixed = attention(part(0), part(1), part(2), o).y;
    const value h = x + reshape(transpose(mixed, {0, 2, 1, 3}), {2, 6, 8});
    const value y = h + product(convert(gelu(product(convert(h, t), wide)), t), narrow);
    expect_with_gradients(y, {qkv, wide, narrow, scale, x}, t == dtype::bf16 ? 5e-2 : 1e-3);
  }
}

}  // namespace
}  // namespace troupe::dnn
