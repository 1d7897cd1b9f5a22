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

/// The questions about memory that the application asks a worker on a socket of their own. An answer has the number of
/// its question.
namespace troupe::protocol {

enum class wanted : std::uint64_t {
  /// Asks for `bytes` of device memory that only a worker can make; the answer carries its descriptor. If the question
  /// carries a descriptor, asks if the worker can map that memory.
  memory,
  managed,  ///< asks for `bytes` of managed memory, which belongs to the worker; the answer has its address
  release,  ///< frees managed memory at `address`; there is no answer
};
struct wanted_memory {
  wanted what;
  std::uint64_t bytes;
  std::uint64_t address;
  std::uint64_t number;

  bool operator==(const wanted_memory&) const = default;
};
struct made_memory {
  std::uint32_t made;  ///< 1: success: a descriptor is attached, the one received can be mapped, or `address` is set
  std::uint32_t reaction;
  std::uint64_t address;
  std::uint64_t number;

  bool operator==(const made_memory&) const = default;
};
std::span<const std::byte> packet_of(const wanted_memory& question) noexcept;
std::optional<wanted_memory> parse_question(std::span<const std::byte> packet) noexcept;

/// Makes the packet of an answer. If `made` is 0, the text is that of the error.
std::vector<std::byte> packet_of(const made_memory& answer, std::string_view text = {});
struct parsed_answer {
  made_memory head;
  std::string text;
};
/// Splits a packet into its parts. Returns nullopt if it is too short or not an answer: `made` must be 0 or 1, and
/// `reaction` valid.
std::optional<parsed_answer> parse_answer(std::span<const std::byte> packet);

}  // namespace troupe::protocol
