// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <troupe/faults/internal/kind_is_request.hpp>
#include <troupe/faults/kinds.hpp>

namespace troupe::faults {
namespace {

struct named {
  kind what;
  std::string_view name;
  bool is_request;
};
constexpr std::array<named, kind_count> names{{{kind::kill_worker, "kill_worker", false},
                                               {kind::kill_standby, "kill_standby", false},
                                               {kind::kill_all, "kill_all", false},
                                               {kind::kill_promoted, "kill_promoted", false},
                                               {kind::stop_worker, "stop_worker", false},
                                               {kind::stop_standby, "stop_standby", false},
                                               {kind::segmentation_fault, "segmentation_fault", true},
                                               {kind::abort, "abort", true},
                                               {kind::abort_in_helper, "abort_in_helper", true},
                                               {kind::illegal_instruction, "illegal_instruction", true},
                                               {kind::floating_point_trap, "floating_point_trap", true},
                                               {kind::exit, "exit", true},
                                               {kind::stack_overflow, "stack_overflow", true},
                                               {kind::hang, "hang", true},
                                               {kind::exhaust_memory, "exhaust_memory", true},
                                               {kind::garbage, "garbage", true},
                                               {kind::failed_assertion, "failed_assertion", true},
                                               {kind::shared_memory_overflow, "shared_memory_overflow", true}}};

constexpr std::array<kind, kind_count> in_order = [] {
  std::array<kind, kind_count> out{};
  for (std::size_t i = 0; i < kind_count; ++i) out[i] = names[i].what;
  return out;
}();

}  // namespace

std::span<const kind> all_kinds() noexcept { return in_order; }
std::string_view to_string(kind k) noexcept { return names[static_cast<std::size_t>(k)].name; }
std::optional<kind> kind_of(std::string_view name) noexcept {
  for (const named& n : names)
    if (n.name == name) return n.what;
  return {};
}
bool is_request(kind k) noexcept { return names[static_cast<std::size_t>(k)].is_request; }

}  // namespace troupe::faults
