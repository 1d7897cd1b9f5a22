// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <troupe/dnn/testing/ready_attention_cases.hpp>
#include <troupe/dnn/testing/ready_cases.hpp>
#include <troupe/dnn/testing/ready_image_cases.hpp>
#include <troupe/dnn/testing/ready_norm_cases.hpp>
#include <troupe/dnn/testing/ready_sequence_cases.hpp>

namespace troupe::dnn::testing {

using all_ready_cases =
    ::testing::Types<conv_forward_case, conv_data_backward_case, conv_weight_backward_case, batch_norm_training_case,
                     batch_norm_inference_case, batch_norm_backward_case, layer_norm_forward_case,
                     layer_norm_backward_case, rms_norm_forward_case, rms_norm_backward_case, group_norm_forward_case,
                     group_norm_backward_case, instance_norm_forward_case, instance_norm_backward_case,
                     pool_forward_case, pool_backward_case, softmax_forward_case, softmax_backward_case,
                     activation_forward_case, activation_backward_case, reduction_case, transform_case,
                     dropout_forward_case, dropout_backward_case, lrn_forward_case, lrn_backward_case,
                     resample_forward_case, resample_backward_case, attention_forward_case, attention_backward_case,
                     rnn_forward_case, rnn_backward_case, ctc_forward_case>;

/// Returns true if the cases are those of all ready requests, in the same order.
template <class... Case>
constexpr bool are_all(::testing::Types<Case...>) {
  return std::is_same_v<request_list<typename Case::request...>, ready_requests>;
}
static_assert(are_all(all_ready_cases{}));

}  // namespace troupe::dnn::testing
