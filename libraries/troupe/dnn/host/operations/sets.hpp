// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// Reductions, softmax, products and normalizations on the host. All tensors are dense, with elements of type N.
namespace troupe::dnn::host {

template <class N>
void reduce(const execution_context& w, const reduction_attributes& f, const location& x, const location& y);

template <class N>
void softmax(const execution_context& w, const softmax_attributes& f, const location& x, const location& y);
template <class N>
void softmax_gradient(const execution_context& w, const softmax_attributes& f, const location& dy, const location& y,
                      const location& dx);

template <class N>
void multiply_matrices(const execution_context& w, const location& a, const location& b, const location& c);

template <class N>
void normalize(const execution_context& w, const operator_step& s);
template <class N>
void normalization_gradient(const execution_context& w, const operator_step& s);

}  // namespace troupe::dnn::host
