// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/networks/residual_network.hpp>
#include <cmath>

namespace troupe::bench {
namespace {

using dnn::value;

constexpr double epsilon = 1e-5;

template <class T>
std::span<const std::int64_t> extents_of(const tensor<T>& t) {
  return {t.shape().extents.data(), t.rank()};
}
std::size_t count_of(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Makes a tensor with the channels last.
template <class T>
tensor<T> channels_last(const buffer<T>& b, std::int64_t n, std::int64_t c, std::int64_t size) {
  return tensor<T>(b, {n, c, size, size}, {c * size * size, 1, size * c, c});
}
/// Uploads numbers, given in row-major order of the axes, to a tensor with the channels last.
template <class T>
tensor<T> uploaded(const device& gpu, const std::vector<float>& from, std::int64_t n, std::int64_t c,
                   std::int64_t size) {
  return channels_last(gpu.upload(with_channels_last<T>(from, n, c, size * size)), n, c, size);
}

tensor<float> filled(const device& gpu, std::initializer_list<extent> extents, std::int64_t count, float with) {
  const auto b = gpu.alloc<float>(count_of(count));
  gpu.fill(b, with);
  return tensor(b, extents);
}

}  // namespace

residual_network::image residual_network::empty_image(std::int64_t channels, std::int64_t size) const {
  return channels_last(gpu_.alloc<bfloat16>(count_of(e_.images * channels * size * size)), e_.images, channels, size);
}

residual_network::residual_network(const device& gpu, const extents& e) : gpu_(gpu), e_(e) {
  const std::vector<float> random = numbers_.next(e.images * 3 * e.size * e.size, 1);
  pixels_ = uploaded<bfloat16>(gpu, random, e.images, 3, e.size);
  stem_.push_back(make_layer(pixels_, {}, {e.width, 3, 1}));
  for (std::int64_t stage = 0; stage < 3; ++stage)
    for (std::int64_t b = 0; b < e.blocks; ++b) add_block(e.width << stage, stage > 0 && b == 0 ? 2 : 1);
  const std::int64_t features = last_.size(1).value();
  weights_ = tensor(gpu.upload(numbers_.next(features * kinds, std::sqrt(1. / static_cast<double>(features)))),
                    {features, kinds});
  bias_ = filled(gpu, {1, kinds}, kinds, 0);
  std::vector<float> wanted(count_of(e.images * kinds));
  for (std::int64_t i = 0; i < e.images; ++i) wanted[count_of(i * kinds + i % kinds)] = 1;
  wanted_ = tensor(gpu.upload(wanted), {e.images, kinds});
  dseen_ = filled(gpu, {e.images, features, 1, 1}, e.images * features, 0);
  loss_ = filled(gpu, {1, 1}, 1, 0);
}

residual_network::layer residual_network::make_layer(const image& x, const image& dx, const layer_form& f) {
  const std::int64_t in = x.size(1).value(), size = x.size(2).value() / f.stride, filter = f.filter;
  const std::vector<float> random =
      numbers_.next(f.out * in * filter * filter, std::sqrt(6. / static_cast<double>(in * filter * filter)));
  const auto of_channels = [&](float with) { return filled(gpu_, {1, f.out, 1, 1}, f.out, with); };
  layer l{.x = x,
          .z = empty_image(f.out, size),
          .y = empty_image(f.out, size),
          .dx = dx,
          .dz = empty_image(f.out, size),
          .shortcut = {},
          .dshortcut = {},
          .has_relu = f.has_relu,
          .padding = filter / 2,
          .stride = f.stride,
          .weights = uploaded<float>(gpu_, random, f.out, in, filter),
          .scale = of_channels(1),
          .offset = of_channels(0),
          .mean = of_channels(0),
          .inverse_deviation = of_channels(0),
          .running_mean = of_channels(0),
          .running_variance = of_channels(1),
          .narrow_weights = uploaded<bfloat16>(gpu_, random, f.out, in, filter)};
  last_ = l.y;
  dlast_ = empty_image(f.out, size);
  return l;
}

void residual_network::add_block(std::int64_t out, std::int64_t stride) {
  const image x = last_, dx = dlast_;
  const bool changes = stride != 1 || x.size(1).value() != out;
  layer first = make_layer(x, dx, {out, 3, stride});
  layer second = make_layer(last_, dlast_, {out, 3, 1});
  const image y = last_, dy = dlast_;
  std::optional<layer> shortcut;
  if (changes) shortcut = make_layer(x, dx, {out, 1, stride, false});
  second.shortcut = changes ? shortcut->y : x;
  second.dshortcut = empty_image(out, y.size(2).value());
  blocks_.push_back({std::move(first), std::move(second), std::move(shortcut)});
  last_ = y, dlast_ = dy;
}

void residual_network::step() {
  forward(stem_[0]);
  for (const block& b : blocks_) {
    if (b.shortcut) forward(*b.shortcut);
    forward(b.first);
    forward(b.second);
  }
  tell_head();
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    const block& b = blocks_[i];
    const bool is_last = i + 1 == blocks_.size();
    const value dy = is_last ? dnn::read(dseen_) : dnn::read(blocks_[i + 1].first.dx);
    backward(b.second, dy, std::nullopt);
    // The input of the block has two gradients: one through the convolutions, and one through the shortcut.
    if (b.shortcut) backward(*b.shortcut, dnn::read(*b.second.dshortcut), std::nullopt);
    backward(b.first, dnn::read(b.second.dx), b.shortcut ? b.first.dx : *b.second.dshortcut);
  }
  backward(stem_[0], dnn::read(blocks_[0].first.dx), std::nullopt);
}

void residual_network::forward(const layer& l) {
  const dnn::convolution_options how{.padding = l.padding, .stride = l.stride};
  tell({write(convolution(dnn::read(l.x), dnn::read(l.narrow_weights), how), l.z)});
  const dnn::batch_normalized n =
      batch_norm(dnn::read(l.z), epsilon, dnn::affine{dnn::read(l.scale), dnn::read(l.offset)},
                 dnn::running_averages{dnn::read(l.running_mean), dnn::read(l.running_variance)});
  const value sum = l.shortcut ? n.y + dnn::read(*l.shortcut) : n.y;
  tell({write(l.has_relu ? relu(sum) : sum, l.y), write(n.mean, l.mean),
        write(n.inverse_deviation, l.inverse_deviation), write(n.next_mean, l.running_mean),
        write(n.next_variance, l.running_variance)});
}

void residual_network::backward(const layer& l, const value& dy, const std::optional<image>& others) {
  const dnn::convolution_options how{.padding = l.padding, .stride = l.stride};
  // The derivative of relu at its argument is that at its result.
  const value dsum = l.has_relu ? dy * d_relu(dnn::read(l.y)) : dy, scale = dnn::read(l.scale);
  const dnn::normalized of{dnn::read(l.y), dnn::read(l.mean), dnn::read(l.inverse_deviation)};
  const dnn::normalization_gradients g = normalization_gradient(dsum, dnn::read(l.z), of, scale);
  std::vector<dnn::written> all{write(g.dx, l.dz), write(scale - rate * g.dscale, l.scale),
                                write(dnn::read(l.offset) - rate * g.doffset, l.offset)};
  if (l.dshortcut) all.push_back(write(dsum, *l.dshortcut));
  tell(dnn::graph(all));
  const value dz = dnn::read(l.dz), weights = dnn::read(l.weights);
  // The images need no gradient.
  if (l.dx.rank() != 0) {
    const value dx = convolution_data_gradient(dz, dnn::read(l.narrow_weights), extents_of(l.x), how);
    tell({write(others ? dx + dnn::read(*others) : dx, l.dx)});
  }
  const value next = weights - rate * convolution_weight_gradient(dz, dnn::read(l.x), extents_of(l.weights), how);
  tell({write(next, l.weights), write(next, l.narrow_weights)});
}

void residual_network::tell_head() {
  const std::int64_t features = last_.size(1).value(), pixels = last_.size(2).value() * last_.size(2).value();
  const auto images = static_cast<double>(e_.images);
  const value w = dnn::read(weights_), b = dnn::read(bias_), wanted = dnn::read(wanted_);
  const value seen = reshape(reduce(dnn::read(last_), dnn::reduction_kind::mean, {2, 3}), {e_.images, features});
  const value guess = log_softmax(product(seen, w) + b, 1);
  const value error = reduce(-wanted * guess, dnn::reduction_kind::sum, {0, 1}) / images;
  const value dguess = log_softmax_gradient(-wanted / images, guess, 1);
  const value dseen = product(dguess, transpose(w, {1, 0})) / static_cast<double>(pixels);
  tell({write(error, loss_), write(reshape(dseen, {e_.images, features, 1, 1}), dseen_),
        write(w - rate * product(transpose(seen, {1, 0}), dguess), weights_),
        write(b - rate * reduce(dguess, dnn::reduction_kind::sum, {0}), bias_)});
}

}  // namespace troupe::bench
