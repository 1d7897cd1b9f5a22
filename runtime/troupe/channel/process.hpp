// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <troupe/base/futex.hpp>
#include <troupe/base/result.hpp>
#include <troupe/base/trusted_file.hpp>
#include <troupe/base/unique_handle.hpp>
#include <vector>

namespace troupe {

/// The end of a process.
struct exit_status {
  enum class ending : std::uint8_t {
    running,
    exited,     ///< `value` is the exit code
    signalled,  ///< `value` is the signal
    unknown,    ///< it has ended, but other code in this program collected its status
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

/// Returns this process's environment, each variable as "NAME=value". As with getenv, no other thread may change it
/// meanwhile.
std::vector<std::string> current_environment();

/// Held by current_environment(), and by code that gives the process another environment for a while, so that no thread
/// takes that for the process's own.
std::mutex& environment_lock();

struct launch_options {
  std::string path;                    ///< the program; never looked up in PATH; see open_trusted
  std::vector<std::string> args = {};  ///< after the program's name
  int control_fd = -1;                 ///< becomes descriptor 3 of the child; stays the caller's
  std::vector<std::string> environment = current_environment();  ///< the child's whole environment
  int stderr_fd = -1;  ///< becomes descriptor 2 of the child; -1: this process's
  int stdout_fd = -1;  ///< becomes descriptor 1 of the child; -1: this process's
  /// The program as it was opened before: it is started even if `path` names another file now. Null: it is opened now.
  const trusted_file* program = nullptr;
};

/// A child process. Destruction kills and reaps it, so it never becomes an orphan or a zombie. For one thread at a
/// time.
class process {
 public:
  /// The descriptor at which a launched program finds its control socket.
  static constexpr int control_descriptor = 3;

  /// Starts a program, which inherits only standard output, standard error and the control socket. Its input is
  /// /dev/null, and signals are unblocked and have their default actions. It leads its own session, without a
  /// terminal, so that Ctrl-C reaches only the application, which decides in which order processes stop.
  ///
  /// If the child calls `die_with_parent`, the calling thread must outlive the child.
  static result<process> launch(const launch_options& options);
  /// Opens a program for launch_options::program. Fails if there is none, or if another user can write it.
  static result<trusted_file> open_program(const std::string& path);

  int pid() const noexcept { return pid_; }
  /// Returns a descriptor for poll, which becomes readable when the child has ended.
  int pidfd() const noexcept { return child_.get(); }

  /// Sends a signal. Succeeds if the child has ended already.
  result<void> kill(int signal);
  /// Waits for the end, at most until the deadline. Collects the status and remembers it. Returns `running` if the
  /// child has not ended.
  result<exit_status> wait(std::int64_t deadline_ns = no_deadline);

 private:
  process(int pid, int pidfd) noexcept : pid_(pid), child_(pidfd) {}

  int pid_;
  unique_handle<child_traits> child_;
  exit_status status_;
};

/// Asks the kernel to kill the calling child (SIGKILL) when its parent ends. Fails with `context_lost` if the parent
/// has ended already. Linux ties this to the *thread* that launched the child: the child dies when that thread ends,
/// even if its process lives on.
result<void> die_with_parent(int expected_parent_pid);

}  // namespace troupe
