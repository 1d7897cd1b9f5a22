// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/value.hpp>

/// Connectionist temporal classification: what a sequence says, whenever it says it.
namespace troupe::dnn {

/// What the labels of some sequences are. All are i32 in memory.
struct ctc_labels {
  value labels;            ///< batch x longest; beyond a sequence's labels they are not used
  value steps;             ///< of each sequence: how many of the logits' steps are used
  value counts;            ///< of each sequence: how many labels it has
  std::int64_t blank = 0;  ///< the class of a step that says nothing
};

/// -log of the probability that a sequence says its labels in order, for each sequence. The logits are time x batch x
/// classes; the probabilities of a step are their softmax, which is computed here. Equal labels after each other have a
/// blank between them.
///
/// The loss is infinite, and its gradient 0, if no alignment is possible: too few steps for the labels; a label that is
/// no class or the blank; a number of steps or labels that is negative or more than there are.
value ctc_loss(const value& logits, const ctc_labels& l);
/// The gradient of the logits from that of each loss. It is 0 beyond a sequence's steps.
value ctc_loss_gradient(const value& dloss, const value& logits, const ctc_labels& l);

}  // namespace troupe::dnn
