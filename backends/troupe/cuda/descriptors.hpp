// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace troupe::cuda {

/// Returns what a descriptor refers to if that certainly is not GPU memory, and an empty text if it may be. The driver
/// would take half a minute to find out.
std::string_view kind_if_not_gpu_memory(int descriptor) noexcept;

}  // namespace troupe::cuda
