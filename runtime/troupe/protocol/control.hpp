// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <troupe/base/error.hpp>
#include <troupe/protocol/greeting.hpp>
#include <vector>

/// The messages on the control socket between the application and a worker. None of them cancels a request: a word in
/// shared memory does (words.hpp, slot_word).
namespace troupe::protocol {

inline constexpr std::size_t most_message_bytes = 16 << 10;

enum class message : std::uint32_t {
  greeting = 1,    ///< from the application: `settings`, the text of a `greeting`, and its descriptors
  ready = 2,       ///< from the worker: it can serve; the text is a `worker_description`
  failed = 3,      ///< from the worker: it cannot serve and ends; `reaction`, and the reason as text
  map = 4,         ///< from the application: map `memory`, whose file is attached
  unmap = 5,       ///< from the application: `memory` is no longer used
  stop = 6,        ///< from the application: no more requests follow; end
  serve = 7,       ///< from the application: take over the mailbox at the position `serving`
  ping = 8,        ///< from the application: asks for a pong, as a sign of life
  pong = 9,        ///< from the worker: the answer to `ping`
  loaded = 10,     ///< from the worker: an engine was loaded; the text is its library
  load = 11,       ///< from the application: load an engine, if possible, before `serve`; the text is its library
  protect = 12,    ///< from the application: make `memory` read-only or writable
  restarted = 13,  ///< from the worker: an engine was reopened; the text is its library
  look = 14,       ///< from the application: write to the progress page how much memory is free
  remark = 15,     ///< from the worker: the text is for the application's log
};

/// The range of memory that `map`, `unmap` or `protect` concerns. `number` counts the memory messages of a device over
/// all its workers.
struct memory_place {
  std::uint64_t address, bytes;
  std::uint32_t number;
  std::uint32_t read_only;  ///< 1: the worker must not write to the range

  /// Makes the range of a `protect` whose ranges are listed in the first `bytes` of an attached file: see `list_of`.
  static constexpr memory_place listed(std::uint64_t bytes, std::uint32_t number) noexcept {
    return {0, bytes, number, 1};
  }
  /// Returns true for a `protect` of 0 bytes: a request protects the memory, and the message only raises the count.
  constexpr bool only_counts() const noexcept { return bytes == 0; }

  bool operator==(const memory_place&) const = default;
};

/// The position at which a worker takes over the mailbox.
struct service {
  std::uint64_t next_ticket;  ///< first ticket to take from the mailbox
  std::uint64_t last_report;  ///< number of the last report that earlier workers published
  std::uint32_t kept;         ///< number of slots in the mailbox's list before that ticket
  std::uint32_t generation;   ///< the device's generation: a request checked in an earlier one may read lost data
  std::uint32_t segments;     ///< number of memory messages so far

  bool operator==(const service&) const = default;
};

/// The fixed part of a message, which some kinds follow by a text. Both together are one packet of at most
/// `most_message_bytes`.
struct control_message {
  message kind;
  std::uint32_t reaction;  ///< in `failed`
  union {
    worker_settings settings;  ///< in `greeting`
    memory_place memory;       ///< in `map`, `unmap` and `protect`
    service serving;           ///< in `serve`
  };
};

/// Makes the packet of a message. Cuts a text that is too long.
std::vector<std::byte> packet_of(const control_message& m, std::string_view text = {});

struct parsed_message {
  control_message head;
  std::string text;
};
/// Splits a packet into its parts. Returns nullopt if it is too short. `kind` may have any value.
std::optional<parsed_message> parse_message(std::span<const std::byte> packet);
/// Returns the reaction in a `failed` message; fatal if its value is invalid.
reaction reaction_of(const control_message& m) noexcept;
/// Returns true if the text of a `loaded` message can be a library's name, which becomes part of a file's name.
bool is_library_name(std::string_view text) noexcept;

}  // namespace troupe::protocol
