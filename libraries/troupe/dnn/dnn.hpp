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
#include <troupe/dnn/operations/cumulative/cumulative.hpp>
#include <troupe/dnn/operations/indexing/indexing.hpp>
#include <troupe/dnn/operations/losses/losses.hpp>
#include <troupe/dnn/operations/normalization/normalization.hpp>
#include <troupe/dnn/operations/normalization/requests.hpp>
#include <troupe/dnn/operations/pointwise/activation.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/pooling/pooling.hpp>
#include <troupe/dnn/operations/random/random.hpp>
#include <troupe/dnn/operations/recurrence/recurrence.hpp>
#include <troupe/dnn/operations/recurrence/requests.hpp>
#include <troupe/dnn/operations/recurrence/rnn.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/operations/resampling/resampling.hpp>
#include <troupe/dnn/operations/response_norm/response_norm.hpp>
#include <troupe/dnn/operations/rotary/rotary.hpp>
#include <troupe/dnn/operations/selection/selection.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>
#include <troupe/dnn/requests/computation.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::dnn {

using all_requests = request_list<computation, prepare, read_statistics>;

/// The ready requests: each is sent as a computation of one operation, or a few.
using ready_requests =
    request_list<conv_forward, conv_data_backward, conv_weight_backward, batch_norm_training, batch_norm_inference,
                 batch_norm_backward, layer_norm_forward, layer_norm_backward, rms_norm_forward, rms_norm_backward,
                 group_norm_forward, group_norm_backward, instance_norm_forward, instance_norm_backward, pool_forward,
                 pool_backward, softmax_forward, softmax_backward, activation_forward, activation_backward, reduction,
                 transform, dropout_forward, dropout_backward, lrn_forward, lrn_backward, resample_forward,
                 resample_backward, attention_forward, attention_backward, rnn_forward, rnn_backward, ctc_forward>;

}  // namespace troupe::dnn
