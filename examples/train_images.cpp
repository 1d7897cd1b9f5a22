// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Trains a small residual network to recognise eight kinds of shapes in noisy images, with stochastic gradient descent.
// With
// --faults N, it does so again while the worker is broken N times, and compares all losses and weights.
//   example_train_images [--device cuda:0] [--steps N] [--faults N] [--picture FILE.svg]
#include <cmath>
#include <numeric>
#include "training.hpp"

using namespace troupe;
using dnn::value;

constexpr int images = 64, size = 16, kinds = 8;

struct samples {
  std::vector<float> pixels, kinds;
};

// Returns true if a shape around the origin, about 1 wide, covers a place.
static bool covers(int kind, float x, float y) {
  const float far = std::max(std::fabs(x), std::fabs(y)), round = std::hypot(x, y);
  switch (kind) {
    case 0:
      return round < 1;
    case 1:
      return round < 1 && round > 0.6f;
    case 2:
      return far < 0.9f;
    case 3:
      return far < 0.9f && far > 0.5f;
    case 4:
      return far < 1 && std::min(std::fabs(x), std::fabs(y)) < 0.3f;
    case 5:
      return far < 1 && std::fabs(std::fabs(x) - std::fabs(y)) < 0.35f;
    case 6:
      return far < 1 && std::fabs(x) < 0.4f;
    default:
      return far < 1 && std::fabs(y) < 0.4f;
  }
}

// The images of one step, always the same ones: each a shape somewhere, and noise.
static samples draw(int step) {
  std::mt19937 random(static_cast<unsigned>(step) + 1);
  std::normal_distribution<float> noise(0, 0.4f);
  std::uniform_real_distribution<float> place(6, size - 7), radius(4, 6);
  samples out;
  for (int n = 0; n < images; ++n) {
    const int kind = n % kinds;
    const float x = place(random), y = place(random), r = radius(random);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        out.pixels.push_back(
            (covers(kind, (static_cast<float>(j) - x) / r, (static_cast<float>(i) - y) / r) ? 1.0f : 0.0f) +
            noise(random));
    for (int k = 0; k < kinds; ++k) out.kinds.push_back(k == kind ? 1.0f : 0.0f);
  }
  return out;
}

// A convolution, and a normalisation with running averages, which are used once training is over.
class layer {
 public:
  layer(training::memory& m, std::int64_t in, std::int64_t out, std::int64_t width, std::int64_t stride)
      : filters_(m.weights({out, in, width, width}, 0, std::sqrt(2.0 / static_cast<double>(in * width * width)))),
        scale_(m.weights({1, out, 1, 1}, 1, 0)),
        offset_(m.weights({1, out, 1, 1}, 0, 0)),
        mean_(m.kept({1, out, 1, 1}, 0)),
        variance_(m.kept({1, out, 1, 1}, 1)),
        form_{.padding = width / 2, .stride = stride} {}

  // Adds the next running averages to what is written, or uses them, if nothing is.
  value operator()(const value& x, std::vector<dnn::written>* to) const {
    constexpr double epsilon = 1e-5;
    const value h = convolution(x, filters_, form_), mean = dnn::read(mean_), variance = dnn::read(variance_);
    if (to == nullptr) return (h - mean) / sqrt(variance + epsilon) * scale_ + offset_;
    const auto n = batch_norm(h, epsilon, dnn::affine{scale_, offset_}, dnn::running_averages{mean, variance});
    to->insert(to->end(), {write(n.next_mean, mean_), write(n.next_variance, variance_)});
    return n.y;
  }

 private:
  value filters_, scale_, offset_;
  tensor<float> mean_, variance_;
  dnn::convolution_options form_;
};

struct network {
  explicit network(training::memory& m)
      : first(m, 1, 8, 3, 1),
        a{{m, 8, 8, 3, 1}, {m, 8, 8, 3, 1}},
        smaller(m, 8, 16, 3, 2),
        b{{m, 16, 16, 3, 1}, {m, 16, 16, 3, 1}},
        last(m.weights({16, kinds}, 0, 0.2)) {}

