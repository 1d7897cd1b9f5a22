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

/// Returns the divisor that the function `quotient` of generated kernels takes for n >= 1. Divisions are slow, so it
/// multiplies instead if indexes are `narrow`: less than 2^31.
std::int64_t divisor_of(std::int64_t n, bool narrow) noexcept;
/// Returns an unsigned type of this many bytes: 1, 2, 4, 8 or 16.
const char* unsigned_type(unsigned bytes) noexcept;
/// Returns the text for the N whose value as a double has these bits.
std::string text_of_bits(const std::string& bits);
std::string text_of(dtype t);
/// Returns the expression of an operation of kind round, apply or multiply_add. `argument(n)` returns the text for the
/// value of operation n.
std::string value_of(const elementwise_kernel::operation& o, const std::function<std::string(std::uint16_t)>& argument);

}  // namespace troupe::dnn::generated
