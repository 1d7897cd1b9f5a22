// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <troupe/dnn/steps/steps.hpp>

/// Parts of the text of generated kernels.
namespace troupe::dnn::generated {

/// A CUDA kernel: its text from its parameter on, and its launch. The parameter `at` is of the type operands<...>: the
/// addresses of operands, and the numbers.
struct kernel_text {
  std::string text;
  std::int64_t blocks = 0;
  unsigned threads = 0;
  std::vector<std::int64_t> numbers;
};

/// Returns an unsigned type of this many bytes: 1, 2, 4, 8 or 16.
const char* unsigned_type(unsigned bytes) noexcept;
/// Returns the text for the N whose value as a double has these bits.
std::string text_of_bits(const std::string& bits);
std::string text_of(dtype t);
/// Returns the expression of an operation of kind round or apply. `argument(n)` returns the text for the value
/// of operation n.
std::string value_of(const elementwise_kernel::operation& o, const std::function<std::string(std::uint16_t)>& argument);

}  // namespace troupe::dnn::generated
