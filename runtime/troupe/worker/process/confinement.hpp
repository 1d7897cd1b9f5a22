// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/channel/confinement.hpp>
#include <troupe/protocol/greeting.hpp>
#include <troupe/worker/plugins/plug_in_files.hpp>

namespace troupe {

/// Takes everything from this process that a worker does not need, so that a broken kernel or a vulnerability in a
/// vendor library does less harm: new privileges, core dumps, memory beyond its limit, other cores, and what
/// `confinement` says. The process must have a single thread. The files in `opened` stay readable, even if an upgrade
/// has moved or removed them. Returns what this system cannot confine, to be reported; empty if it can confine
/// everything.
result<std::string> confine(const protocol::greeting& g, std::span<const opened_plug_in> opened = {});

/// The kinds of confinement that this system supports.
struct confinement_support {
  int landlock = 0;      ///< the version of the Landlock interface; 0: not supported
  bool filters = false;  ///< true if system calls can be filtered

  static confinement_support of_this_system() noexcept;
  /// Returns what `standard` leaves unconfined on the host; empty if nothing.
  std::string lacks() const;
};

}  // namespace troupe
