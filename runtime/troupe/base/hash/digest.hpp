// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// A SHA-256 hash (FIPS 180-4).
using digest = std::array<std::uint8_t, 32>;
/// Returns the SHA-256 hash of the bytes.
digest digest_of(std::string_view bytes) noexcept;
std::string to_hex(const digest& d);

}  // namespace troupe
