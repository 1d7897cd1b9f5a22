// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/time_span.hpp>
#include <troupe/channel/process/process.hpp>
#include <vector>

namespace troupe::apps {

/// The output of a worker program that examined something, and how the program ended.
struct worker_answer {
  std::string not_asked;  ///< why the worker program could not be started; empty if it was started
  std::string description, complaints;
  exit_status end;  ///< `running` if the time limit passed

  /// Returns true if the worker program ended normally.
  bool well() const noexcept { return end.how == exit_status::ending::exited && end.value <= 1; }
  /// Returns how it ended abnormally, "hangs" or "killed by signal 11 (SIGSEGV)", followed by `when` and its last
  /// output, which says more about a crash than the signal.
  std::string what_happened(const std::string& when) const;
};

/// Starts the worker once for each list of arguments, all in parallel. Whatever a worker loads cannot harm this
/// process.
std::vector<worker_answer> ask_worker(const std::string& worker, const std::vector<std::vector<std::string>>& arguments,
                                      time_span time_limit);

}  // namespace troupe::apps
