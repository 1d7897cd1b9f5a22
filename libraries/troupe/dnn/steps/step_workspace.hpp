// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/recurrence/layout.hpp>

/// The workspace of a step: memory that the step needs beside its tensors while it runs.
namespace troupe::dnn {

/// Offsets in the workspace of a recurrence's gradient, in elements.
struct recurrence_workspace {
  std::int64_t gate_gradients = 0;  ///< gradients of the gates at each step
  std::int64_t dh, dc;              ///< gradients of the state before the step that was processed last
  std::int64_t projected;           ///< gradients of h after each step, and of the state that one step projected
  std::int64_t x;                   ///< x, with 0 at steps that sequences do not have
  std::int64_t count;               ///< number of elements of the workspace

  recurrence_workspace(const recurrence_gradient_attributes& a, const detail::recurrence_layout& l) noexcept;
};

/// Offsets in the workspace of a CTC loss and its gradient, in doubles. The states of an alignment are blank, label,
/// blank, ..., label, blank.
struct ctc_workspace {
  std::int64_t states;     ///< number of states of a sequence
  std::int64_t norms = 0;  ///< logarithm of the sum of the exponentials of each step's logits: time x batch
  std::int64_t forward;    ///< log probabilities up to each state: for 2 steps, or for all if gradient
  std::int64_t backward;   ///< log probabilities after each state, for 2 steps; only for the gradient
  std::int64_t next;       ///< the next equal label of each label; only for the gradient
  std::int64_t losses;     ///< the loss of each sequence; only for the gradient
  std::int64_t count;      ///< number of doubles of the workspace

  ctc_workspace(const tensor_shape& logits, const tensor_shape& labels, bool gradient) noexcept;
};

/// Returns the bytes of workspace of a node that is computed in the type `compute_type`; 0 if it needs none.
std::uint64_t workspace_bytes_of(const encoded_graph& g, const encoded_node& n, dtype compute_type) noexcept;

}  // namespace troupe::dnn
