// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Ready requests: each is sent as a computation of one operation or of a few.
#include <troupe/dnn/requests/ready_attention.hpp>
#include <troupe/dnn/requests/ready_batch_norm.hpp>
#include <troupe/dnn/requests/ready_convolution.hpp>
#include <troupe/dnn/requests/ready_ctc.hpp>
#include <troupe/dnn/requests/ready_dropout.hpp>
#include <troupe/dnn/requests/ready_elements.hpp>
#include <troupe/dnn/requests/ready_images.hpp>
#include <troupe/dnn/requests/ready_norms.hpp>
#include <troupe/dnn/requests/ready_rnn.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::dnn {

using ready_requests =
    request_list<conv_forward, conv_data_backward, conv_weight_backward, batch_norm_training, batch_norm_inference,
                 batch_norm_backward, layer_norm_forward, layer_norm_backward, rms_norm_forward, rms_norm_backward,
                 group_norm_forward, group_norm_backward, instance_norm_forward, instance_norm_backward, pool_forward,
                 pool_backward, softmax_forward, softmax_backward, activation_forward, activation_backward, reduction,
                 transform, dropout_forward, dropout_backward, lrn_forward, lrn_backward, resample_forward,
                 resample_backward, attention_forward, attention_backward, rnn_forward, rnn_backward, ctc_forward>;

}  // namespace troupe::dnn
