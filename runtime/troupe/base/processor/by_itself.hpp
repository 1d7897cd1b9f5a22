// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// Returns the word, and forces the compiler to load it with an instruction of its own. Compilers merge copies of
/// neighboring words into one wider load; if several recent stores wrote those bytes, the processor delays such a load
/// until the stores have reached its cache.
[[gnu::always_inline]] inline std::uint64_t by_itself(std::uint64_t word) noexcept {
  __asm__("" : "+r"(word));
  return word;
}

}  // namespace troupe
