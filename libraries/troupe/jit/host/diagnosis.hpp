// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::jit {

/// What is to be said first of a compiler's messages, which end with a failure: its first error, or, where that speaks
/// of the compiler or the linker, what it means for the source. `compiler` is the compiler's version.
std::string diagnosis(const std::string& messages, int exit_code, std::string_view compiler);

}  // namespace troupe::jit
