// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/computation.hpp>

namespace troupe::dnn {

/// The loss of each sequence, as `ctc_loss` has it, and the gradient of the logits at once if it is wanted. Labels,
/// steps and counts are i32 in memory, see ctc_labels.
struct ctc_forward {
  in_any logits;                 ///< time x batch x classes; their softmax is computed here
  in_any labels, steps, counts;  ///< batch x longest; and of each sequence, how many steps and labels it has
  out_any losses;
  std::int64_t blank = 0;              ///< the class of a step that says nothing
  std::optional<in_any> dlosses = {};  ///< of each sequence, a factor of its gradient; not given: 1
  std::optional<out_any> dlogits = {};
  std::uint64_t workspace = any_workspace;
  TROUPE_REQUEST("dnn.ctc_forward", logits, labels, steps, counts, losses, blank, dlosses, dlogits, workspace)
  computation sent() const;
};

}  // namespace troupe::dnn
