// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/graph/graph.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <vector>

namespace troupe::dnn {

/// The nodes and tensors of a graph in the application, in the order of its encoding.
struct graph::parts {
  std::vector<encoded_node> nodes;
  std::vector<encoded_tensor> tensors;
  std::optional<detail::refusal> refused;
};

}  // namespace troupe::dnn
