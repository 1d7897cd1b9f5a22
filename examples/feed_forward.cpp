// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The feed-forward block of a transformer, forward and backward, with everything between the products in their
// epilogues. The gradient of a bias is compared with finite differences.
#include <cmath>
#include <cstdio>
#include <troupe/matmul/matmul.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;
using epilogue::acc, epilogue::load, epilogue::row;

constexpr int tokens = 16, width = 8, inner = 32;

static std::vector<float> waves(int count, double step) {
  std::vector<float> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<float>(std::sin(step * (i + 1))));
  return out;
}

struct feed_forward {
  device gpu;
  matrix<float> x{gpu.upload(waves(tokens * width, 0.7)), tokens, width};
  matrix<float> w1{gpu.upload(waves(width * inner, 1.3)), width, inner},
      w2{gpu.upload(waves(inner * width, 2.1)), inner, width};
  buffer<float> b1 = gpu.alloc<float>(inner), b2 = gpu.upload(waves(width, 0.3));
  matrix<float> before{gpu.alloc<float>(tokens * inner), tokens, inner},
      h{gpu.alloc<float>(tokens * inner), tokens, inner}, y{gpu.alloc<float>(tokens * width), tokens, width},
      dh{gpu.alloc<float>(tokens * inner), tokens, inner};
  buffer<float> db1 = gpu.alloc<float>(inner), loss = gpu.alloc<float>(1);

  // y = gelu(x * w1 + b1) * w2 + b2; keeps what gelu is applied to. The loss is the sum of all y.
  double forward(const std::vector<float>& bias) {
    gpu.upload(b1, bias);
    matmul::multiply(gpu, h, x, w1, gelu(store(before, acc + row(b1))));
    matmul::multiply(gpu, y, h, w2, sum_all(loss, acc + row(b2)));
    return static_cast<double>(gpu.download(loss).get().value()[0]);
  }
  // The gradients of that loss with respect to what gelu is applied to, and to b1: its sum over the tokens.
  std::vector<float> gradient_of_bias() {
    const matrix<float> dy(gpu.upload(std::vector<float>(tokens * width, 1.0f)), tokens, width);
    matmul::multiply(gpu, dh, dy, w2.transposed(), sum_columns(db1, acc * d_gelu(load(before))));
    return gpu.download(db1).get().value();
  }
};

int main() {
  runtime rt;
  feed_forward b{rt.open_device()};
  std::vector<float> bias = waves(inner, 0.9);
  (void)b.forward(bias);
  const std::vector<float> gradient = b.gradient_of_bias();
  double worst = 0;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    constexpr float step = 0.01f;
    std::vector<float> more = bias, less = bias;
    more[i] += step, less[i] -= step;
    const double difference = (b.forward(more) - b.forward(less)) / (2.0 * static_cast<double>(step));
    worst = std::max(worst, std::fabs(difference - static_cast<double>(gradient[i])));
  }
  std::printf("the gradient of the bias differs from finite differences by %.4f at most\n", worst);
  return worst < 0.02 ? 0 : 1;
}
