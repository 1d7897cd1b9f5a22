// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::jit {

/// The names that a relocatable cubin, PTX, or what a fatbin holds of them uncompressed, defines for others, and that
/// nothing else may define. None of other bytes, or damaged ones.
std::vector<std::string> strong_symbols(std::string_view image);

}  // namespace troupe::jit
