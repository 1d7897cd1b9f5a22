// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace troupe::protocol {

/// Makes a packet of a fixed part and a text that follows it.
template <class Head>
std::vector<std::byte> join(const Head& head, std::string_view text) {
  static_assert(std::is_trivially_copyable_v<Head>);
  std::vector<std::byte> out(sizeof head + text.size());
  std::memcpy(out.data(), &head, sizeof head);
  std::ranges::copy(std::as_bytes(std::span(text)), out.begin() + sizeof head);
  return out;
}
/// Splits a packet into fixed part and text. Returns false if it is shorter than the fixed part.
template <class Head>
bool split(std::span<const std::byte> packet, Head& head, std::string& text) {
  static_assert(std::is_trivially_copyable_v<Head>);
  if (packet.size() < sizeof head) return false;
  std::memcpy(&head, packet.data(), sizeof head);
  text.assign(reinterpret_cast<const char*>(packet.data()) + sizeof head, packet.size() - sizeof head);
  return true;
}

}  // namespace troupe::protocol
