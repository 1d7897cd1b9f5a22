// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/encoded_graph.hpp>
#include <troupe/dnn/internal/recurrence_layout.hpp>

/// Memory that a step needs beside its tensors, while it is carried out.
namespace troupe::dnn {

/// The workspace of a recurrence's gradient, in numbers.
struct recurrence_workspace {
  std::int64_t slopes = 0;  ///< of the gates at each step, see recurrence_layout::slopes
  std::int64_t dh, dc;      ///< of the state before the step that was computed last
  std::int64_t projected;   ///< the gradient of h after each step, and of what one step projected
  std::int64_t x;           ///< without what lies beyond the sequences' lengths
  std::int64_t count;

  recurrence_workspace(const recurrence_gradient_attributes& f, const detail::recurrence_layout& l) noexcept;
};

/// The workspace of a loss and its gradient, in doubles. States are a blank, a label, a blank, ..., the last label, a
/// blank.
struct ctc_workspace {
  std::int64_t states;
  std::int64_t norms = 0;  ///< the logarithm of the sum of each step's exponentials: time x batch
  std::int64_t forward;    ///< of each state: 2 steps of each sequence; of the gradient: all steps
  std::int64_t backward;   ///< 2 steps of each sequence, of the gradient alone
  std::int64_t next;       ///< the next label that is the same, of the gradient alone
  std::int64_t losses;     ///< of each sequence, of the gradient alone
  std::int64_t count;

  ctc_workspace(const tensor_shape& logits, const tensor_shape& labels, bool gradient) noexcept;
};

/// Returns the bytes of a node's workspace, where numbers have the type; 0: it needs none.
std::uint64_t workspace_bytes_of(const encoded_graph& g, const encoded_node& n, dtype numbers) noexcept;

}  // namespace troupe::dnn
