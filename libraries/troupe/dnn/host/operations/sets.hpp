// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/host/execution_context.hpp>

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

struct normalization_tensors {
  location x, y, mean, deviation;
  std::optional<location> scale, offset, running_mean, running_variance, next_mean, next_variance;
};
template <class N>
void normalize(const execution_context& w, const normalization_attributes& f, const normalization_tensors& t);

struct normalization_gradient_tensors {
  location dy, x, mean, deviation, dx;
  std::optional<location> scale, dscale, doffset;
};
template <class N>
void normalization_gradient(const execution_context& w, const normalization_attributes& f,
                            const normalization_gradient_tensors& t);

}  // namespace troupe::dnn::host
