// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::jit {

/// Returns the names that a relocatable cubin, PTX, or the uncompressed part of a fatbin defines for other parts and
/// that no other part may define. Returns none if the bytes are damaged or anything else.
std::vector<std::string> strong_symbols(std::string_view image);

}  // namespace troupe::jit
