// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <troupe/base/clock.hpp>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/elsewhere.hpp>
#include <troupe/channel/internal/open_child.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/channel/ring.hpp>
#include <troupe/channel/testing/ring_memory.hpp>

namespace troupe {
namespace {

constexpr std::int64_t second = 1'000'000'000;
const std::string child_path = TROUPE_CHANNEL_TEST_CHILD;

// A child that plays one of the roles in testing/child.cpp, and this end of its control socket.
class launched {
 public:
  explicit launched(std::vector<std::string> args, std::vector<std::string> environment = current_environment())
      : ends_(control_socket::make_pair().value()),
        child(process::launch({.path = child_path,
                               .args = std::move(args),
                               .control_fd = ends_.theirs.fd(),
                               .environment = std::move(environment)})
                  .value()) {
    ends_.theirs = {};
  }

  std::string hear(std::vector<file_descriptor>* fds = nullptr) {
    std::byte text[512];
    auto got = ends_.ours.receive(text, 4, now_ns() + 30 * second).value();
    if (got.outcome != control_socket::outcome::message) return "(nothing heard)";
    if (fds) *fds = std::move(got.fds);
    return testing::text_of({text, got.bytes});
  }
  void give(const memory_file& file) {
    const int fd = file.fd();
    ends_.ours.send(testing::bytes_of("file"), {&fd, 1}).value();
  }
  control_socket& control() { return ends_.ours; }

 private:
  control_pair ends_;

 public:
  process child;
};

template <class Child>
std::string end_of(Child&& child) {
  return child.wait(now_ns() + 30 * second).value().text();
}

TEST(process, a_child_inherits_only_outputs_and_the_control_socket) {
  file_descriptor leaky(::open("/dev/zero", O_RDONLY));  // not close-on-exec, as a careless program might leave it
  file_descriptor high(::fcntl(leaky.get(), F_DUPFD, 200));
  launched l({"list_descriptors"});
  EXPECT_EQ(l.hear(), "0 1 2 3 /dev/null");
  EXPECT_EQ(end_of(l.child), "exited with code 0");
}

TEST(process, a_child_of_a_program_without_outputs_writes_to_no_other_file) {
  const int before[] = {::fcntl(1, F_DUPFD_CLOEXEC, 100), ::fcntl(2, F_DUPFD_CLOEXEC, 100)};
  ::close(1), ::close(2);
  const int first = ::open("/dev/zero", O_RDWR | O_CLOEXEC), second = ::open("/dev/zero", O_RDWR | O_CLOEXEC);
  std::string outputs;
  {
    launched l({"describe_outputs"});
    outputs = l.hear();
  }
  for (const int fd : {1, 2}) ::dup2(before[fd - 1], fd), ::close(before[fd - 1]);
  EXPECT_EQ(first + second, 3);
  EXPECT_EQ(outputs, "/dev/null /dev/null ");
}

TEST(process, the_librarys_own_descriptors_are_above_the_standard_ones_and_close_on_exec) {
  const int before = ::fcntl(0, F_DUPFD_CLOEXEC, 100);
  ::close(0);
  std::vector<int> own;
  {
    launched l({"hang"});
    const memory_file file = memory_file::create("test", 4096).value();
    int own_of_file = file.fd();
    l.control().send(testing::bytes_of("file"), {&own_of_file, 1}).value();
    auto ends = control_socket::make_pair().value();
    ends.ours.send(testing::bytes_of("file"), {&own_of_file, 1}).value();
    std::byte text[16];
    auto got = ends.theirs.receive(text, 1).value();
    for (const int fd :
         {l.control().fd(), l.child.pidfd(), file.fd(), ends.ours.fd(), ends.theirs.fd(), got.fds.at(0).get()}) {
      own.push_back(fd);
      EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC) << fd;
    }
  }
  ::dup2(before, 0), ::close(before);
  for (const int fd : own) EXPECT_GT(fd, STDERR_FILENO);
}

TEST(process, a_child_starts_with_default_signals_in_a_session_of_its_own) {
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old = ::signal(SIGUSR2, SIG_IGN);
  launched l({"describe_self"}, {"TROUPE_TEST_VARIABLE=given"});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGUSR2, old);
  EXPECT_EQ(l.hear(), "SigBlk: 0\nSigIgn: 0\nleads its session\ngiven\n");
}

