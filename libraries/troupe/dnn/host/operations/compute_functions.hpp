// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/op.hpp>
#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/geometry.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// The operations that the host computes as operator steps: the functions that graph/op_list.inc names. All tensors
/// are dense, and their elements are of type N, except tensors of indexes and counts.
namespace troupe::dnn::host {

#define OPERATION(...)
#define STEP(NAME, HOST, ...) \
  template <class N>          \
  void HOST(const execution_context& on, const operator_step& step);
#include <troupe/dnn/graph/op_list.inc>

/// Instantiates the function of an operation for the types of elements.
#define TROUPE_HOST_STEP(NAME)                                               \
  template void NAME<float>(const execution_context&, const operator_step&); \
  template void NAME<double>(const execution_context&, const operator_step&)

/// The function that computes each operation, at `index_of(op)`; null for those that are no steps.
template <class N>
inline constexpr void (*compute_functions[op_count])(const execution_context&, const operator_step&) = {
    nullptr,
#define OPERATION(...) nullptr,
#define STEP(NAME, HOST, ...) host::HOST<N>,
#include <troupe/dnn/graph/op_list.inc>
};

}  // namespace troupe::dnn::host
