// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// The maximum number of products of two int8 whose sum always fits 32 bits: 2^31 / (128 * 128) - 1.
inline constexpr std::int64_t longest_int8_sum = 131071;

}  // namespace troupe
