// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// Returns the smallest multiple of `step` that is not below `value`, for example whole pages.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) noexcept {
  return (value + step - 1) / step * step;
}
static_assert(round_up(0, 4096) == 0 && round_up(1, 4096) == 4096 && round_up(4096, 4096) == 4096);
static_assert(round_up(7, 3) == 9);

}  // namespace troupe
