// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/networks/transformer_block.hpp>
#include <cmath>

namespace troupe::bench {
namespace {

using dnn::value;

value linear(const value& x, const value& matrix, const value& bias) {
  return dnn::convert<bfloat16>(product(x, matrix) + bias);
}

}  // namespace

transformer_block::transformer_block(const device& gpu, const extents& e)
    : gpu_(gpu),
      e_(e),
      input_(gpu.upload(numbers_.next(e.sequences * e.tokens * e.width, 1)), {e.sequences, e.tokens, e.width}),
      loss_(vector_of<float>(gpu, 1, 0).memory(), {1, 1, 1}),
      count_(vector_of<float>(gpu, 1, 0)),
      weights_(gpu, e.weights(), 2),
      first_norm_(make_norm()),
      second_norm_(make_norm()),
      qkv_(make_layer(e.width, 3 * e.width)),
      attended_(make_layer(e.width, e.width)),
      wide_(make_layer(e.width, 4 * e.width)),
      narrow_(make_layer(4 * e.width, e.width)),
      gradients_(gradients()),
      update_(update()) {
  weights_.complete(gpu);
  for (const auto& request : {*gradients_, *update_}) gpu.ask(dnn::prepare{request}).get().value();
}

transformer_block::layer transformer_block::make_layer(std::int64_t in, std::int64_t out) {
  const double limit = 1 / std::sqrt(static_cast<double>(in));
  const value matrix = weights_.add(numbers_.next(in * out, limit), {1, in, out}, true);
  return {matrix, weights_.add(std::vector<float>(static_cast<std::size_t>(out)), {1, 1, out}, true)};
}
dnn::affine transformer_block::make_norm() {
  const std::size_t width = static_cast<std::size_t>(e_.width);
  const value scale = weights_.add(std::vector<float>(width, 1), {1, 1, e_.width}, false);
  return {scale, weights_.add(std::vector<float>(width), {1, 1, e_.width}, false)};
}

value transformer_block::normalize(const value& x, const dnn::affine& a) const {
  return dnn::convert<bfloat16>(layer_norm(x, 1, 1e-5, a).y);
}
value transformer_block::attend(const value& x) const {
  const auto [n, tokens, width, heads] = e_;
  const value all = linear(x, qkv_.matrix, qkv_.bias);
  // Which of q, k and v, then as attention has its tensors: sequences x heads x tokens x width.
  const value parts = transpose(reshape(all, {n, tokens, 3, heads, width / heads}), {2, 0, 3, 1, 4});
  const auto part = [&](std::int64_t which) {
    return reshape(slice(parts, 0, which, 1), {n, heads, tokens, width / heads});
  };
  dnn::attention_options o;
  o.window = dnn::causal;
  const value y = dnn::convert<bfloat16>(attention(part(0), part(1), part(2), o).y);
  return linear(reshape(transpose(y, {0, 2, 1, 3}), {n, tokens, width}), attended_.matrix, attended_.bias);
}

dnn::computation transformer_block::gradients() const {
  const value x = dnn::read(input_);
  const value h = x + attend(normalize(x, first_norm_));
  const value wide = gelu_tanh(linear(normalize(h, second_norm_), wide_.matrix, wide_.bias));
  const value y = h + linear(dnn::convert<bfloat16>(wide), narrow_.matrix, narrow_.bias);
  const value loss = reduce(y * y, dnn::reduction_kind::mean, {0, 1, 2});
  std::vector<dnn::written> all = weights_.gradients_of(loss);
  all.push_back(write(loss, loss_));
  return {.graph = all};
}

dnn::computation transformer_block::update() const {
  const tensor<float>&m = weights_.moments[0], &v = weights_.moments[1];
  const value gradient = dnn::read(weights_.gradients), weights = dnn::read(weights_.master), n = dnn::read(count_) + 1;
  const value mean = beta1 * dnn::read(m) + (1 - beta1) * gradient;
  const value square = beta2 * dnn::read(v) + (1 - beta2) * gradient * gradient;
  const value root = sqrt(square / (1 - pow(beta2, n))) + epsilon;
  const value next = weights * (1 - rate * decay) - rate / (1 - pow(beta1, n)) * mean / root;
  return {.graph = {write(mean, m), write(square, v), write(n, count_), write(next, weights_.master),
                    write(next, weights_.narrow)}};
}

void transformer_block::step() {
  gpu_.tell(*gradients_);
  gpu_.tell(*update_);
}

}  // namespace troupe::bench
