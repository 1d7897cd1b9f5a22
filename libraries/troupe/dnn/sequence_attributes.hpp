// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/kinds.hpp>

/// The attributes of nodes on sequences; see attributes.hpp.
namespace troupe::dnn {

/// The attributes of a recurrence. Inputs: x, the weights of x and of the state before; h, and c of an LSTM; the biases
/// of x and of the state; the projection; lengths. Those that the attributes exclude are omitted. Outputs: y; the last
/// h, and c of an LSTM; the reserve.
struct recurrence_attributes {
  recurrent_cell cell;
  std::int64_t reversed;  ///< 1: from the last step of each sequence to its first
  std::int64_t has_state, has_biases, has_projection, has_lengths;
  std::int64_t has_dy, has_dh, has_dc;  ///< only used by the gradient
};
/// The attributes of its gradient. Inputs: x, both weights, the reserve; dy; the gradients of the last h and c; the
/// projection; lengths. Outputs: the gradients of x and both weights; of both biases; of the projection; of the first
/// h, and c of an LSTM.
using recurrence_gradient_attributes = recurrence_attributes;

/// The attributes of a CTC loss and its gradient. Inputs: logits, labels, the number of steps and the number of labels
/// of each sequence. Those of the gradient begin with the gradient of the losses.
struct ctc_attributes {
  std::int64_t blank;  ///< the class that stands for no label
};

}  // namespace troupe::dnn
