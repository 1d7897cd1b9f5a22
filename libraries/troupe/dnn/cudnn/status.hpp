// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cudnn_graph.h>

#include <string>
#include <string_view>
#include <troupe/base/result.hpp>

/// cuDNN's statuses as errors.
namespace troupe::dnn::cudnn {

/// Returns the status's name, and what cuDNN says of the last failure in this thread.
std::string text_of(cudnnStatus_t status);

/// Returns true if cuDNN says that it does not have this: another graph or engine may do.
bool is_refusal(cudnnStatus_t status) noexcept;
/// Returns true if the status is such a refusal, and depends on the graph, the GPU and cuDNN's version alone. What
/// comes of the installation, of a shortage of memory, or of a failure within cuDNN may be over later.
bool is_lasting(cudnnStatus_t status) noexcept;
/// Returns true if another engine may do in place of the one that failed so.
bool is_of_engine(cudnnStatus_t status) noexcept;

/// Makes the error of a failed call of cuDNN. `stream` is that of the handle, null outside requests. Sets
/// `handle_is_broken` if the library must be opened again.
error failed(std::string_view call, cudnnStatus_t status, CUstream stream, bool& handle_is_broken);
/// The same for calls that need no handle.
error failed(std::string_view call, cudnnStatus_t status);

/// Makes the error of a descriptor that could not be made. Here cuDNN's internal errors are refusals too, because
/// another engine or another graph may do: reaction::unsupported if `is_lasting`, otherwise reaction::retry_later.
error refused(std::string_view call, cudnnStatus_t status);

}  // namespace troupe::dnn::cudnn
