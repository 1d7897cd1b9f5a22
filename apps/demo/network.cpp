// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/demo/kernels.hpp>
#include <apps/demo/network.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/device/sealing.hpp>

namespace demo {

using namespace troupe;

network::network(const device& gpu, const model& m)
    : gpu_(gpu),
      model_(m),
      program_(jit::compile(
          gpu, {.source = kernels, .name = "demo.cu", .definitions = {{"CLASSES", std::to_string(shape::classes)}}})),
      gelu_(program_.kernel("bias_gelu")),
      softmax_(program_.kernel("bias_softmax")) {
  for (const layer& l : m.layers()) {
    layers_.push_back({l.inputs, l.outputs, gpu.alloc<float>(l.outputs * l.inputs, {.sealable = true}),
                       gpu.alloc<float>(l.outputs, {.sealable = true})});
    keep(layers_.back().weights, l.weights);
    keep(layers_.back().bias, l.bias);
  }
}

void network::keep(const buffer<float>& where, const std::vector<float>& values) const {
  gpu_.upload(where, values);
  (void)seal(gpu_, where);  // if sealing fails, a fault may make another upload necessary
}

void network::renew() {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (!layers_[i].weights.readable()) keep(layers_[i].weights, model_.layers()[i].weights);
    if (!layers_[i].bias.readable()) keep(layers_[i].bias, model_.layers()[i].bias);
  }
}

pending<std::vector<float>> network::answer(const std::vector<float>& features, std::int64_t questions) const {
  auto x = gpu_.alloc<float>(shape::features * questions);
  gpu_.upload(x, features);
  for (const layer_on_device& l : layers_) {
    const auto y = gpu_.alloc<float>(l.outputs * questions);
    gpu_.tell(blas::gemm<float>{.a = l.weights, .b = x, .c = y, .m = l.outputs, .n = questions, .k = l.inputs});
    if (&l == &layers_.back()) {
      gpu_.tell(
          jit::launch{.kernel = softmax_, .grid = questions, .block = shape::classes, .arguments = {inout(y), l.bias}});
    } else {
      const std::int64_t count = l.outputs * questions;
      gpu_.tell(jit::launch{.kernel = gelu_,
                            .grid = kernel::blocks_for(count, 256),
                            .block = 256,
                            .arguments = {inout(y), l.bias, static_cast<int>(l.outputs), static_cast<int>(count)}});
    }
    x = y;  // frees the old x; the device keeps memory that it still uses
  }
  return gpu_.download(x);
}

}  // namespace demo
