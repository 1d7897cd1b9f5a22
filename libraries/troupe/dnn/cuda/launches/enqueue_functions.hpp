// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/graph/op.hpp>

/// The operations that our own kernels compute as operator steps: the functions that graph/op_list.inc names.
namespace troupe::dnn {

#define OPERATION(...)
#define STEP(NAME, HOST, CUDA, ...) result<void> CUDA(const operator_step& s, const launch_context& on);
#include <troupe/dnn/graph/op_list.inc>

/// The function that enqueues each operation, at `index_of(op)`; null for those that are no steps.
inline constexpr result<void> (*enqueue_functions[op_count])(const operator_step&, const launch_context&) = {
    nullptr,
#define OPERATION(...) nullptr,
#define STEP(NAME, HOST, CUDA, ...) CUDA,
#include <troupe/dnn/graph/op_list.inc>
};

}  // namespace troupe::dnn
