// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Includes all headers of cutlass except <troupe/cutlass/weights.hpp>, the language of epilogues, and the types of
/// elements.
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/cutlass/convolution.hpp>
#include <troupe/cutlass/gemm.hpp>
#include <troupe/cutlass/gemm_batched.hpp>
#include <troupe/cutlass/gemm_grouped.hpp>
#include <troupe/cutlass/image_views.hpp>
#include <troupe/cutlass/pack.hpp>
#include <troupe/cutlass/prepare.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::cutlass {

using product_requests = request_list<gemm, gemm_batched, gemm_grouped>;
using convolution_requests = request_list<conv_forward, conv_data_gradient, conv_weight_gradient>;
using prepare_requests =
    requests_for<types<gemm, gemm_batched, gemm_grouped, conv_forward, conv_data_gradient, conv_weight_gradient>,
                 prepare>;
using weight_requests = request_list<pack>;
using all_requests = joined_requests<product_requests, convolution_requests, prepare_requests, weight_requests,
                                     request_list<read_statistics>>;

}  // namespace troupe::cutlass
