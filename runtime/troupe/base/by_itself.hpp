// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// Returns the word, in a register. Compilers copy neighbouring words with one larger load, and a processor lets such a
/// load wait until what several recent stores have written is in its cache.
[[gnu::always_inline]] inline std::uint64_t by_itself(std::uint64_t word) noexcept {
  __asm__("" : "+r"(word));
  return word;
}

}  // namespace troupe
