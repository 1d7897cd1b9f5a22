// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The whole of dnn: tensors, operations on them, the requests, and the types of elements.
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/dnn/attention.hpp>
#include <troupe/dnn/blocks.hpp>
#include <troupe/dnn/computation.hpp>
#include <troupe/dnn/convolution.hpp>
#include <troupe/dnn/ctc.hpp>
#include <troupe/dnn/differentiation.hpp>
#include <troupe/dnn/normalization.hpp>
#include <troupe/dnn/pointwise.hpp>
#include <troupe/dnn/pooling.hpp>
#include <troupe/dnn/random.hpp>
#include <troupe/dnn/ready.hpp>
#include <troupe/dnn/recurrence.hpp>
#include <troupe/dnn/reductions.hpp>
#include <troupe/dnn/resampling.hpp>
#include <troupe/dnn/response_norm.hpp>
#include <troupe/dnn/rnn.hpp>
#include <troupe/dnn/shaping.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::dnn {

using all_requests = request_list<computation, prepare, read_statistics>;

}  // namespace troupe::dnn
