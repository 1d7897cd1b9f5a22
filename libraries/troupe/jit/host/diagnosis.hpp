// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::jit {

/// Summarizes the messages of a compiler that failed: the first error, or, if that is an error of the compiler or
/// linker itself, its meaning for the source. `compiler` is the compiler's version.
std::string diagnosis(const std::string& messages, int exit_code, std::string_view compiler);

}  // namespace troupe::jit
