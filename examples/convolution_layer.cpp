// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Two convolution layers that learn what two others compute, by the three requests for convolutions. Everything between
// the products is in their epilogues: activation, loss, its gradient, and the step of each filter.
// convolution_layer [picture.svg]
#include <cstdio>
#include <random>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/troupe.hpp>

#include "loss_curve.hpp"

using namespace troupe;
using cutlass::filter_matrix, cutlass::image_matrices;
using epilogue::acc, epilogue::load, epilogue::store, epilogue::sum_all;

constexpr std::int64_t images = 8, size = 16, channels = 2, hidden = 8, outputs = 4, width = 3;
constexpr int steps = 200;
constexpr double rate = 2e-5;

// Returns images with contiguous channels (NHWC) and the axes image, channel, row, column.
tensor<float> make_images(const device& gpu, std::int64_t of_channels, const std::vector<float>& values = {}) {
  const std::int64_t n = images * size * size * of_channels;
  const buffer<float> memory = values.empty() ? gpu.alloc<float>(n) : gpu.upload(values);
  return tensor(memory, {images, size, size, of_channels}).permuted({0, 3, 1, 2});
}

struct layers {
  tensor<float> first, second;  // filters
};
layers make_layers(const device& gpu, std::mt19937& random) {
  const auto filters = [&](std::int64_t n, std::int64_t of_channels) {
    std::normal_distribution<float> values(0, std::sqrt(2.0f / static_cast<float>(of_channels * width * width)));
    std::vector<float> all(static_cast<std::size_t>(n * width * width * of_channels));
    for (float& v : all) v = values(random);
    return tensor(gpu.upload(all), {n, width, width, of_channels}).permuted({0, 3, 1, 2});
  };
  return {filters(hidden, channels), filters(outputs, hidden)};
}

struct training_step {
  device gpu;
  tensor<float> x, target;
  layers w;
  tensor<float> before = make_images(gpu, hidden), h = make_images(gpu, hidden), dh = make_images(gpu, hidden),
                errors = make_images(gpu, outputs), dy = make_images(gpu, outputs);
  buffer<float> loss = gpu.alloc<float>(images);

  void run() const {
    gpu.tell(cutlass::conv_forward{
        .x = x, .filters = w.first, .y = h, .epilogue = relu(store(image_matrices(before), acc)), .padding = 1});
    // The difference is the gradient of half of its square, whose sum over each image is the loss.
    const auto difference = store(image_matrices(dy), acc - load(image_matrices(target)));
    gpu.tell(cutlass::conv_forward{.x = h,
                                   .filters = w.second,
                                   .y = errors,
                                   .epilogue = sum_all(matrix(loss, images, 1), 0.5 * difference * difference),
                                   .padding = 1});
    gpu.tell(cutlass::conv_data_gradient{
        .dy = dy, .filters = w.second, .dx = dh, .epilogue = acc * d_relu(load(image_matrices(before))), .padding = 1});
    // Each request that computes a gradient of filters also updates them.
    gpu.tell(cutlass::conv_weight_gradient{
        .dy = dy, .x = h, .dfilters = w.second, .epilogue = load(filter_matrix(w.second)) - rate * acc, .padding = 1});
    gpu.tell(cutlass::conv_weight_gradient{
        .dy = dh, .x = x, .dfilters = w.first, .epilogue = load(filter_matrix(w.first)) - rate * acc, .padding = 1});
  }
};

int main(int argc, char** argv) {
  troupe::runtime rt;
  const device gpu = rt.open_device();
  std::mt19937 random(5);
  std::normal_distribution<float> values;
  std::vector<float> pixels(images * size * size * channels);
  for (float& v : pixels) v = values(random);

  const tensor<float> x = make_images(gpu, channels, pixels), target = make_images(gpu, outputs),
                      h = make_images(gpu, hidden);
  const layers teacher = make_layers(gpu, random);
  gpu.tell(cutlass::conv_forward{.x = x, .filters = teacher.first, .y = h, .epilogue = relu(acc), .padding = 1});
  gpu.tell(cutlass::conv_forward{.x = h, .filters = teacher.second, .y = target, .padding = 1});

  const training_step step{.gpu = gpu, .x = x, .target = target, .w = make_layers(gpu, random)};
  std::vector<float> losses;
  std::printf("step      loss\n");
  for (int i = 0; i <= steps; ++i) {
    step.run();
    const auto of_images = gpu.download(step.loss).get();
    if (!of_images) return std::fprintf(stderr, "convolution_layer: %s\n", of_images.error().to_string().c_str()), 1;
    float sum = 0;
    for (const float l : *of_images) sum += l;
    losses.push_back(sum / static_cast<float>(images * size * size * outputs));
    if (i % (steps / 10) == 0) std::printf("%4d  %8.5f\n", i, static_cast<double>(losses.back()));
  }
  if (argc > 1 && !training::draw_losses(argv[1], losses, {}))
    return std::fprintf(stderr, "convolution_layer: cannot write %s\n", argv[1]), 1;
  return losses.back() < losses.front() / 4 ? 0 : 1;
}
