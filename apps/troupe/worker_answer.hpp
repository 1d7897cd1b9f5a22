// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/time_span.hpp>
#include <troupe/channel/process.hpp>
#include <vector>

namespace troupe::apps {

/// What a worker program wrote about something it was to look at, and how it ended.
struct worker_answer {
  std::string not_asked;  ///< why it could not even begin; empty: it did
  std::string description, complaints;
  exit_status end;  ///< still running: patience had ended

  /// It said all it had to say.
  bool well() const noexcept { return end.how == exit_status::ending::exited && end.value <= 1; }
  /// How it ended when that was not well: "hangs", "killed by signal 11 (SIGSEGV)", before `when`; and its last words,
  /// which say more about a crash than the signal.
  std::string what_happened(const std::string& when) const;
};

/// Starts the worker once with each list of arguments, all at once: whatever they load can do nothing to this process.
std::vector<worker_answer> ask_worker(const std::string& worker, const std::vector<std::vector<std::string>>& arguments,
                                      time_span patience);

}  // namespace troupe::apps