TEST(process, a_given_environment_replaces_the_inherited_one) {
  ::setenv("TROUPE_TEST_VARIABLE", "inherited", 1);
  EXPECT_NE(launched({"describe_self"}).hear().find("\ninherited\n"), std::string::npos);
  EXPECT_NE(launched({"describe_self"}, {"TROUPE_TEST_VARIABLE=replaced"}).hear().find("\nreplaced\n"),
            std::string::npos);
  ::unsetenv("TROUPE_TEST_VARIABLE");
}

// A copy of the child that runs with the rights of a user other than its caller.
class set_user_id_child {
 public:
  set_user_id_child() {
    char name[] = "/tmp/troupe-suid-XXXXXX";
    folder_ = ::mkdtemp(name);
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    std::filesystem::copy_file(child_path, program());
  }
  ~set_user_id_child() { std::filesystem::remove_all(folder_); }
  // Makes the copy. Returns false if this user or the file system does not allow that.
  bool prepare() const {
    struct statvfs where{};
    return ::geteuid() == 0 && ::statvfs(folder_.c_str(), &where) == 0 && (where.f_flag & ST_NOSUID) == 0 &&
           ::chown(program().c_str(), 12345, 12345) == 0 && ::chmod(program().c_str(), 04755) == 0;
  }
  std::string output_for(uid_t caller, const char* const* environment) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
    const file_descriptor out(ends[0]);
    file_descriptor in(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      const char* const arguments[] = {"child", "list_environment", nullptr};
      if (::dup2(in.get(), STDOUT_FILENO) >= 0 && ::setuid(caller) == 0)
        ::execve(program().c_str(), const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
      ::_exit(1);
    }
    in.reset();
    char text[4096] = "";
    for (std::size_t have = 0; have + 1 < sizeof text;) {
      const ssize_t n = ::read(out.get(), text + have, sizeof text - 1 - have);
      if (n <= 0) break;
      have += static_cast<std::size_t>(n);
    }
    ::waitpid(child, nullptr, 0);
    return text;
  }

 private:
  std::string program() const { return folder_ + "/child"; }
  std::string folder_;
};

TEST(process, a_program_with_more_rights_than_its_caller_passes_on_no_variable_that_names_files) {
  const set_user_id_child child;
  if (!child.prepare()) return;  // this needs root
  const char* const environment[] = {"TROUPE_CUDNN=/x", "PATH=/x", "HOME=/x", "XDG_CACHE_HOME=/x", "OTHER=/x", nullptr};
  EXPECT_EQ(child.output_for(12346, environment), "OTHER=/x\n");
  EXPECT_EQ(child.output_for(12345, environment), "TROUPE_CUDNN=/x\nPATH=/x\nHOME=/x\nXDG_CACHE_HOME=/x\nOTHER=/x\n")
      << "the caller has all rights that the program has";
}

TEST(process, standard_error_can_be_captured) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  file_descriptor out(ends[0]), in(ends[1]);
  process child =
      process::launch({.path = "/bin/sh", .args = {"-c", "echo into the black box >&2"}, .stderr_fd = in.get()})
          .value();
  in.reset();
  char text[64] = "";
  ASSERT_GT(::read(out.get(), text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "into the black box\n");
  EXPECT_EQ(end_of(child), "exited with code 0");
}

