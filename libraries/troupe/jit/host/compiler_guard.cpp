// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Runs one program for a worker, in a folder of its own, and makes sure that neither the program nor the folder
// outlives the worker or the deadline. Linux notifies a process when its parent dies, but not when its parent's parent
// does, and a compiler starts further processes. Started by `run_command`, never by hand. Arguments: the parent's
// process id, the limits of memory in bytes, CPU time in seconds and file size in bytes, the folder, the working
// directory in it, the file for standard output (empty: it goes to the messages), the program, and its arguments.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

constexpr int could_not_run = 127, was_told_to_stop = 126;

[[noreturn]] void fail(const char* what, const char* name) {
  std::fprintf(stderr, "%s %s: %s\n", what, name, std::strerror(errno));
  std::_Exit(could_not_run);
}

void limit(__rlimit_resource what, unsigned long long most) {
  const rlimit both{.rlim_cur = most, .rlim_max = most};
  rlimit now{};
  if (::getrlimit(what, &now) == 0 && now.rlim_max < most) return;  // a lower limit is already set
  (void)::setrlimit(what, &both);
}

[[noreturn]] void become(char** argv, pid_t guard) {
  (void)::setpgid(0, 0);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) std::_Exit(could_not_run);
  limit(RLIMIT_AS, std::strtoull(argv[2], nullptr, 10));
  limit(RLIMIT_CPU, std::strtoull(argv[3], nullptr, 10));
  limit(RLIMIT_FSIZE, std::strtoull(argv[4], nullptr, 10));
  limit(RLIMIT_CORE, 0);
  const int out =
      *argv[7] != '\0' ? ::open(argv[7], O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : STDERR_FILENO;
  if (out < 0 || ::dup2(out, STDOUT_FILENO) < 0) fail("cannot write", argv[7]);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(argv[8], argv + 8);
  fail("cannot run", argv[8]);
}

// Waits until the program exits or the guard receives SIGTERM.
int await(pid_t child, const sigset_t& signals) {
  while (true) {
    const int got = ::sigwaitinfo(&signals, nullptr);
    if (got == SIGTERM) return was_told_to_stop;
    int status = 0;
    if (got == SIGCHLD && ::waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

// When a process ends, its children become children of this process, even if they left the group or the session.
// Continues until no child is left.
void kill_descendants(pid_t child) {
  (void)::kill(-child, SIGKILL);
  (void)::kill(child, SIGKILL);  // in case it has not made its group yet
  const std::string children = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  do {
    std::ifstream list(children);
    for (pid_t one = 0; list >> one;) (void)::kill(one, SIGKILL);
  } while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 9) {
    std::fprintf(stderr, "troupe-compiler-guard is started by Troupe's workers, not by hand\n");
    return could_not_run;
  }
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  (void)::prctl(PR_SET_PDEATHSIG, SIGTERM);
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphaned descendants become our children
  const auto parent = static_cast<pid_t>(std::strtol(argv[1], nullptr, 10));
  const char* folder = argv[5];
  if (::chdir(folder) != 0 || ::chdir(argv[6]) != 0) fail("cannot enter", folder);

  int end = was_told_to_stop;
  if (::getppid() == parent) {
    const pid_t self = ::getpid(), child = ::fork();
    if (child < 0) fail("cannot start", argv[8]);
    if (child == 0) become(argv, self);
    (void)::setpgid(child, child);  // parent and child both do this, because either may run first
    end = await(child, signals);
    kill_descendants(child);
  }
  // The death signal is sent when the thread of the parent that started this process ends. getppid() changes only when
  // the parent's last thread ends, so wait for that a little.
  for (int ms = 0; end == was_told_to_stop && ::getppid() == parent && ms < 100; ++ms) ::usleep(1000);
  if (::getppid() != parent) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  return end;
}
