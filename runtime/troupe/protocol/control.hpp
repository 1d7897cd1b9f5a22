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

/// The messages on the control socket. None of them cancels a request: the slot's state word does, in shared memory
/// (words.hpp).
namespace troupe::protocol {

inline constexpr std::size_t most_message_bytes = 16 << 10;

enum class message : std::uint32_t {
  greeting = 1,    ///< from the application: `settings`, the text of a `greeting`, and the `greeting_descriptor`s
  ready = 2,       ///< from the worker: it can serve; the text of a `worker_description`
  failed = 3,      ///< from the worker: it cannot serve and ends; `reaction`, and a text that says why
  map = 4,         ///< from the application: map `memory`, whose file is attached
  unmap = 5,       ///< from the application: `memory` is no longer used
  stop = 6,        ///< from the application: no more requests follow; end
  serve = 7,       ///< from the application: take over the mailbox, as `serving` says
  ping = 8,        ///< from the application: asks for a pong, as a sign of life
  pong = 9,        ///< from the worker
  loaded = 10,     ///< from the worker: an engine was loaded; the text is its library
  load = 11,       ///< from the application: load an engine, if possible, before `serve`; the text is its library
  protect = 12,    ///< from the application: make `memory` read-only or writable
  restarted = 13,  ///< from the worker: an engine was reopened; the text is its library
  look = 14,       ///< from the application: write to the progress page how much memory is free
  remark = 15,     ///< from the worker: the text is for the application's log
};

/// The place in memory that `map`, `unmap` or `protect` is about. `number` counts memory messages over all workers of a
/// device.
struct memory_place {
  std::uint64_t address, bytes;
  std::uint32_t number;
  std::uint32_t read_only;  ///< 1: the worker must not write there

  /// `protect` with a file, which lists the places in its first `bytes`: see `list_of`.
  static constexpr memory_place listed(std::uint64_t bytes, std::uint32_t number) noexcept {
    return {0, bytes, number, 1};
  }
  /// `protect` of 0 bytes: a request protects the memory, and the message only counts.
  constexpr bool only_counts() const noexcept { return bytes == 0; }

  bool operator==(const memory_place&) const = default;
};

/// The position at which a worker takes over the mailbox.
struct service {
  std::uint64_t next_ticket;  ///< first ticket to take from the mailbox
  std::uint64_t last_report;  ///< number of the last failure reported so far
  std::uint32_t kept;         ///< how many slots of the mailbox's list come before that ticket
  std::uint32_t generation;   ///< requests checked in an earlier one may not read
  std::uint32_t segments;     ///< memory messages so far

  bool operator==(const service&) const = default;
};

/// The header of a message, followed by a text for some kinds. Header and text are one packet of at most
/// `most_message_bytes`.
struct control_message {
  message kind;
  std::uint32_t reaction;  ///< of failed
  union {
    worker_settings settings;  ///< of greeting; the text is that of a `greeting`
    memory_place memory;       ///< of map, unmap and protect
    service serving;           ///< of serve
  };
};

/// Makes the packet of a message. A text that is too long is cut.
std::vector<std::byte> packet_of(const control_message& m, std::string_view text = {});

struct parsed_message {
  control_message head;
  std::string text;
};
/// Returns nothing if the packet is too short. `kind` may have any value.
std::optional<parsed_message> parse_message(std::span<const std::byte> packet);
/// Returns the reaction in a message `failed`; fatal if its value is invalid.
reaction reaction_of(const control_message& m) noexcept;
/// Returns true if this text of `loaded` can be a library's name, which becomes part of a file's name.
bool is_library_name(std::string_view text) noexcept;

}  // namespace troupe::protocol
