// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

/// Options of requests that compute or plan a graph.
namespace troupe::dnn {

/// The least precision that products of f32 may have. An engine may be more precise: the host engine always is exact.
enum class precision : std::uint8_t {
  exact = 0,  ///< factors are used as f32
  tf32 = 1,   ///< factors rounded to 10 bits of mantissa
};
constexpr bool is_known(precision p) noexcept { return p <= precision::tf32; }
constexpr std::string_view to_string(precision p) noexcept {
  return !is_known(p) ? "unknown" : p == precision::exact ? "exact" : "tf32";
}

/// The repeatability of results. `always`: equal requests have equal results in every run of one plan.
enum class repeatability : std::uint8_t {
  always = 0,
  not_needed = 1,  ///< sums may be added in another order each time, where that is faster
};
constexpr bool is_known(repeatability r) noexcept { return r <= repeatability::not_needed; }
constexpr std::string_view to_string(repeatability r) noexcept {
  return !is_known(r) ? "unknown" : r == repeatability::always ? "always" : "not_needed";
}

/// The treatment of a graph that an engine cannot compute in one step.
enum class fusion : std::uint8_t {
  allowed = 0,   ///< it is divided
  required = 1,  ///< the request is refused
};
constexpr bool is_known(fusion f) noexcept { return f <= fusion::required; }
constexpr std::string_view to_string(fusion f) noexcept {
  return !is_known(f) ? "unknown" : f == fusion::allowed ? "allowed" : "required";
}

/// The choice among the algorithms of a vendor's library.
enum class choice : std::uint8_t {
  recommended = 0,  ///< the first that the library recommends
  measured = 1,     ///< the fastest, by measurement when the graph is planned
};
constexpr bool is_known(choice c) noexcept { return c <= choice::measured; }
constexpr std::string_view to_string(choice c) noexcept {
  return !is_known(c) ? "unknown" : c == choice::recommended ? "recommended" : "measured";
}

}  // namespace troupe::dnn
