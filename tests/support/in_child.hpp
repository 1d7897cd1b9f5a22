// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <type_traits>

namespace troupe::whole {

/// Runs `use` in a child made by fork(), which then ends without running destructors. Returns the problem that `use`
/// returns, and how the child ended if it did not exit with 0; empty if there is neither. A child that takes too long
/// is killed.
template <class F>
std::string in_child(F&& use) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child < 0) return "no child";
  if (child == 0) {
    ::alarm(20);
    std::string said;
    if constexpr (std::is_invocable_v<F, int>)
      said = use(ends[1]);  // a descriptor that it must leave open
    else
      said = use();
    if (::write(ends[1], said.data(), said.size()) != static_cast<ssize_t>(said.size())) ::_exit(2);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char some[512];
  for (ssize_t n; (n = ::read(ends[0], some, sizeof some)) > 0;) said.append(some, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) said += std::string("; the child was killed by ") + ::strsignal(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    said += "; the child exited with " + std::to_string(WEXITSTATUS(status));
  return said;
}

}  // namespace troupe::whole
