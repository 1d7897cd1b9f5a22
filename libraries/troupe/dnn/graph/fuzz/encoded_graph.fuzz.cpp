// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Reads a graph from arbitrary bytes. A graph that is accepted must not refer to anything outside of itself.
#include <cstdlib>
#include <cstring>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  std::vector<std::uint64_t> words(size / sizeof(std::uint64_t) + 1);  // aligned, like the memory that workers read
  if (size != 0) std::memcpy(words.data(), data, size);
  const dnn::encoded_graph g(reinterpret_cast<const std::byte*>(words.data()), size);
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  for (const dnn::encoded_node& n : g.nodes()) {
    require(is_known(n.what) && n.input_count <= dnn::encoded_node::most_inputs &&
            n.output_count <= dnn::encoded_node::most_outputs && n.count_value_inputs() <= n.input_count);
    for (std::size_t i = 0; i < n.input_count; ++i) require(n.inputs[i] < g.tensors().size());
    for (std::size_t i = 0; i < n.output_count; ++i) require(n.outputs[i] < g.tensors().size());
  }
  for (const dnn::encoded_tensor& t : g.tensors())
    require(is_known(t.type) && t.shape.rank <= tensor_shape::max_rank && dnn::elements_of(t.shape) > 0 &&
            (t.where != dnn::encoded_tensor::place::memory || t.memory < g.memory().size()));
  require(g.structure().size() <= size);
  return 0;
}
