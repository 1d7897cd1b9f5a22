// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// The 64-bit FNV-1a hash: constexpr, and the same in every build.
constexpr std::uint64_t fnv1a(std::uint64_t hash, std::uint64_t value) noexcept {
  return (hash ^ value) * 0x100000001b3;
}
constexpr std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) noexcept {
  for (const char c : text) hash = fnv1a(hash, static_cast<unsigned char>(c));
  return hash;
}
constexpr std::uint64_t fnv1a(std::string_view text) noexcept { return fnv1a(0xcbf29ce484222325, text); }

}  // namespace troupe
