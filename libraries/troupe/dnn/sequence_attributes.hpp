// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/kinds.hpp>

/// What nodes on sequences say beside their tensors; see attributes.hpp.
namespace troupe::dnn {

/// Inputs: x, the weights of x and of the state before; h, and c of an LSTM; the biases of x and of the state; the
/// projection; lengths. What the attributes does not have is left out. Outputs: y; the last h, and c of an LSTM; the
/// reserve.
struct recurrence_attributes {
  recurrent_cell cell;
  std::int64_t reversed;  ///< 1: from the last step of each sequence to its first
  std::int64_t has_state, has_biases, has_projection, has_lengths;
  std::int64_t has_dy, has_dh, has_dc;  ///< of the gradient alone
};
/// Inputs: x, both weights, the reserve; dy; those of the last h and c; the projection; lengths. Outputs: the gradients
/// of x and both weights; of both biases; of the projection; of the first h, and c of an LSTM.
using recurrence_gradient_attributes = recurrence_attributes;

/// Inputs: logits, labels, the number of steps and the number of labels of each sequence. The gradient has that of the
/// losses before them.
struct ctc_attributes {
  std::int64_t blank;  ///< the class that stands for no label
};

}  // namespace troupe::dnn
