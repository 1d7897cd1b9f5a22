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

/// Takes from this process all that a worker does not need, so that a broken kernel or a hole in a vendor library does
/// less harm: new privileges, core dumps, memory beyond its limit, other cores, and what `confinement` says. The
/// process must have a single thread. The files in `opened` stay readable, even if an upgrade has moved or removed
/// them. Returns what this system cannot confine, to be reported; empty if it can do all.
result<std::string> confine(const protocol::greeting& g, std::span<const opened_plug_in> opened = {});

/// The means of confinement that this system has.
struct confinement_support {
  int landlock = 0;      ///< the version of Landlock's interface; 0: none
  bool filters = false;  ///< of system calls

  static confinement_support of_this_system() noexcept;
  /// Returns what `standard` leaves unconfined on the host; empty: nothing.
  std::string lacks() const;
};

}  // namespace troupe
