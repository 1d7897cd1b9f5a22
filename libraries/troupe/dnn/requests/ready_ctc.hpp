// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/requests/computation.hpp>

namespace troupe::dnn {

/// The loss of each sequence, as `ctc_loss` returns it. If `dlogits` is given, also computes the gradient of the
/// logits. Labels, steps and counts are i32 in memory, see ctc_labels.
struct ctc_forward {
  in_any logits;                 ///< time x batch x classes; the request computes their softmax
  in_any labels, steps, counts;  ///< batch x most labels; for each sequence, its numbers of steps and of labels
  out_any losses;
  std::int64_t blank = 0;              ///< the class of a step without a label
  std::optional<in_any> dlosses = {};  ///< the gradient of each loss; 1 if not given
  std::optional<out_any> dlogits = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.ctc_forward", logits, labels, steps, counts, losses, blank, dlosses, dlogits, options)
  computation sent() const;
};

}  // namespace troupe::dnn
