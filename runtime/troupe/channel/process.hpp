// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <troupe/base/futex.hpp>
#include <troupe/base/result.hpp>
#include <troupe/base/unique_handle.hpp>
#include <vector>

namespace troupe {

/// How a process ended.
struct exit_status {
  enum class ending : std::uint8_t {
    running,
    exited,     ///< `value` is the exit code
    signalled,  ///< `value` is the signal
    unknown,    ///< it ended, but someone else in this program collected its status
  };
  ending how = ending::running;
  int value = 0;

  bool ended() const noexcept { return how != ending::running; }
  /// "exited with code 1", "killed by signal 11 (SIGSEGV)"
  std::string text() const;
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

/// A pidfd; closing it kills and reaps the child.
struct child_traits {
  using type = int;
  static constexpr int null = -1;
  static void close(int pidfd) noexcept;
};

/// This process's environment, each "NAME=value". A thread that changes it meanwhile is undefined behaviour, as with
/// getenv.
std::vector<std::string> current_environment();

/// Held by current_environment(), and by what lends the process another environment for a while, so that nobody
/// takes the borrowed one for the process's own.
std::mutex& environment_lock();

struct launch_options {
  std::string path;                    ///< the program; never looked up in PATH
  std::vector<std::string> args = {};  ///< after the program's name
  int control_fd = -1;                 ///< becomes descriptor 3 of the child; stays the caller's
  std::vector<std::string> environment = current_environment();  ///< all of the child's
  int stderr_fd = -1;  ///< becomes descriptor 2 of the child; -1: this process's own
  int stdout_fd = -1;  ///< becomes descriptor 1 of the child; -1: this process's own
};

/// A child process. Destruction kills and reaps it: never an orphan, never a zombie. One thread at a time.
class process {
 public:
  /// The descriptor a launched program finds its control socket at.
  static constexpr int control_descriptor = 3;

  /// Starts a program with nothing of ours but standard output, standard error and the control socket: input is
  /// /dev/null, signals are at their defaults and unblocked, and it leads a process group of its own, so that Ctrl-C
  /// reaches only the application, which decides in what order things stop.
  ///
  /// Launch from a thread that outlives the child where the child calls `die_with_parent`.
  static result<process> launch(const launch_options& options);

  int pid() const noexcept { return pid_; }
  /// Becomes readable when the child has ended: for a poll set.
  int pidfd() const noexcept { return child_.get(); }

  /// Sends a signal; no error when the child has ended already.
  result<void> kill(int signal);
  /// Waits for the end, at most until the deadline; collects the status and remembers it. `running` when it has not
  /// ended.
  result<exit_status> wait(std::int64_t deadline_ns = no_deadline);

 private:
  process(int pid, int pidfd) noexcept : pid_(pid), child_(pidfd) {}

  int pid_;
  unique_handle<child_traits> child_;
  exit_status status_;
};

/// For the child: asks the kernel to kill it (SIGKILL) when its parent is gone, and fails with `context_lost` when that
/// has happened already. Linux ties this to the parent's *thread* that launched: the child dies when that thread ends,
/// even if its process lives on.
result<void> die_with_parent(int expected_parent_pid);

}  // namespace troupe
