// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/operations/recurrence/rnn_weights.hpp>
#include <troupe/dnn/requests/computation.hpp>

/// Layers of recurrences as requests, see rnn.hpp. `weights` has one element for each layer; if `bidirectional`, it has
/// two, and the second is that of the reversed direction. States are layers x batch x width in the same order, so all
/// layers with states must have one width.
namespace troupe::dnn {

/// y = the result of the last layer. The states before the first step are initial_h and initial_c, or 0 if these are
/// not given.
struct rnn_forward {
  in_any x;  ///< time x batch x inputs
  out_any y;
  list<rnn_weights> weights;
  recurrent_cell cell = recurrent_cell::lstm;
  bool bidirectional = false;
  std::optional<in_any> lengths = {};  ///< i32: number of steps of each sequence
  std::optional<in_any> initial_h = {}, initial_c = {};
  std::optional<out_any> last_h = {}, last_c = {};
  /// A vector of reserve_elements() elements, which the gradient reads.
  std::optional<out_any> reserve = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.rnn_forward", x, y, weights, cell, bidirectional, lengths, initial_h, initial_c, last_h, last_c,
                 reserve, options)
  /// Returns the number of elements that the reserve must have. It follows from x, weights and cell; 0 if these are
  /// invalid.
  ///   r.reserve = tensor(gpu.alloc<float>(n), {n});
  std::int64_t reserve_elements() const;
  computation to_request() const;
};

/// The gradients of x, weights and initial states, computed from dy, the gradient of y, and, if given, from those of
/// the last states. The other fields must be those of the forward request.
struct rnn_backward {
  in_any dy, x, reserve;
  out_any dx;
  list<rnn_weights> weights;
  list<rnn_weight_gradients> dweights;
  recurrent_cell cell = recurrent_cell::lstm;
  bool bidirectional = false;
  std::optional<in_any> lengths = {};
  std::optional<in_any> dlast_h = {}, dlast_c = {};
  std::optional<out_any> dinitial_h = {}, dinitial_c = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.rnn_backward", dy, x, reserve, dx, weights, dweights, cell, bidirectional, lengths, dlast_h,
                 dlast_c, dinitial_h, dinitial_c, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
