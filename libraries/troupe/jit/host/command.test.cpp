// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/jit/host/command.hpp>
#include <troupe/plan/files.hpp>

namespace troupe::jit {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t second = 1'000'000'000;

class compiler_command : public testing::Test {
 protected:
  command shell(const std::string& script) const {
    return {.line = {"/bin/sh", "-c", script}, .folder = folder_.path(), .how_long = now_ns() + 60 * second};
  }
  command_outcome run(const command& c) const {
    auto r = run_command(TROUPE_COMPILER_GUARD, c);
    EXPECT_TRUE(r) << r.error().to_string();
    return r ? *r : command_outcome{};
  }
  std::string in_folder(const std::string& name) const {
    return plan::read_file(folder_.path() + "/" + name).value_or("?");
  }
  plan::private_folder folder_ = plan::private_folder::make().value();
};

bool exists(int pid) { return ::kill(pid, 0) == 0; }

// Returns true once the condition holds, or false after 30 s.
template <class F>
bool eventually(F&& f) {
  for (const std::int64_t end = now_ns() + 30 * second; now_ns() < end; std::this_thread::yield())
    if (f()) return true;
  return false;
}

TEST_F(compiler_command, returns_its_exit_code_and_messages_and_writes_its_output_to_a_file) {
  command c = shell("echo made; echo wrong >&2; exit 3");
  c.output = "out";
  const command_outcome o = run(c);
  EXPECT_EQ(o.exit_code, 3);
  EXPECT_FALSE(o.was_stopped);
  EXPECT_EQ(o.messages, "wrong\n");
  EXPECT_EQ(in_folder("out"), "made\n");
}

TEST_F(compiler_command, reports_a_fatal_signal_and_a_program_that_cannot_be_started) {
  EXPECT_EQ(run(shell("kill -SEGV $$")).exit_code, 128 + SIGSEGV);
  command c = shell("");
  c.line = {"/no/such/compiler"};
  const command_outcome o = run(c);
  EXPECT_EQ(o.exit_code, 127);
  EXPECT_NE(o.messages.find("cannot run /no/such/compiler: No such file"), std::string::npos) << o.messages;
  EXPECT_FALSE(run_command("/no/such/guard", c));
}

TEST_F(compiler_command, gets_no_input_no_descriptors_and_a_minimal_environment) {
  ::setenv("CPATH", "/somewhere", 1);
  const command_outcome o = run(shell("cat; ls /proc/self/fd; env | sed s/=.*// | sort; pwd"));
  ::unsetenv("CPATH");
  EXPECT_EQ(o.messages.find("CPATH"), std::string::npos) << o.messages;
  EXPECT_TRUE(o.messages.starts_with("0\n1\n2\n3\n")) << o.messages;  // 3 is opened by ls itself
  EXPECT_EQ(o.messages.find("\n4\n"), std::string::npos) << o.messages;
  EXPECT_NE(o.messages.find("LC_ALL\n"), std::string::npos) << o.messages;
  EXPECT_NE(o.messages.find(fs::canonical(folder_.path()).string()), std::string::npos) << o.messages;
}

TEST_F(compiler_command, has_its_messages_truncated_and_made_printable) {
  command c = shell("printf 'a\\033[31mb\\n'; head -c 100000 /dev/zero | tr '\\0' x");
  c.message_bytes = 1000;
  const command_outcome o = run(c);
  EXPECT_TRUE(o.messages.starts_with("a?[31mb\nxxx")) << o.messages.substr(0, 20);
  EXPECT_EQ(o.messages.size(), 1000u);
  EXPECT_EQ(o.cut_bytes, 100'000 + 8 - 1000u);
}

TEST_F(compiler_command, is_killed_at_its_deadline_with_all_children_even_if_they_ignore_signals) {
  // The child is a separate shell, because $$ in ( ) is the process id of the outer shell.
  command c = shell("trap '' TERM HUP; sh -c 'trap \"\" TERM; echo $$ > child; sleep 1000; :' & sleep 1000; wait");
  c.how_long = now_ns() + second / 2;
  const std::int64_t begin = now_ns();
  const command_outcome o = run(c);
  EXPECT_TRUE(o.was_stopped);
  EXPECT_LT(now_ns() - begin, 20 * second);
  const int pid = std::stoi(in_folder("child"));
  EXPECT_TRUE(eventually([&] { return !exists(pid); }));
}

TEST_F(compiler_command, is_killed_when_it_is_cancelled) {
  command c = shell("echo $$ > child; sleep 1000; :");
  c.how_long = compile_deadline(INT64_MAX, [this] { return fs::exists(folder_.path() + "/child"); });
  const command_outcome o = run(c);
  EXPECT_TRUE(o.was_stopped);
  EXPECT_TRUE(c.how_long.cancelled());
}

TEST_F(compiler_command, has_its_remaining_children_killed_when_it_exits) {
  EXPECT_EQ(run(shell("sleep 1000 & echo $! > child")).exit_code, 0);
  const int pid = std::stoi(in_folder("child"));
  EXPECT_TRUE(eventually([&] { return !exists(pid); }));
}

TEST_F(compiler_command, has_its_children_killed_even_if_they_left_its_session) {
  // A daemon that keeps the messages' pipe open, and a child of the daemon.
  const std::string daemon =
      "setsid sh -c 'setsid sleep 1000 & echo $! > grandchild; echo $$ > child.new; mv child.new child; sleep 1000; :' "
      "& "
      "while ! test -e child; do sleep 0.01; done; ";
  const auto expect_gone = [&] {
    for (const char* name : {"child", "grandchild"}) {
      const int pid = std::stoi(in_folder(name));
      EXPECT_TRUE(eventually([&] { return !exists(pid); })) << name;
      fs::remove(folder_.path() + "/" + name);
    }
  };
  const command_outcome fine = run(shell(daemon + "echo fine >&2"));
  EXPECT_EQ(fine.exit_code, 0);
  EXPECT_FALSE(fine.was_stopped);
  EXPECT_EQ(fine.messages, "fine\n");
  expect_gone();
  command c = shell(daemon + "sleep 1000; :");
  c.how_long = now_ns() + 2 * second;
  EXPECT_TRUE(run(c).was_stopped);
  expect_gone();
}

TEST_F(compiler_command, fails_if_it_exceeds_the_limits_of_memory_or_file_size) {
  command c = shell("head -c 300000000 /dev/zero | tail -c 300000000 | wc -c");
  c.memory_bytes = 64 << 20;
  EXPECT_EQ(run(c).messages.find("300000000"), std::string::npos);
  c = shell("head -c 1000000 /dev/zero > file");
  c.file_bytes = 5000;
  EXPECT_NE(run(c).exit_code, 0);
  EXPECT_LE(fs::file_size(folder_.path() + "/file"), 5000u);
}

TEST_F(compiler_command, ends_and_loses_its_folder_when_the_worker_is_killed) {
  plan::private_folder owned = plan::private_folder::make().value();
  const std::string folder = owned.path();
  const pid_t parent = ::fork();
  if (parent == 0) {
    command c{.line = {"/bin/sh", "-c", "(sleep 1000) & echo $! > child.new; mv child.new child; sleep 1000"},
              .folder = folder,
              .how_long = now_ns() + 1000 * second};
    (void)run_command(TROUPE_COMPILER_GUARD, c);
    std::_Exit(1);
  }
  ASSERT_TRUE(eventually([&] { return fs::exists(folder + "/child"); }));
  const int pid = std::stoi(plan::read_file(folder + "/child").value());
  ASSERT_EQ(::kill(parent, SIGKILL), 0);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(eventually([&] { return !exists(pid); }));
  EXPECT_TRUE(eventually([&] { return !fs::exists(folder); }));
}

TEST(private_folder, is_accessible_to_its_user_only_and_is_removed_with_its_content) {
  std::string path;
  {
    const plan::private_folder f = plan::private_folder::make().value();
    path = f.path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    EXPECT_TRUE(plan::write_file(path, "a/b", "text"));
    EXPECT_EQ(plan::read_file(path + "/a/b"), "text");
    EXPECT_FALSE(plan::write_file(path, "a/b", "again"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(private_folder, making_a_folder_removes_those_of_killed_processes) {
  const plan::private_folder parent = plan::private_folder::make().value();
  const std::string before = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp";
  ::setenv("TMPDIR", parent.path().c_str(), 1);
  const plan::private_folder living = plan::private_folder::make().value();
  const pid_t killed = ::fork();
  if (killed == 0) {
    const plan::private_folder left = plan::private_folder::make().value();
    (void)plan::write_file(left.path(), "a/b", "text");
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(killed, nullptr, 0), killed);
  const auto entries = [&] { return std::distance(fs::directory_iterator(parent.path()), fs::directory_iterator()); };
  EXPECT_EQ(entries(), 2);
  fs::create_directory(parent.path() + "/somebody_elses");
  const plan::private_folder next = plan::private_folder::make().value();
  EXPECT_EQ(entries(), 3);
  EXPECT_TRUE(fs::exists(living.path()));
  EXPECT_TRUE(fs::exists(next.path()));
  EXPECT_TRUE(fs::exists(parent.path() + "/somebody_elses"));
  ::setenv("TMPDIR", before.c_str(), 1);
}

}  // namespace
}  // namespace troupe::jit
