// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/steps/read_set.hpp>

namespace troupe::dnn {

read_set::read_set(const encoded_graph& g) : memory_of_(g.tensors().size(), no_tensor), after_(g.memory().size()) {
  for (std::size_t i = 0; i < memory_of_.size(); ++i)
    if (g.tensors()[i].where == encoded_tensor::place::memory) memory_of_[i] = g.tensors()[i].memory;
  for (std::size_t i = 0; i < g.nodes().size(); ++i) {
    const encoded_node& n = g.nodes()[i];
    for (std::size_t k = 0; k < n.input_count; ++k)
      if (memory_of_[n.inputs[k]] != no_tensor) after_[memory_of_[n.inputs[k]]] = i + 1;
    if (is_view(n.what) && n.what != op::concatenation) memory_of_[n.outputs[0]] = memory_of_[n.inputs[0]];
  }
}

}  // namespace troupe::dnn
