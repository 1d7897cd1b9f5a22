// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/text/cat.hpp>

namespace troupe {

/// Returns a duration in words: "0.3 s", "57 s".
inline std::string duration_text(std::int64_t ns) {
  constexpr std::int64_t tenth = 100'000'000;
  const std::int64_t tenths = ns / tenth + (ns % tenth != 0 ? 1 : 0);
  std::string out = std::to_string(tenths / 10);
  if (tenths < 100 && tenths % 10 != 0) out += cat(".", tenths % 10);
  return out + " s";
}

}  // namespace troupe
