// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/kinds.hpp>

namespace troupe::dnn {

/// The attributes of a recurrence. Inputs: x, W and R; the initial h, and for an LSTM c; the biases b and d; the
/// projection; lengths. Inputs whose flags are 0 are omitted. Outputs: y; the last h, and for an LSTM c; the reserve.
struct recurrence_attributes {
  recurrent_cell cell;
  std::int64_t reversed;  ///< 1: from the last step of each sequence to its first
  std::int64_t has_state, has_biases, has_projection, has_lengths;
  std::int64_t has_dy, has_dh, has_dc;  ///< only used by the gradient
};
/// The attributes of a recurrence's gradient. Inputs: x, W, R and the reserve; dy; the gradients of the last h and c;
/// the projection; lengths. Outputs: the gradients of x, W and R; of b and d; of the projection; of the initial h, and
/// for an LSTM c. Inputs and outputs whose flags are 0 are omitted.
using recurrence_gradient_attributes = recurrence_attributes;

}  // namespace troupe::dnn
