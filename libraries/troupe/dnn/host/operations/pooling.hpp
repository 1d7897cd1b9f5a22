// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>

/// Pooling on the host. All tensors are dense, with elements of type N.
namespace troupe::dnn::host {

template <class N>
void pool(const execution_context& w, const pooling_attributes& f, const location& x, const location& y);
/// Computes the gradient of a pooling. `x` is needed only for a maximum.
template <class N>
void pool_gradient(const execution_context& w, const pooling_attributes& f, const location& dy, const location* x,
                   const location& dx);
template <class N>
void pool_with_indexes(const execution_context& w, const pooling_attributes& f, const location& x, const location& y,
                       const location& indexes);
template <class N>
void pool_index_gradient(const execution_context& w, const pooling_attributes& f, const location& dy,
                         const location& indexes, const location& dx);

}  // namespace troupe::dnn::host
