// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cudnn_graph.h>

#include <string>
#include <string_view>
#include <troupe/base/result.hpp>

/// The conversion of cuDNN's status codes to errors.
namespace troupe::dnn::cudnn {

/// Returns the name of the status, and cuDNN's text about the last failure in this thread.
std::string text_of(cudnnStatus_t status);

/// Returns true if cuDNN does not support the request. It may support another graph or another engine.
bool is_refusal(cudnnStatus_t status) noexcept;
/// Returns true if the status is a refusal that depends only on the graph, the GPU and cuDNN's version. Failures that
/// are caused by the installation, by exhausted memory or by cuDNN itself may not occur again.
bool is_permanent(cudnnStatus_t status) noexcept;
/// Returns true if another engine may succeed where this one failed with the status.
bool is_engine_failure(cudnnStatus_t status) noexcept;

/// Makes the error of a failed call of cuDNN. `stream` is the stream of the handle; null outside requests. Sets
/// `handle_is_broken` if the handle must be made again.
error failed(std::string_view call, cudnnStatus_t status, CUstream stream, bool& handle_is_broken);
/// Makes the error of a failed call that uses no handle.
error failed(std::string_view call, cudnnStatus_t status);

/// Makes the error for a descriptor that could not be made: reaction::unsupported if the status `is_permanent`,
/// otherwise reaction::retry_later. Internal errors of cuDNN count as refusals here, because another engine or graph
/// may succeed.
error refused(std::string_view call, cudnnStatus_t status);

}  // namespace troupe::dnn::cudnn