TEST(process, standard_output_and_error_can_be_separate_pipes) {
  int out_ends[2], error_ends[2];
  ASSERT_EQ(::pipe2(out_ends, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(error_ends, O_CLOEXEC), 0);
  file_descriptor out(out_ends[0]), out_in(out_ends[1]), errors(error_ends[0]), errors_in(error_ends[1]);
  process child = process::launch({.path = "/bin/sh",
                                   .args = {"-c", "echo an answer; echo a complaint >&2"},
                                   .stderr_fd = errors_in.get(),
                                   .stdout_fd = out_in.get()})
                      .value();
  char text[64] = "";
  ASSERT_GT(::read(out.get(), text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "an answer\n");
  std::memset(text, 0, sizeof text);
  ASSERT_GT(::read(errors.get(), text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "a complaint\n");
  EXPECT_EQ(end_of(child), "exited with code 0");
}

TEST(process, memory_sent_to_a_child_is_shared_with_it) {
  launched l({"write_into_file"});
  const memory_file file = memory_file::create("shared", 4096).value();
  const mapping memory = mapping::map(file, map_access::read_write).value();
  std::strcpy(reinterpret_cast<char*>(memory.data()), "written by the parent");
  l.give(file);
  EXPECT_EQ(l.hear(), "written by the parent");
  EXPECT_STREQ(reinterpret_cast<const char*>(memory.data()), "written by the child");
}

TEST(process, a_child_cannot_truncate_memory_that_it_was_sent) {
  launched l({"try_to_resize"});
  const memory_file file = memory_file::create("shared", 4096).value();
  const mapping memory = mapping::map(file, map_access::read_write).value();
  l.give(file);
  EXPECT_EQ(l.hear(), "EPERM EPERM ");
  EXPECT_EQ(memory.data()[4095], std::byte{0});
}

TEST(process, records_reach_a_child_that_sleeps_between_them) {
  launched l({"read_ring"});
  const memory_file file = memory_file::create("ring", ring_region::bytes_for(1024)).value();
  const mapping memory = mapping::map(file, map_access::read_write).value();
  ring_writer writer(ring_region::format(memory.bytes(), 1024).value());
  l.give(file);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 1; i <= 5000;) {
    const ring_claim claim = writer.claim(sizeof i);
    if (!claim) {
      ASSERT_EQ(claim.status, claim_status::full);
      ASSERT_FALSE(l.child.wait(0).value().ended());
      continue;
    }
    std::memcpy(claim.data, &i, sizeof i);
    writer.publish(claim);
    writer.wake_if_sleeping();
    sum += i++;
  }
  ring_claim last;
  while (!(last = writer.claim(0))) ASSERT_FALSE(l.child.wait(0).value().ended());
  writer.publish(last, 1);
  writer.wake_if_sleeping();
  EXPECT_EQ(l.hear(), std::to_string(sum));
}

TEST(process, exit_codes_and_signals_are_reported_by_name) {
  EXPECT_EQ(end_of(launched({"exit", "0"}).child), "exited with code 0");
  EXPECT_EQ(end_of(launched({"exit", "77"}).child), "exited with code 77");
  EXPECT_EQ(end_of(launched({"segfault"}).child), "killed by signal 11 (SIGSEGV)");
  EXPECT_EQ((exit_status{.how = exit_status::ending::signalled, .value = 64}).text(), "killed by signal 64");
  EXPECT_EQ(exit_status{}.text(), "still running");
}

TEST(process, waiting_for_a_running_child_times_out_and_a_killed_child_can_be_reaped_elsewhere) {
  launched l({"hang"});
  ASSERT_EQ(l.hear(), "here");
  EXPECT_EQ(l.child.wait(now_ns() + 1'000'000).value().text(), "still running");
  ASSERT_TRUE(l.child.kill(SIGTERM));
  EXPECT_EQ(end_of(l.child), "killed by signal 15 (SIGTERM)");
  EXPECT_EQ(end_of(l.child), "killed by signal 15 (SIGTERM)") << "the status is remembered";
  EXPECT_TRUE(l.child.kill(SIGTERM)) << "killing an ended child is no error";
  l.child.reap_elsewhere();
  await_elsewhere(now_ns() + 10'000'000'000);
  EXPECT_EQ(::waitpid(l.child.pid(), nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(process, destruction_kills_the_child_and_leaves_no_zombie) {
  int pid;
  {
    launched l({"hang"});
    ASSERT_EQ(l.hear(), "here");
    pid = l.child.pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(process, the_pidfd_becomes_readable_when_the_child_ends) {
  launched l({"hang"});
  pollfd entry{.fd = l.child.pidfd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&entry, 1, 0), 0);
  ASSERT_TRUE(l.child.kill(SIGKILL));
  EXPECT_EQ(::poll(&entry, 1, 30'000), 1);
}

TEST(process, the_death_of_a_child_closes_its_socket) {
  launched l({"exit", "3"});
  std::byte into[8];
  EXPECT_EQ(l.control().receive(into, 0, now_ns() + 30 * second).value().outcome, control_socket::outcome::closed);
}

TEST(process, a_status_that_other_code_collected_is_reported_as_unknown) {
  launched l({"exit", "3"});
  ASSERT_EQ(::waitpid(l.child.pid(), nullptr, 0), l.child.pid());
  EXPECT_EQ(l.child.wait(now_ns() + 30 * second).value().how, exit_status::ending::unknown);
}

// Otherwise, if the child has ended and other code has reaped it, another process with the same number would be opened.
TEST(process, only_a_child_that_leads_its_process_group_is_opened) {
  launched l({"hang"});
  EXPECT_TRUE(open_child(l.child.pid()));
  const pid_t of_this_group = ::fork();
  if (of_this_group == 0)
    for (;;) ::pause();
  for (const pid_t other : {::getppid(), of_this_group}) {
    EXPECT_FALSE(open_child(other));
    EXPECT_EQ(errno, ESRCH);
  }
  ::kill(of_this_group, SIGKILL);
  ::waitpid(of_this_group, nullptr, 0);
}

TEST(process, a_child_dies_with_its_parent) {
  launched middle({"launch_tied"});
  std::vector<file_descriptor> fds;
  ASSERT_EQ(middle.hear(&fds), "tied");
  ASSERT_EQ(fds.size(), 1u);
  pollfd grandchild{.fd = fds[0].get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&grandchild, 1, 0), 0) << "must live while its parent does";
  ASSERT_TRUE(middle.child.kill(SIGKILL));
  EXPECT_EQ(::poll(&grandchild, 1, 30'000), 1) << "must not outlive its parent";
}

TEST(process, a_child_fails_if_its_parent_has_ended_already) {
  launched l({"tied_to", "1"});  // its parent is not process 1
  EXPECT_EQ(end_of(l.child), "exited with code 9");
}

TEST(process, the_path_of_a_missing_program_is_reported) {
  const auto missing = process::launch({.path = "/nowhere/troupe-worker"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(), "cannot start '/nowhere/troupe-worker': there is no such file");
  EXPECT_EQ(missing.error().code(), ENOENT);
  const auto relative = process::launch({.path = "nowhere/worker"});
  char here[4096];
  ASSERT_NE(::getcwd(here, sizeof here), nullptr);
  EXPECT_NE(relative.error().text().find(std::string("(seen from ") + here + ")"), std::string::npos)
      << relative.error().text();
}

TEST(process, a_file_that_is_no_program_is_distinguished_from_a_missing_one) {
  char path[] = "/tmp/troupe_channel_testXXXXXX";
  file_descriptor file(::mkstemp(path));
  EXPECT_NE(process::launch({.path = path}).error().text().find("not an executable file"), std::string::npos);
  ASSERT_EQ(::write(file.get(), "#!/nowhere/interpreter\n", 23), 23);
  ASSERT_EQ(::fchmod(file.get(), 0700), 0);
  file.reset();
  EXPECT_NE(process::launch({.path = path}).error().text().find("loader or interpreter"), std::string::npos);
  ::unlink(path);
}

TEST(process, a_control_socket_with_the_number_of_a_standard_descriptor_is_refused) {
  EXPECT_EQ(process::launch({.path = child_path, .control_fd = 1}).error().reaction(), reaction::caller_bug);
}

}  // namespace
}  // namespace troupe
