// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::protocol {

/// A message: its fixed part, and a text behind it.
template <class Head>
std::vector<std::byte> packet_of(const Head& head, std::string_view text = {}) {
  std::vector<std::byte> out(sizeof head + text.size());
  std::memcpy(out.data(), &head, sizeof head);
  std::ranges::copy(std::as_bytes(std::span(text)), out.begin() + sizeof head);
  return out;
}
/// Reads the fixed part. False: the message is too short.
template <class Head>
bool read_head(std::span<const std::byte> packet, Head& head) noexcept {
  if (packet.size() < sizeof head) return false;
  std::memcpy(&head, packet.data(), sizeof head);
  return true;
}
/// The text of such a message.
template <class Head>
std::string text_behind(std::span<const std::byte> packet, const Head&) {
  return std::string(reinterpret_cast<const char*>(packet.data()) + sizeof(Head), packet.size() - sizeof(Head));
}

}  // namespace troupe::protocol
