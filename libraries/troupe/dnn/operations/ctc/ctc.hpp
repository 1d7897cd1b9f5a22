// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/value.hpp>
#include <troupe/dnn/requests/computation.hpp>

/// Connectionist temporal classification: the loss of a sequence of labels whose alignment to the steps is unknown.
namespace troupe::dnn {

/// The labels of a batch of sequences. All are i32 in memory.
struct ctc_labels {
  value labels;            ///< batch x most labels of a sequence; entries after its count are not used
  value steps;             ///< number of steps of the logits that each sequence uses
  value counts;            ///< number of labels of each sequence
  std::int64_t blank = 0;  ///< the class of a step without a label
};

/// Returns for each sequence -log of the probability that it has its labels in order. The logits are time x batch x
/// classes. The probabilities of a step are the softmax of its logits, which is computed here. Two equal labels that
/// follow each other need a blank between them.
///
/// The loss is infinite, and its gradient 0, if no alignment is possible: a sequence has too few steps for its labels;
/// a label is not a class, or is the blank; a number of steps or labels is negative or exceeds the extent.
value ctc_loss(const value& logits, const ctc_labels& l);
/// Returns the gradient of the logits, computed from dloss, the gradient of each loss. It is 0 at steps that a sequence
/// does not use.
value ctc_loss_gradient(const value& dloss, const value& logits, const ctc_labels& l);

/// The loss of each sequence, as `ctc_loss` returns it. If `dlogits` is given, also computes the gradient of the
/// logits. Labels, steps and counts are i32 in memory, see ctc_labels.
struct ctc_forward {
  in_any logits;         ///< time x batch x classes; the request computes their softmax
  in_any labels;         ///< batch x most labels
  in_any steps, counts;  ///< for each sequence: its number of steps, and of labels
  out_any losses;
  std::int64_t blank = 0;              ///< the class of a step without a label
  std::optional<in_any> dlosses = {};  ///< the gradient of each loss; 1 if not given
  std::optional<out_any> dlogits = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.ctc_forward", logits, labels, steps, counts, losses, blank, dlosses, dlogits, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
