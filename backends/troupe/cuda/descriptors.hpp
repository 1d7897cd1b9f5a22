// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace troupe::cuda {

/// What a descriptor is of, when that surely is no memory of a GPU; empty when it may be. The driver would look into
/// that for half a minute.
std::string_view surely_something_else(int descriptor) noexcept;

}  // namespace troupe::cuda
