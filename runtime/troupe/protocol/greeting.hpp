// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/request/lane_policy.hpp>
#include <vector>

/// The first message of the application to a worker, with the files of the channel and of the mailbox, and a socket on
/// which it asks for memory.
namespace troupe::protocol {

/// Raised by every change to anything in this folder. Both sides must agree.
inline constexpr std::uint32_t version = 16;

struct worker_settings {
  std::uint32_t version;
  std::uint32_t capacity;
  std::uint32_t wait;  ///< wait_policy
  lane_policy lanes;
  bool coalesce;
  std::uint32_t pool;     ///< lanes for lane_policy::pooled
  std::uint32_t helpers;  ///< threads for slow work
  std::int32_t device;
  std::uint32_t parent;                        ///< process id that the worker must not outlive; 0: a thread of it
  std::uint64_t reserve_begin, reserve_bytes;  ///< the addresses that memory will be mapped in
  std::uint64_t device_bytes;                  ///< so many of them, the first, are for the device's own memory
  std::uint64_t inline_bytes;   ///< operations that touch at most this much run on the pump when they can run at once
  std::int64_t order_limit_ns;  ///< one that takes longer to map memory, or to open a library, gives no sign of life
  std::uint64_t memory_limit;   ///< bytes that a process may have of its own; 0: no limit
  bool core_dumps;
  std::uint64_t cores[16];  ///< a bit for each that a process may run on; none: all

  bool operator==(const worker_settings&) const = default;
};

struct greeting {
  worker_settings settings;
  std::string backend;
  std::string gpu_core_stem;  ///< see gpu_core_file
  std::vector<std::string> folders, libraries;

  bool operator==(const greeting&) const = default;
};

/// For a control_message of kind hello: its text.
std::string text_of(const greeting& g);
/// Fails when the application is of another version, or the text is damaged.
result<greeting> parse_greeting(const worker_settings& settings, const std::string& text);

/// Where the worker with this process id leaves what the GPU was doing. Empty without a stem: nowhere.
std::string gpu_core_file(const std::string& stem, int worker);

}  // namespace troupe::protocol
