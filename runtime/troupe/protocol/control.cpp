// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/protocol/control.hpp>
#include <troupe/protocol/packet.hpp>

namespace troupe::protocol {

std::vector<std::byte> packet_of(const control_message& m, std::string_view text) {
  return join(m, text.substr(0, most_message_bytes - sizeof m));
}

std::optional<parsed_message> parse_message(std::span<const std::byte> packet) {
  parsed_message out;
  if (!split(packet, out.head, out.text)) return {};
  return out;
}

reaction reaction_of(const control_message& m) noexcept {
  return m.reaction <= static_cast<std::uint32_t>(reaction::fatal) ? static_cast<reaction>(m.reaction)
                                                                   : reaction::fatal;
}

bool is_library_name(std::string_view text) noexcept {
  constexpr std::size_t longest = 64;
  return !text.empty() && text.size() <= longest && text.find_first_of("/\n") == text.npos;
}

}  // namespace troupe::protocol
