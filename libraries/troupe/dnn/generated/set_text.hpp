// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/generated/text_parts.hpp>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <vector>

namespace troupe::dnn::generated {

/// Returns the CUDA kernels that compute a set kernel, one after the other. Extents, strides and numbers are not in the
/// text. The last address is that of the results of parts. `aligned` has a flag for each memory of the
/// graph: true if its address is a multiple of 16.
std::vector<kernel_text> texts_of(const sets::set_kernel& kernel, const std::vector<bool>& aligned);

}  // namespace troupe::dnn::generated
