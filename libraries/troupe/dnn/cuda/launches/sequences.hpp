// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches/launches.hpp>

/// Steps of recurrences and of the CTC loss.
namespace troupe::dnn {

result<void> enqueue_recurrence(const operator_step& s, const execution_context& w);
result<void> enqueue_recurrence_gradient(const operator_step& s, const execution_context& w);
/// Enqueues a CTC loss, or its gradient.
result<void> enqueue_ctc(const operator_step& s, const execution_context& w);

}  // namespace troupe::dnn
