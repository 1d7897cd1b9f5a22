// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/networks/bottleneck_network.hpp>
#include <cmath>

namespace troupe::bench {
namespace {

using dnn::value;

constexpr std::int64_t widening = 4;  // channels of a block's result, for each channel inside

value rounded_relu(const value& x) { return dnn::convert<bfloat16>(relu(x)); }

// Calls `f(in, out, filter)` for each convolution.
template <class F>
void for_each_convolution(const bottleneck_network::extents& e, F&& f) {
  f(3, e.width, 7);
  std::int64_t in = e.width;
  for (std::size_t stage = 0; stage < 4; ++stage)
    for (int b = 0; b < e.blocks[stage]; ++b) {
      const std::int64_t width = e.width << stage;
      if (b == 0) f(in, widening * width, 1);
      f(in, width, 1), f(width, width, 3), f(width, widening * width, 1);
      in = widening * width;
    }
}

}  // namespace

std::int64_t bottleneck_network::count_weights(const extents& e) {
  std::int64_t count = 0;
  for_each_convolution(
      e, [&](std::int64_t in, std::int64_t out, std::int64_t filter) { count += out * (in * filter * filter + 2); });
  return count + e.kinds * (8 * widening * e.width + 1);
}

bottleneck_network::bottleneck_network(const device& gpu, const extents& e)
    : gpu_(gpu),
      e_(e),
      loss_(vector_of<float>(gpu, 1, 0).memory(), {1, 1}),
      weights_(gpu, count_weights(e), 1),
      gradients_(gradients()),
      update_(update()) {
  weights_.complete(gpu);
  for (const auto& request : {*gradients_, *update_}) gpu.ask(dnn::prepare{request}).get().value();
}

value bottleneck_network::add_layer(const value& x, const layer_options& o) {
  const std::int64_t in = x.extents()[1], summands = in * o.filter * o.filter;
  const std::vector<float> initial = numbers_.next(o.out * summands, std::sqrt(6. / static_cast<double>(summands)));
  const value filters = weights_.add_filters(initial, {o.out, in, o.filter, o.filter});
  const auto count = static_cast<std::size_t>(o.out);
  const value scale = weights_.add(std::vector<float>(count, 1), {1, o.out, 1, 1}, false),
              offset = weights_.add(std::vector<float>(count), {1, o.out, 1, 1}, false);
  const tensor<float> mean(vector_of<float>(gpu_, o.out, 0).memory(), {1, o.out, 1, 1}),
      variance(vector_of<float>(gpu_, o.out, 1).memory(), {1, o.out, 1, 1});
  const value z = dnn::convert<bfloat16>(convolution(x, filters, {.padding = o.filter / 2, .stride = o.stride}));
  const dnn::batch_normalized n =
      batch_norm(z, 1e-5, dnn::affine{scale, offset}, dnn::running_averages{dnn::read(mean), dnn::read(variance)});
  written_.insert(written_.end(), {write(n.next_mean, mean), write(n.next_variance, variance)});
  return n.y;
}

value bottleneck_network::add_block(const value& x, std::int64_t width, std::int64_t stride) {
  const bool changes = x.extents()[1] != widening * width;
  const value shortcut = changes ? add_layer(x, {widening * width, 1, stride}) : x;
  const value narrow = rounded_relu(add_layer(x, {width})), seen = rounded_relu(add_layer(narrow, {width, 3, stride}));
  return rounded_relu(add_layer(seen, {widening * width}) + shortcut);
}

dnn::computation bottleneck_network::gradients() {
  const std::vector<float> pixels = numbers_.next(e_.images * 3 * e_.size * e_.size, 1);
  const std::int64_t places = e_.size * e_.size;
  const std::vector<bfloat16> last = with_channels_last<bfloat16>(pixels, e_.images, 3, places);
  const tensor images(gpu_.upload(last), {e_.images, 3, e_.size, e_.size}, {3 * places, 1, 3 * e_.size, 3});
  std::vector<std::int32_t> kinds;
  for (std::int64_t i = 0; i < e_.images; ++i) kinds.push_back(static_cast<std::int32_t>(i % e_.kinds));

  value x = rounded_relu(add_layer(dnn::read(images), {e_.width, 7, 2}));
  x = dnn::convert<bfloat16>(max_pool(x, 3, {.padding = 1, .stride = 2}));
  for (std::size_t stage = 0; stage < 4; ++stage)
    for (int b = 0; b < e_.blocks[stage]; ++b) x = add_block(x, e_.width << stage, stage > 0 && b == 0 ? 2 : 1);
  const std::int64_t features = x.extents()[1];
  const value matrix = weights_.add(numbers_.next(features * e_.kinds, std::sqrt(1. / static_cast<double>(features))),
                                    {features, e_.kinds}, true);
  const value bias = weights_.add(std::vector<float>(static_cast<std::size_t>(e_.kinds)), {1, e_.kinds}, true);
  const value seen = reshape(reduce(x, dnn::reduction_kind::mean, {2, 3}), {e_.images, features});
  const value logits = product(dnn::convert<bfloat16>(seen), matrix) + bias;
  const value loss = reduce(cross_entropy(logits, dnn::read(tensor(gpu_.upload(kinds), {e_.images, 1})), 1),
                            dnn::reduction_kind::mean, {0, 1});
  std::vector<dnn::written> all = weights_.gradients_of(loss);
  all.push_back(write(loss, loss_));
  all.insert(all.end(), written_.begin(), written_.end());
  return {.graph = all};
}

dnn::computation bottleneck_network::update() const {
  const tensor<float>& v = weights_.moments[0];
  const value velocity = momentum * dnn::read(v) + dnn::read(weights_.gradients);
  const value next = dnn::read(weights_.master) - rate * velocity;
  return {.graph = {write(velocity, v), write(next, weights_.master), write(next, weights_.narrow)}};
}

void bottleneck_network::step() {
  gpu_.tell(*gradients_);
  gpu_.tell(*update_);
}

}  // namespace troupe::bench
