// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/geometry.hpp>

/// Operations that slide a window over images. All tensors are contiguous numbers N.
namespace troupe::dnn::host {

template <class N>
void convolve(const execution_context& w, const convolution_attributes& f, const location& x, const location& filters,
              const location& y);
template <class N>
void convolution_data_gradient(const execution_context& w, const convolution_attributes& f, const location& dy,
                               const location& filters, const location& dx);
template <class N>
void convolution_weight_gradient(const execution_context& w, const convolution_attributes& f, const location& dy,
                                 const location& x, const location& dw);

template <class N>
void pool(const execution_context& w, const pooling_attributes& f, const location& x, const location& y);
/// Computes the gradient of a pooling. `x` is needed only for a maximum.
template <class N>
void pool_gradient(const execution_context& w, const pooling_attributes& f, const location& dy, const location* x,
                   const location& dx);

}  // namespace troupe::dnn::host
