// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// The texts of all errors about deadlines: call_options::timeout or scope_options::timeout.
namespace troupe::deadline_texts {

/// The error of a request that was cancelled because its deadline passed before it started, or refused because its
/// timeout is 0 or less.
inline constexpr const char* before_start =
    "its time-out passed while it waited to start (call_options::timeout or scope_options::timeout)";

/// The error of a request that was sent after its scope's deadline.
inline constexpr const char* after_scope = "its scope's deadline had passed (scope_options::timeout)";

/// The error of a call of `room()` that was overdue.
inline constexpr const char* in_room =
    "room: the scope's deadline passed before there was room (scope_options::timeout)";

/// The error of a request that waited for room until its deadline; `full` names the full mailbox.
inline std::string before_room(std::string_view full) {
  return "its time-out passed while it waited for room: " + std::string(full) +
         "send fewer at a time, raise device_options::mailbox_capacity, or allow a longer call_options::timeout";
}

}  // namespace troupe::deadline_texts
