// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <tests/support/processes.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/channel/process/process_launcher.hpp>

namespace troupe {
namespace {

std::int64_t soon() { return now_ns() + 20'000'000'000; }

std::string all_of(int fd) {
  std::string out;
  char part[256];
  for (ssize_t n = 0; (n = ::read(fd, part, sizeof part)) > 0;) out.append(part, static_cast<std::size_t>(n));
  return out;
}

result<launcher_job> shell(const std::string& line) {
  return launch_by_launcher({.path = "/bin/sh", .args = {"-c", line, "name", ""}, .environment = {"GIVEN=a b"}});
}

// All tests share one launcher, because a process has at most one.
class a_launcher : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(launcher_pid(), 0);
    ASSERT_TRUE(fork_launcher([] {}));
    ASSERT_NE(launcher_pid(), 0);
  }
};

TEST_F(a_launcher, starts_a_program_and_reports_its_output_and_end) {
  const auto job = shell("echo \"$GIVEN $# $PPID\"; echo complaint >&2; exit 3");
  ASSERT_TRUE(job) << job.error().text();
  EXPECT_EQ(all_of(job->messages.get()), cat("a b 1 ", launcher_pid(), "\ncomplaint\n"));
  EXPECT_EQ(job->wait(soon()).value(), (exit_status{.how = exit_status::ending::exited, .value = 3}));
}

TEST_F(a_launcher, stops_one_of_several_programs) {
  const auto first = shell("sleep 60"), second = shell("echo second");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->wait(soon())->text(), "exited with code 0");
  EXPECT_FALSE(first->wait(0)->ended());
  first->stop();
  EXPECT_EQ(first->wait(soon())->value, SIGTERM);
}

TEST_F(a_launcher, has_none_of_the_descriptors_of_its_process) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, 0), 0);  // not close-on-exec, and open when the launcher is forked
  const pid_t child = ::fork();
  if (child == 0) {
    if (!fork_launcher([] {})) ::_exit(1);
    // Expects 0 to 2, the socket to its process, and at most two ends of the job's pipes, which it may not have closed
    // yet.
    const auto job = shell(
        "for i in $(seq 50); do n=$(ls /proc/$PPID/fd | wc -l); [ $n -le 6 ] && break; sleep 0.05; done; echo $n");
    ::_exit(job ? std::stoi("0" + all_of(job->messages.get())) : 2);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  constexpr int standard = 3, socket = 1, of_the_job = 2;
  EXPECT_LE(WEXITSTATUS(status), standard + socket + of_the_job);
  EXPECT_GE(WEXITSTATUS(status), standard + socket);
}

TEST_F(a_launcher, ends_with_its_process) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!fork_launcher([] {})) ::_exit(1);
    const int pid = launcher_pid();
    ::_exit(::write(ends[1], &pid, sizeof pid) == sizeof pid ? 0 : 2);
  }
  int pid = 0;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::int64_t deadline = soon();
  while (!whole::has_ended(pid) && now_ns() < deadline) ::usleep(1000);
  EXPECT_TRUE(whole::has_ended(pid));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(a_launcher, refuses_programs_that_do_not_exist_and_command_lines_that_are_too_long) {
  const auto missing = launch_by_launcher({.path = "/no/such/program"});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("there is no such file"), std::string::npos) << missing.error().text();
  const auto long_line = launch_by_launcher({.path = "/bin/true", .args = {std::string(200'000, 'x')}});
  ASSERT_FALSE(long_line);
  EXPECT_EQ(long_line.error().reaction(), reaction::caller_bug);
  EXPECT_TRUE(shell("true"));
}

}  // namespace
}  // namespace troupe
