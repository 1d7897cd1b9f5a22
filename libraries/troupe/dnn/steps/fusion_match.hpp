// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// Nodes that one kernel computes together, and the types and layouts that it needs. The kernel is a vendor's or a
/// stored-type kernel.
struct fusion_match {
  /// A tensor, and the type and layout that the kernel needs. Inputs with another type or layout are copied. Outputs in
  /// memory of the graph must have this type and layout.
  struct tensor {
    std::uint16_t number;  ///< index of the tensor
    dtype type;
    tensor_shape shape;
    bool copied = false;  ///< true if it must be copied because its address is not aligned
    /// If set, the kernel also reads this tensor with other strides, at any address: those for which this returns true.
    bool (*accepts)(const tensor_shape&) = nullptr;
    bool as_stored = false;  ///< true if the kernel reads it as it is stored; it may have another type and layout
  };
  std::vector<std::uint16_t> nodes;
  std::uint16_t at = 0;  ///< the node in whose place the match is computed, see position_of()
  std::vector<tensor> inputs, outputs;
  std::uint64_t workspace = 0;  ///< bytes of workspace
};

}  // namespace troupe::dnn
