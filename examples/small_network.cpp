// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Trains a network of two layers to distinguish vertical stripes from horizontal ones. Each step, forward and backward,
// is one request.
#include <cmath>
#include <cstdio>
#include <random>
#include <troupe/dnn/dnn.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

constexpr int images = 64, size = 8, filters = 8;

// Stripes with noise, and for each image which kind it is: {1, 0} or {0, 1}.
struct samples {
  std::vector<float> pixels, kinds;
};
static samples draw(std::mt19937& random) {
  std::normal_distribution<float> noise(0, 0.5f);
  std::uniform_int_distribution<int> start(0, 3);
  samples out;
  for (int n = 0; n < images; ++n) {
    const bool upright = n % 2 == 0;
    const int first = start(random);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        out.pixels.push_back((((upright ? j : i) + first) / 2 % 2 == 0 ? 1.0f : -1.0f) + noise(random));
    out.kinds.insert(out.kinds.end(), {upright ? 1.0f : 0.0f, upright ? 0.0f : 1.0f});
  }
  return out;
}

struct weights {
  tensor<float> of_image, of_kind;
  buffer<float> bias;
};

// Writes the loss, and the next weights in the place of these.
static dnn::graph step(const tensor<float>& image, const tensor<float>& kind, const weights& w,
                       const tensor<float>& loss) {
  constexpr double rate = 0.5;
  const dnn::convolution_options same_size{.padding = 1};
  const dnn::value x = dnn::read(image), wanted = dnn::read(kind), w1 = dnn::read(w.of_image),
                   w2 = dnn::read(w.of_kind), b = dnn::read(w.bias);
  // Forward.
  const dnn::value h = convolution(x, w1, same_size) + channels(b);
  const dnn::value seen = reshape(reduce(relu(h), dnn::reduction_kind::mean, {2, 3}), {images, filters});
  const dnn::value guess = log_softmax(product(seen, w2), 1);
  const dnn::value error = reduce(-wanted * guess, dnn::reduction_kind::sum, {0, 1}) / images;
  // Backward.
  const dnn::value dz = log_softmax_gradient(-wanted / images, guess, 1);
  const dnn::value dw2 = product(transpose(seen, {1, 0}), dz);
  const dnn::value dseen = reshape(product(dz, transpose(w2, {1, 0})), {images, filters, 1, 1});
  const dnn::value dh = dseen / (size * size) * d_relu(h);
  const dnn::value dw1 = convolution_weight_gradient(dh, x, {filters, 1, 3, 3}, same_size);
  const dnn::value db = reshape(reduce(dh, dnn::reduction_kind::sum, {0, 2, 3}), {filters});
  return {write(error, loss), write(w1 - rate * dw1, w.of_image), write(w2 - rate * dw2, w.of_kind),
          write(b - rate * db, w.bias)};
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  std::mt19937 random(1);
  const auto random_weights = [&](int count) {
    std::normal_distribution<float> value(0, 0.3f);
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float& v : out) v = value(random);
    return gpu.upload(out);
  };
  const weights w{tensor(random_weights(filters * 9), {filters, 1, 3, 3}),
                  tensor(random_weights(filters * 2), {filters, 2}), random_weights(filters)};
  const tensor loss(gpu.alloc<float>(1), {1, 1});
  float first = 0, last = 0;
  for (int i = 0; i <= 60; ++i) {
    const samples s = draw(random);
    const tensor image(gpu.upload(s.pixels), {images, 1, size, size}), kind(gpu.upload(s.kinds), {images, 2});
    gpu.tell(dnn::computation{step(image, kind, w, loss)});
    if (i % 20 != 0) continue;
    last = gpu.download(loss.memory()).get().value()[0];
    if (i == 0) first = last;
    std::printf("step %2d: loss %.3f\n", i, static_cast<double>(last));
  }
  return last < 0.2f && first > 0.5f ? 0 : 1;
}
