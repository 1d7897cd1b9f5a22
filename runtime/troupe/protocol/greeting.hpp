// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/channel/confinement.hpp>
#include <troupe/channel/wait_policy.hpp>
#include <troupe/request/lane_policy.hpp>
#include <vector>

/// The application's first message to a worker. Attached are the files of the channel and of the mailbox, a socket on
/// which the application asks for memory, and a file that the workers of a device share.
namespace troupe::protocol {

/// The version of the protocol. Raise it with every change to this folder: application and worker must have the same.
inline constexpr std::uint32_t version = 26;

/// A set of processor cores, in the form of the system's calls.
struct core_set {
  std::uint64_t bits[16];

  static constexpr int most = 16 * 64;
  constexpr void add(int core) noexcept { bits[core / 64] |= std::uint64_t{1} << core % 64; }
  constexpr bool empty() const noexcept {
    for (const std::uint64_t word : bits)
      if (word != 0) return false;
    return true;
  }
  bool operator==(const core_set&) const = default;
};

struct worker_settings {
  std::uint32_t version;
  std::uint32_t capacity;
  wait_policy wait;
  lane_policy lanes;
  bool coalesce;
  std::uint32_t pool_lanes;                    ///< number of lanes for lane_policy::pooled
  std::uint32_t helpers;                       ///< number of threads for slow work
  std::int32_t ordinal;                        ///< number of the GPU
  std::uint32_t parent;                        ///< process that the worker must not outlive; 0: the worker is a thread
  std::uint64_t reserve_begin, reserve_bytes;  ///< the range of addresses in which memory will be mapped
  std::uint64_t device_bytes;                  ///< the first bytes of that range, for the device's own memory
  std::uint64_t inline_bytes;    ///< operations that touch no more bytes run on the pump if they can run at once
  std::int64_t longest_task_ns;  ///< a worker that maps memory or opens a library for longer answers no pings meanwhile
  std::uint64_t memory_limit;    ///< bytes of private memory that a worker process may have; 0: no limit
  bool core_dumps;
  bool compile;                  ///< true if libraries may compile kernels
  enum confinement confinement;  ///< the confinement of a worker process
  bool gpu;                      ///< true if the worker uses a GPU's driver
  bool quiet;                    ///< true if an earlier worker has reported what this system cannot confine
  core_set cores;                ///< cores that a worker process may run on; empty: all

  bool operator==(const worker_settings&) const = default;
};

struct greeting {
  worker_settings settings;
  std::string backend;
  std::string gpu_core_stem;  ///< the `stem` of gpu_core_file
  std::vector<std::string> folders, libraries;
  std::vector<std::string> readable_folders;  ///< folders that a confined worker may read, as device_options says
  std::vector<std::string> plug_ins;  ///< paths of the plug-ins whose descriptors follow the first four, in this order

  bool operator==(const greeting&) const = default;
};

/// The positions of the first descriptors that are attached to a greeting.
struct greeting_descriptor {
  static constexpr std::size_t channel = 0;    ///< the channel's memory file
  static constexpr std::size_t mailbox = 1;    ///< the mailbox's memory file
  static constexpr std::size_t questions = 2;  ///< the socket on which the application asks for memory
  static constexpr std::size_t workers = 3;    ///< the file of a `workers_page`
  static constexpr std::size_t count = 4;
};

/// Returns the text of a `greeting` message.
std::string text_of(const greeting& g);
/// Parses a greeting. Fails if the application has another version, or if the text is damaged.
result<greeting> parse_greeting(const worker_settings& settings, const std::string& text);

/// Returns the path of the file to which the worker with this process id writes the GPU's state after a fault. Returns
/// an empty path if the stem is empty: then no such file is written.
std::string gpu_core_file(const std::string& stem, int worker);

}  // namespace troupe::protocol
