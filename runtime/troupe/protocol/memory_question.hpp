// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <troupe/base/error.hpp>
#include <vector>

/// Questions about memory, on a socket of their own: an answer has its question's number.
namespace troupe::protocol {

enum class wanted : std::uint64_t {
  memory,   ///< `bytes` of device memory that is not the application's to make; the answer is their descriptor. With a
            ///< descriptor: whether it can be opened
  managed,  ///< `bytes` of memory of the worker's own; the answer is their address
  release,  ///< managed memory at `address` goes; there is no answer
};
struct wanted_memory {
  wanted what;
  std::uint64_t bytes;
  std::uint64_t address;
  std::uint64_t number;

  bool operator==(const wanted_memory&) const = default;
};
struct made_memory {
  std::uint32_t made;  ///< 1: the descriptor comes along, or the one that came can be opened, or `address` is right
  std::uint32_t reaction;
  std::uint64_t address;
  std::uint64_t number;

  bool operator==(const made_memory&) const = default;
};
std::span<const std::byte> packet_of(const wanted_memory& question) noexcept;
std::optional<wanted_memory> parse_question(std::span<const std::byte> packet) noexcept;

/// The text is that of an error, where `made` is 0.
std::vector<std::byte> packet_of(const made_memory& answer, std::string_view text = {});
struct parsed_answer {
  made_memory head;
  std::string text;
};
/// Returns nothing when the packet is too short, or no answer: `made` is 0 or 1, and `reaction` one there is.
std::optional<parsed_answer> parse_answer(std::span<const std::byte> packet);

}  // namespace troupe::protocol
