// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <vector>

namespace troupe::dnn::generated {

/// A CUDA kernel for a set kernel: the text from its parameter on, and its launch. Its parameter `at` has the addresses
/// of the operands, that of the results of parts, and numbers: extents and strides are not in the text, so that kernels
/// for other extents are the same.
struct set_text {
  std::string text;
  std::int64_t blocks = 0;
  unsigned threads = 0;
  std::vector<std::int64_t> numbers;
};

/// Returns the CUDA kernels that compute a set kernel, one after the other. `aligned` has a flag for each memory of the
/// graph: true if its address is a multiple of 16.
std::vector<set_text> texts_of(const sets::set_kernel& kernel, const std::vector<bool>& aligned);

}  // namespace troupe::dnn::generated
