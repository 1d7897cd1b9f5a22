// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/demo/model.hpp>
#include <cmath>
#include <numbers>
#include <random>

namespace demo {
namespace {

std::vector<float> random_numbers(std::int64_t count, double largest, std::mt19937_64& random) {
  std::uniform_real_distribution<float> value(static_cast<float>(-largest), static_cast<float>(largest));
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& v : out) v = value(random);
  return out;
}

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

void softmax(std::vector<double>& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& v : x) sum += v = std::exp(v - largest);
  for (double& v : x) v /= sum;
}

}  // namespace

model::model(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i + 1 < shape::widths.size(); ++i) {
    const std::int64_t inputs = shape::widths[i], outputs = shape::widths[i + 1];
    // The weights are scaled so that values keep their magnitude from layer to layer, and each weight affects the
    // result.
    const double largest = std::sqrt(6.0 / static_cast<double>(inputs));
    layers_.push_back(
        {inputs, outputs, random_numbers(inputs * outputs, largest, random), random_numbers(outputs, 0.5, random)});
  }
}

std::vector<double> model::answer_to(const std::vector<float>& features) const {
  std::vector<double> x(features.begin(), features.end());
  for (const layer& l : layers_) {
    std::vector<double> y(l.bias.begin(), l.bias.end());
    for (std::int64_t j = 0; j < l.inputs; ++j)
      for (std::int64_t i = 0; i < l.outputs; ++i) y[i] += double{l.weights[i + j * l.outputs]} * x[j];
    x = std::move(y);
    if (&l == &layers_.back())
      softmax(x);
    else
      std::transform(x.begin(), x.end(), x.begin(), &gelu);
  }
  return x;
}

bool sample::answered_by(const float* classes) const noexcept {
  // After three layers, single precision has an error of about 1e-6 in a share.
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(double{classes[i]} - expected[i]) < 1e-4 * expected[i] + 1e-7)) return false;
  return true;
}

std::vector<sample> make_samples(const model& m, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<sample> all(count);
  for (sample& s : all) {
    s.features = random_numbers(shape::features, 1, random);
    s.expected = m.answer_to(s.features);
  }
  return all;
}

}  // namespace demo
