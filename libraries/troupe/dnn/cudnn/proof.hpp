// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <functional>
#include <string>
#include <troupe/dnn/cudnn/definition.hpp>
#include <troupe/dnn/cudnn/functions.hpp>

namespace troupe::dnn::cudnn {

/// Runs a plan on numbers of ours, and compares some of its results with the definition: some engines of cuDNN are
/// wrong for some shapes. Waits for the GPU.
///   `run(addresses, workspace)` enqueues it in the stream.
/// Returns what is wrong; "" if nothing is, or if there was no memory to try.
std::string disproof(const seen_graph& g, const links& l, const claim& c, CUstream stream,
                     const std::function<cudnnStatus_t(std::span<void* const> addresses, void* workspace)>& run);

}  // namespace troupe::dnn::cudnn
