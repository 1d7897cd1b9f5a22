// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bench/measures.hpp>

namespace troupe::bench {

std::span<const measure> measures(std::string_view engine) noexcept {
  static const std::array host{TROUPE_MEASURES_OF_HOST};
  static const std::array gpu{TROUPE_MEASURES_OF_GPU};
  if (engine == "host") return host;
  return gpu;
}

}  // namespace troupe::bench
