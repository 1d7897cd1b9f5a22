// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bench/system/run_program.hpp>
#include <bench/system/temporary_folder.hpp>
#include <cerrno>
#include <fstream>
#include <troupe/base/clock.hpp>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/result.hpp>

namespace troupe::bench {

program_times run_program(const std::vector<std::string>& line) {
  const temporary_folder work;
  const std::string said = work.path() / "said";
  std::vector<char*> args;
  for (const std::string& word : line) args.push_back(const_cast<char*>(word.c_str()));
  args.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t pid;
  const std::int64_t start = now_ns();
  const int failed = ::posix_spawnp(&pid, args[0], &files, nullptr, args.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw bad_result(error::from_errno(reaction::unsupported, "bench", "cannot run " + line[0], failed));
  int status;
  rusage used;
  while (::wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
  }
  program_times out{.wall_seconds = static_cast<double>(now_ns() - start) / 1e9};
  std::ifstream file(said);
  std::getline(file, out.said);
  if (status != 0) throw bad_result(error(reaction::unsupported, "bench", line[0] + " failed: " + out.said));
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  out.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return out;
}

std::string folder_of_this_program() {
  const std::string whole = path_of_this_program();
  return whole.substr(0, whole.rfind('/'));
}

}  // namespace troupe::bench
