// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The whole of dnn: tensors, operations on them, the requests, and the types of elements.
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/dnn/gradients/differentiation.hpp>
#include <troupe/dnn/operations/attention/attention.hpp>
#include <troupe/dnn/operations/blocks/blocks.hpp>
#include <troupe/dnn/operations/convolution/convolution.hpp>
#include <troupe/dnn/operations/ctc/ctc.hpp>
#include <troupe/dnn/operations/normalization/normalization.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/pooling/pooling.hpp>
#include <troupe/dnn/operations/random/random.hpp>
#include <troupe/dnn/operations/recurrence/recurrence.hpp>
#include <troupe/dnn/operations/recurrence/rnn.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/operations/resampling/resampling.hpp>
#include <troupe/dnn/operations/response_norm/response_norm.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>
#include <troupe/dnn/requests/computation.hpp>
#include <troupe/dnn/requests/ready.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::dnn {

using all_requests = request_list<computation, prepare, read_statistics>;

}  // namespace troupe::dnn
