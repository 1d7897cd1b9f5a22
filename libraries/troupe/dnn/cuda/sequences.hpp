// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches.hpp>

/// Nodes that process sequences step by step.
namespace troupe::dnn {

result<void> enqueue_recurrence(const operator_step& s, const launch_site& w);
result<void> enqueue_recurrence_gradient(const operator_step& s, const launch_site& w);
/// Enqueues a CTC loss, or its gradient.
result<void> enqueue_ctc(const operator_step& s, const launch_site& w);

}  // namespace troupe::dnn
