// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <troupe/faults/internal/kind_is_request.hpp>
#include <troupe/faults/kinds.hpp>

namespace troupe::faults {
namespace {

constexpr std::array<kind, kind_count> in_order = [] {
  std::array<kind, kind_count> out{};
  for (std::size_t i = 0; i < kind_count; ++i) out[i] = static_cast<kind>(i);
  return out;
}();
static_assert(is_known(in_order.back()) && !is_known(static_cast<kind>(kind_count)));

}  // namespace

std::span<const kind> all_kinds() noexcept { return in_order; }
std::optional<kind> kind_of(std::string_view name) noexcept {
  for (const kind k : in_order)
    if (to_string(k) == name) return k;
  return {};
}
bool is_request(kind k) noexcept { return k >= kind::segmentation_fault; }

}  // namespace troupe::faults
