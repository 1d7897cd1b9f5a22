// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/linux/unique_handle.hpp>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe {

/// The state of a process: running, or how it has ended.
struct exit_status {
  enum class ending : std::uint8_t {
    running,
    exited,     ///< it exited; `value` is the exit code
    signalled,  ///< a signal ended it; `value` is the signal
    unknown,    ///< it has ended; other code in this program collected its status
  };
  ending how = ending::running;
  int value = 0;

  bool ended() const noexcept { return how != ending::running; }
  /// Returns the state in words: "exited with code 1", "killed by signal 11 (SIGSEGV)".
  std::string text() const;
  friend bool operator==(const exit_status&, const exit_status&) = default;
};

/// The traits of a pidfd that kills and reaps the child when it is closed.
struct child_traits {
  using type = int;
  static constexpr int null = -1;
  static void close(int pidfd) noexcept;
};

/// Returns this process's environment, each variable as "NAME=value". As with getenv, no other thread may change the
/// environment meanwhile.
std::vector<std::string> current_environment();

/// Returns the lock that current_environment() holds. Code that replaces the environment for a while must hold it too,
/// so that no thread takes the replacement for the process's own environment.
std::mutex& environment_lock();

struct launch_options {
  std::string path;                    ///< path of the program, not looked up in PATH; see open_trusted
  std::vector<std::string> args = {};  ///< arguments after the program's name
  int control_fd = -1;                 ///< becomes descriptor 3 of the child; the caller keeps it
  std::vector<std::string> environment = current_environment();  ///< the child's whole environment
  int stderr_fd = -1;  ///< becomes descriptor 2 of the child; -1: it inherits that of this process
  int stdout_fd = -1;  ///< becomes descriptor 1 of the child; -1: it inherits that of this process
  /// The program, opened earlier: this file is started even if `path` names another one now. Null: `path` is opened.
  const trusted_file* program = nullptr;
};

/// A child process. The destructor kills and reaps it, so it never becomes an orphan or a zombie. Not thread-safe.
class process {
 public:
  /// The number of the control socket's descriptor in a launched program.
  static constexpr int control_descriptor = 3;

  /// Starts a program. It inherits only standard output, standard error and the control socket. Its input is /dev/null,
  /// and signals are unblocked and have their default actions. It leads a session of its own without a terminal, so
  /// that Ctrl-C reaches only the application, which decides in which order processes stop.
  ///
  /// If the child calls `die_with_parent`, the calling thread must outlive the child.
  static result<process> launch(const launch_options& options);
  /// Opens a program for launch_options::program. Fails if the file does not exist, or if another user can write it.
  static result<trusted_file> open_program(const std::string& path);

  int pid() const noexcept { return pid_; }
  /// Returns a descriptor for poll that becomes readable when the child has ended.
  int pidfd() const noexcept { return child_.get(); }

  /// Sends a signal. Succeeds also if the child has ended already.
  result<void> kill(int signal);
  /// Waits until the child has ended or the deadline has passed. Returns its state, which is `running` if it has not
  /// ended; the final one is kept for later calls. Does not reap the child.
  result<exit_status> wait(std::int64_t deadline_ns = no_deadline);
  /// Reaps a child that has ended, like the destructor, but on a thread of its own: the kernel may need long for a
  /// child that had many descriptors, or whose files in /proc other processes read.
  void reap_elsewhere() noexcept;

 private:
  process(int pid, int pidfd) noexcept : pid_(pid), child_(pidfd) {}

  int pid_;
  unique_handle<child_traits> child_;
  exit_status status_;
};

/// Asks the kernel to kill the calling child (SIGKILL) when its parent ends. Fails with `context_lost` if the parent
/// has ended already. Linux ties this to the parent's *thread* that launched the child: the child dies when that thread
/// ends, even if its process lives on.
result<void> die_with_parent(int expected_parent_pid);

}  // namespace troupe
