// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>

/// Convolutions and their gradients on the host. All tensors are dense, with elements of type N.
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

}  // namespace troupe::dnn::host
