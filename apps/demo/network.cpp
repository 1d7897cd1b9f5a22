// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/demo/network.hpp>
#include <troupe/blas/blas.hpp>

namespace demo {

using namespace troupe;

network::network(const device& gpu, const model& m) : gpu_(gpu) {
  for (const layer& l : m.layers()) {
    layers_.push_back({l.inputs, l.outputs, gpu.alloc<float>(l.outputs * l.inputs)});
    gpu.upload(layers_.back().weights, l.weights);
  }
}

pending<std::vector<float>> network::answer(const std::vector<float>& features, std::int64_t questions) const {
  auto x = gpu_.alloc<float>(shape::features * questions);
  gpu_.upload(x, features);
  for (const layer_on_device& l : layers_) {
    const auto y = gpu_.alloc<float>(l.outputs * questions);
    gpu_.tell(blas::gemm<float>{.a = l.weights, .b = x, .c = y, .m = l.outputs, .n = questions, .k = l.inputs});
    x = y;  // the device keeps the memory of what it still works with
  }
  return gpu_.download(x);
}

}  // namespace demo
