// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>

namespace troupe::dnn {

/// The attributes of a CTC loss and its gradient. Inputs: logits; labels; for each sequence, its number of steps and
/// its number of labels. The gradient has one more input before these: the gradient of the losses.
struct ctc_attributes {
  std::int64_t blank;  ///< the class that stands for no label
};

/// The indexes of the inputs. The inputs from the labels on are i32 in memory.
struct ctc_inputs {
  std::size_t dloss = 0;  ///< only for a gradient
  std::size_t logits, labels, steps, counts;
  constexpr explicit ctc_inputs(bool gradient) noexcept
      : logits(gradient ? 1 : 0), labels(logits + 1), steps(logits + 2), counts(logits + 3) {}
};

constexpr std::size_t count_value_inputs(op what, const ctc_attributes&, const node_counts&) noexcept {
  return ctc_inputs(what == op::ctc_loss_gradient).labels;
}

}  // namespace troupe::dnn
