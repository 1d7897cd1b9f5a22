// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <troupe/dnn/steps/steps.hpp>

/// Parts of the text of generated kernels.
namespace troupe::dnn::generated {

/// Returns an unsigned type of this many bytes: 1, 2, 4, 8 or 16.
const char* unsigned_type(unsigned bytes) noexcept;
std::string text_of(double x);
std::string text_of(dtype t);
/// Returns the expression of an operation of kind number, round or apply. `argument(n)` returns the text for the value
/// of operation n.
std::string value_of(const elementwise_kernel::operation& o, const std::function<std::string(std::uint16_t)>& argument);

}  // namespace troupe::dnn::generated
