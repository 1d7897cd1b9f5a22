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

/// The messages on the control socket. None of them cancels a request: that is a word in shared memory, the state of
/// its slot (words.hpp).
namespace troupe::protocol {

inline constexpr std::size_t most_message_bytes = 16 << 10;

enum class message : std::uint32_t {
  hello = 1,     ///< application: `settings`; the text of a `greeting`; the files of the channel and of the mailbox,
                 ///< and a socket on which it asks for memory
  ready = 2,     ///< worker: it can serve; the text of a `worker_description`
  failed = 3,    ///< worker: it cannot serve and ends; `reaction`, and a text that says why
  map = 4,       ///< application: `memory` to map, with its file
  unmap = 5,     ///< application: `memory` that is not used any more
  stop = 6,      ///< application: nothing is queued any more; end
  serve = 7,     ///< application: take over the mailbox, as `serving` says
  ping = 8,      ///< application: say that you live
  pong = 9,      ///< worker: the answer to it
  loaded = 10,   ///< worker: an engine was loaded; the text is its library
  load = 11,     ///< application: load one, if you can, before you have to serve; the text is its library
  protect = 12,  ///< application: `memory` to be read-only from now on, or not; with a file: all that are, as a list of
                 ///< `protected_place`s; no bytes: a request of the worker's own sees to it
  restarted = 13,  ///< worker: an engine was closed and opened anew; the text is its library
  look = 14,       ///< application: say in the progress page how much memory is free
};

/// Memory messages are counted, over all workers of a device: `number` is how many there have been with this one.
struct memory_place {
  std::uint64_t address, bytes;
  std::uint32_t number;
  std::uint32_t read_only;  ///< 1: the worker may not write there

  bool operator==(const memory_place&) const = default;
};

struct service {
  std::uint64_t next_ticket;  ///< the mailbox from here on
  std::uint64_t last_report;  ///< the number of the last failure that was told
  std::uint32_t kept;         ///< so many of the mailbox's list come first
  std::uint32_t generation;   ///< what was checked in an earlier one may not read
  std::uint32_t segments;     ///< memory messages so far

  bool operator==(const service&) const = default;
};

/// Each is one packet of at most `most_message_bytes`: this header, then text where the kind has any.
struct control_message {
  message kind;
  std::uint32_t reaction;  ///< of failed
  union {
    worker_settings settings;  ///< of hello; the text is that of a `greeting`
    memory_place memory;       ///< of map, unmap and protect
    service serving;           ///< of serve
  };
};

/// A text that is too long is cut.
std::vector<std::byte> packet_of(const control_message& m, std::string_view text = {});

struct parsed_message {
  control_message head;
  std::string text;
};
/// Returns nothing when the packet is too short. Whether `kind` is one there is, the reader sees when it looks at it.
std::optional<parsed_message> parse_message(std::span<const std::byte> packet);
/// Of `failed`: what the sender put into `reaction`, or fatal where that is none.
reaction reaction_of(const control_message& m) noexcept;
/// Can this text of `loaded` be a library? Its name becomes part of a file's name.
bool is_library_name(std::string_view text) noexcept;

}  // namespace troupe::protocol