  // The logarithms of the probabilities of all kinds.
  value operator()(const value& x, std::vector<dnn::written>* to) const {
    value h = relu(first(x, to));
    h = relu(h + a[1](relu(a[0](h, to)), to));
    h = relu(smaller(h, to));
    h = relu(h + b[1](relu(b[0](h, to)), to));
    const value seen = reshape(reduce(h, dnn::reduction_kind::mean, {2, 3}), {images, 16});
    return log_softmax(product(seen, last), 1);
  }

  layer first, a[2], smaller, b[2];
  value last;
};

// The mean over all images of the error of a guess.
static value cross_entropy(const value& guess, const value& wanted) {
  return reduce(-wanted * guess, dnn::reduction_kind::sum, {0, 1}) / images;
}

// Replaces the weights by the next ones. The rate falls to 0: how many steps are left is in memory, too.
static dnn::graph descend(const training::memory& m, const tensor<float>& left, int steps) {
  constexpr double rate = 0.2, momentum = 0.9;
  const value next = momentum * dnn::read(m.moment(0)) + dnn::read(m.gradients());
  return {write(next, m.moment(0)), write(dnn::read(left) - 1, left),
          write(dnn::read(m.all_weights()) - rate / steps * dnn::read(left) * next, m.all_weights())};
}

// The share of images that are recognised correctly, of some that no step trains on.
static result<double> accuracy_of(const device& gpu, const network& net, int steps) {
  using enum dnn::reduction_kind;
  constexpr int batches = 8;
  const tensor right(gpu.alloc<float>(batches), {batches, 1});
  for (int i = 0; i < batches; ++i) {
    const samples unseen = draw(steps + i);
    const tensor image(gpu.upload(unseen.pixels), {images, 1, size, size}),
        kind(gpu.upload(unseen.kinds), {images, kinds});
    const value guess = net(dnn::read(image), nullptr), wanted = dnn::read(kind);
    const value is_right = equal(reduce(guess, maximum, {1}), reduce(guess * wanted, sum, {1}));
    dnn::compute(gpu, {write(reduce(is_right, mean, {0, 1}), right.slice(0, i, 1))});
  }
  const auto got = gpu.download(right.memory()).get();
  if (!got) return got.error();
  return std::accumulate(got->begin(), got->end(), 0.0) / batches;
}

int main(int argc, char** argv) {
  const training::options o = training::read_options(argc, argv, 300);
  return training::compare_with_faults(o, 0.9, [&](const device& gpu, int faults) -> result<training::outcome> {
    training::memory m(gpu, 10'000);
    const network net(m);
    const tensor losses = m.kept({o.steps, 1}, 0), left = m.kept({1}, static_cast<float>(o.steps));
    const tensor image(gpu.alloc<float>(images * size * size), {images, 1, size, size}),
        kind(gpu.alloc<float>(images * kinds), {images, kinds});
    const dnn::computation next{descend(m, left, o.steps)};
    const auto step = [&](int i) {
      const samples s = draw(i);
      gpu.upload(image.memory(), s.pixels);
      gpu.upload(kind.memory(), s.kinds);
      std::vector<dnn::written> to;
      const value loss = cross_entropy(net(dnn::read(image), &to), dnn::read(kind));
      to.push_back(write(loss, losses.slice(0, i, 1)));
      m.write_gradients(loss, to);
      gpu.tell(dnn::computation{dnn::graph(to)});
      gpu.tell(next);
    };
    auto out = training::train(gpu, m, losses, o.steps, faults, images, step);
    if (!out) return out;
    const auto accuracy = accuracy_of(gpu, net, o.steps);
    if (!accuracy) return accuracy.error();
    std::printf("  %.1f %% of unseen images are recognised\n", 100 * *accuracy);
    out->accuracy = *accuracy;
    return out;
  });
}
