// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/base/text/printable.hpp>
#include <troupe/protocol/memory_question.hpp>
#include <troupe/protocol/packet.hpp>

namespace troupe::protocol {

std::span<const std::byte> packet_of(const wanted_memory& question) noexcept {
  return std::as_bytes(std::span(&question, 1));
}

std::optional<wanted_memory> parse_question(std::span<const std::byte> packet) noexcept {
  wanted_memory out;
  if (packet.size() != sizeof out) return {};
  std::memcpy(&out, packet.data(), sizeof out);
  if (out.what > wanted::release) return {};
  return out;
}

std::vector<std::byte> packet_of(const made_memory& answer, std::string_view text) { return join(answer, text); }

std::optional<parsed_answer> parse_answer(std::span<const std::byte> packet) {
  parsed_answer out;
  if (!split(packet, out.head, out.text)) return {};
  if (out.head.made > 1 || out.head.reaction > static_cast<std::uint32_t>(reaction::fatal)) return {};
  make_printable(out.text);
  return out;
}

}  // namespace troupe::protocol
