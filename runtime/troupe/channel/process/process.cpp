// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/linux/own_descriptors.hpp>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/elsewhere.hpp>
#include <troupe/channel/internal/open_child.hpp>
#include <troupe/channel/internal/poll_until.hpp>
#include <troupe/channel/internal/system_error.hpp>
#include <troupe/channel/process/process.hpp>

#include <cerrno>
#include <cstring>
#include <string_view>

extern char** environ;

namespace troupe {
namespace {

constexpr int program_descriptor = process::control_descriptor + 1;
constexpr auto by_pidfd = static_cast<idtype_t>(3);  // P_PIDFD, which some C libraries do not define

// The arguments of posix_spawn. Collects the first error of all steps.
class spawn_plan {
 public:
  spawn_plan() {
    note(::posix_spawn_file_actions_init(&actions_));
    note(::posix_spawnattr_init(&attributes_));
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;
  ~spawn_plan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  // The order matters: a step may replace descriptor 1, 2 or 3, which an argument of a later one could be.
  void set_descriptors(int control_fd, int stdout_fd, int stderr_fd, int program_fd) {
    if (stderr_fd >= 0) note(::posix_spawn_file_actions_adddup2(&actions_, stderr_fd, STDERR_FILENO));
    if (stdout_fd >= 0) note(::posix_spawn_file_actions_adddup2(&actions_, stdout_fd, STDOUT_FILENO));
    if (control_fd >= 0) note(::posix_spawn_file_actions_adddup2(&actions_, control_fd, process::control_descriptor));
    open_null(STDIN_FILENO, O_RDONLY);
    if (stdout_fd < 0 && !is_inherited(STDOUT_FILENO)) open_null(STDOUT_FILENO, O_WRONLY);
    if (stderr_fd < 0 && !is_inherited(STDERR_FILENO)) open_null(STDERR_FILENO, O_WRONLY);
    int first_unwanted = process::control_descriptor + (control_fd >= 0 ? 1 : 0);
    if (program_fd >= 0) {
      first_unwanted = program_descriptor + 1;
      note(::posix_spawn_file_actions_adddup2(&actions_, program_fd, program_descriptor));
      if (control_fd < 0) note(::posix_spawn_file_actions_addclose(&actions_, process::control_descriptor));
    }
    note(::posix_spawn_file_actions_addclosefrom_np(&actions_, first_unwanted));
  }

  void set_signals() {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    note(::posix_spawnattr_setsigmask(&attributes_, &none));
    note(::posix_spawnattr_setsigdefault(&attributes_, &all));
    note(::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
  }

  int spawn(pid_t& pid, const char* path, char** argv, char** envp) {
    if (code_ == 0) note(::posix_spawn(&pid, path, &actions_, &attributes_, argv, envp));
    return code_;
  }

 private:
  void open_null(int fd, int flags) { note(::posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", flags, 0)); }
  void note(int code) {
    if (code_ == 0) code_ = code;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  int code_ = 0;
};

error launch_error(const std::string& path, int code) {
  std::string text = "cannot start '" + path + "'";
  if (path.empty() || path.front() != '/') {
    char here[4096];
    if (::getcwd(here, sizeof here) != nullptr) text += std::string(" (seen from ") + here + ")";
  }
  if (code == ENOENT && ::access(path.c_str(), F_OK) != 0) {
    text += ": there is no such file";
  } else if (code == ENOENT) {
    text += ": the file exists, but not the loader or interpreter that it names; was it built for another system?";
  } else if (struct stat file; code == EACCES && ::stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
                               (file.st_mode & S_IXOTH) != 0) {
    text +=
        ": the file may be executed, but the sandbox of this worker, or a file system mounted noexec, forbids it; if "
        "the folder was replaced after the worker had started, restart the program";
  } else if (code == EACCES) {
    text += ": it is not an executable file that this user may run (chmod +x, or a file system mounted noexec)";
  } else if (code == ENOEXEC) {
    text += ": it is not a program for this machine";
  } else {
    text += std::string(": ") + ::strerror(code);
  }
  return error(error::details{.reaction = reaction_to_errno(code),
                              .domain = "channel",
                              .code = code,
                              .text = std::move(text),
                              .source = std::source_location::current()});
}

int send_signal(int pidfd, int signal) noexcept {
  return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0 ? 0 : errno;
}

}  // namespace

std::mutex& environment_lock() {
  static per_process<std::mutex> one;
  return *one;
}

// A program with more rights than its caller ignores these variables itself. It does not pass them on, because its
// children may not detect that they have such rights.
static bool is_for_children(std::string_view variable) {
  if (::getauxval(AT_SECURE) == 0) return true;
  for (const std::string_view kept_back : {"TROUPE_", "PATH=", "HOME=", "XDG_CACHE_HOME=", "TMPDIR="})
    if (variable.starts_with(kept_back)) return false;
  return true;
}

std::vector<std::string> current_environment() {
  const std::lock_guard guard(environment_lock());
  std::vector<std::string> all;
  for (char** e = environ; e != nullptr && *e != nullptr; ++e)
    if (is_for_children(*e)) all.emplace_back(*e);
  return all;
}

std::string exit_status::text() const {
  switch (how) {
    case ending::running:
      return "still running";
    case ending::exited:
      return cat("exited with code ", value);
    case ending::signalled: {
      const char* name = ::sigabbrev_np(value);
      return cat("killed by signal ", value, name ? std::string(" (SIG") + name + ")" : std::string());
    }
    case ending::unknown:
      break;
  }
  return "ended in an unknown way, because other code in this program collected its status";
}

void child_traits::close(int pidfd) noexcept {
  (void)send_signal(pidfd, SIGKILL);
  siginfo_t info;
  while (::waitid(by_pidfd, static_cast<id_t>(pidfd), &info, WEXITED) != 0 && errno == EINTR) {
  }
  ::close(pidfd);
}

result<trusted_file> process::open_program(const std::string& path) {
  auto program = open_trusted(path, "channel");
  if (!program) {
    const auto code = static_cast<int>(program.error().code());
    return code != 0 ? launch_error(path, code) : program.error();
  }
  // Moved up, so that in the child neither the standard descriptors nor the control socket replace it.
  program->fd = above(program_descriptor, std::move(program->fd));
  if (!program->fd) return channel_error("fcntl(F_DUPFD_CLOEXEC)", errno);
  return program;
}

result<process> process::launch(const launch_options& options) {
  if (options.control_fd >= 0 && options.control_fd <= STDERR_FILENO)
    return error(reaction::caller_bug, "channel",
                 cat("control_fd is ", options.control_fd,
                     "; expected a descriptor above 2, as control_socket::make_pair returns"));
  const trusted_file now = options.program != nullptr ? trusted_file() : TROUPE_TRY(open_program(options.path));
  const trusted_file& program = options.program != nullptr ? *options.program : now;
  std::vector<char*> argv{const_cast<char*>(options.path.c_str())};
  for (const std::string& arg : options.args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> envp;
  for (const std::string& e : options.environment) envp.push_back(const_cast<char*>(e.c_str()));
  envp.push_back(nullptr);

  // Starts by descriptor only a program that was replaced, because other tools show the name by which a program was
  // started.
  std::string path = path_to(program.fd);
  const bool replaced = path != program.path;
  if (replaced) path = cat("/proc/self/fd/", program_descriptor);
  spawn_plan plan;
  plan.set_descriptors(options.control_fd, options.stdout_fd, options.stderr_fd, replaced ? program.fd.get() : -1);
  plan.set_signals();
  pid_t pid = -1;
  if (const int code = plan.spawn(pid, path.c_str(), argv.data(), envp.data()); code != 0)
    return launch_error(options.path, code);

  file_descriptor pidfd = open_child(pid);
  if (!pidfd) {
    const int code = errno;
    // ESRCH: the child has ended and was reaped. Another process may have its number, so it is not killed.
    if (code != ESRCH) {
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    return channel_error("pidfd_open of '" + options.path + "'", code);
  }
  return process(pid, pidfd.release());
}

result<void> process::kill(int signal) {
  const int code = send_signal(child_.get(), signal);
  if (code != 0 && code != ESRCH) return channel_error("pidfd_send_signal", code);
  return {};
}

result<exit_status> process::wait(std::int64_t deadline_ns) {
  if (status_.ended()) return status_;
  const auto over = TROUPE_TRY(poll_until(child_.get(), POLLIN, deadline_ns));
  if (!over) return status_;
  siginfo_t info{};
  if (::waitid(by_pidfd, static_cast<id_t>(child_.get()), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != ECHILD) return channel_error("waitid", errno);
    status_ = {.how = exit_status::ending::unknown};
  } else {
    status_ = {.how = info.si_code == CLD_EXITED ? exit_status::ending::exited : exit_status::ending::signalled,
               .value = info.si_status};
  }
  return status_;
}

void process::reap_elsewhere() noexcept {
  const int pidfd = child_.release();
  if (pidfd >= 0 && !run_elsewhere([pidfd] { child_traits::close(pidfd); })) child_traits::close(pidfd);
}

result<void> die_with_parent(int expected_parent_pid) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return channel_error("prctl(PR_SET_PDEATHSIG)", errno);
  // If the parent died before the call above, this process has another parent now.
  if (::getppid() != expected_parent_pid)
    return error(reaction::context_lost, "channel", cat("the parent, process ", expected_parent_pid, ", has ended"));
  return {};
}

}  // namespace troupe
