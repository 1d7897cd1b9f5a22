// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>

/// Normalization across channels, resampling and blocks with scales on the host. All tensors are dense, with elements
/// of type N.
namespace troupe::dnn::host {

template <class N>
void normalize_responses(const execution_context& w, const local_response_norm_attributes& f, const location& x,
                         const location& y);
template <class N>
void response_gradient(const execution_context& w, const local_response_norm_attributes& f, const location& dy,
                       const location& x, const location& dx);

template <class N>
void resample(const execution_context& w, const resampling_attributes& f, const location& x, const location& y);
template <class N>
void resampling_gradient(const execution_context& w, const resampling_attributes& f, const location& dy,
                         const location& dx);

template <class N>
void quantize_blocks(const execution_context& w, const block_attributes& f, const location& x, const location& elements,
                     const location& scales);
template <class N>
void dequantize_blocks(const execution_context& w, const block_attributes& f, const location& elements,
                       const location& scales, const location& y);

}  // namespace troupe::dnn::host
