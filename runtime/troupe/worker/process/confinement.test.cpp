// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <new>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/channel/process/process_launcher.hpp>
#include <troupe/worker/process/call_filter.hpp>
#include <troupe/worker/process/confinement.hpp>
#include <troupe/worker/process/file_rules.hpp>
#include <vector>

extern char** environ;

namespace troupe {
namespace {

constexpr uid_t nobody = 65534;

// What the worker tried, and with which success, in memory that it shares with the test.
struct attempts {
  bool confined;  // the worker ran to its end
  char why_not[400], reported[400];
  char why_no_program_elsewhere[400];
  // These must fail in a confined worker.
  bool memory_of_application, signal, trace, fork, program, tcp, write_elsewhere, read_elsewhere, flags_of_output,
      signal_by_compiler, write_by_compiler, memory_by_compiler, limit_of_application, limit_by_compiler,
      priority_of_application, priority_by_compiler, priority_of_user, real_time, many_descriptors;
  // These must succeed.
  bool thread, memory_file, signal_to_itself, read_system, read_named, read_opened, write_cache, write_temporary,
      compiler;
};

bool can_open(const std::string& path, int flags) {
  return static_cast<bool>(file_descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0600)));
}

bool can_fork() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return child > 0 && ::waitpid(child, nullptr, 0) == child;
}

bool can_start_program() {
  char name[] = "/bin/true";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  return ::posix_spawn(&child, name, nullptr, nullptr, arguments, environ) == 0 &&
         ::waitpid(child, nullptr, 0) == child;
}

// A refused connection counts as possible.
bool can_connect_by_tcp() {
  const file_descriptor s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return s && (::connect(s.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 || errno == ECONNREFUSED);
}

bool can_change_flags_of_output() {
  int on = 1;
  return ::fcntl(STDOUT_FILENO, F_SETFL, ::fcntl(STDOUT_FILENO, F_GETFL)) == 0 ||
         ::ioctl(STDOUT_FILENO, FIONBIO, &on) == 0;
}

bool can_limit(pid_t other) {
  rlimit now{};
  return ::prlimit(other, RLIMIT_CORE, nullptr, &now) == 0 && ::prlimit(other, RLIMIT_CORE, &now, nullptr) == 0;
}

// Returns true unless the call is forbidden. The priorities stay as they are: of several processes it gets the best
// one, and may not improve the others.
bool can_set_priority(__priority_which_t which, pid_t who) {
  errno = 0;
  const int now = ::getpriority(which, static_cast<id_t>(who));
  return errno == 0 && (::setpriority(which, static_cast<id_t>(who), now) == 0 || errno != EPERM);
}

// Leaves the thread as it was.
bool can_become_real_time() {
  const sched_param real_time{.sched_priority = 1}, usual{};
  if (::sched_setscheduler(0, SCHED_FIFO, &real_time) != 0) return false;
  return ::sched_setscheduler(0, SCHED_OTHER, &usual) == 0;
}

// Returns true if a shell that the launcher starts runs the line successfully.
bool shell_can(const std::string& line) {
  auto job = launch_by_launcher({.path = "/bin/sh", .args = {"-c", line}});
  if (!job) return false;
  const auto how = job->wait(now_ns() + 10'000'000'000);
  return how && how->how == exit_status::ending::exited && how->value == 0;
}

class a_confined_worker : public testing::TestWithParam<uid_t> {
 protected:
  void SetUp() override {
    char pattern[] = "/var/tmp/troupe-confinement-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    room_ = pattern;
    for (const char* folder : {"", "/cache-parent", "/temporary", "/elsewhere", "/named"}) {
      std::filesystem::create_directories(room_ + folder);
      ::chmod((room_ + folder).c_str(), 0777);
    }
    for (const char* file : {"/elsewhere/secret", "/elsewhere/replaced", "/named/header"})
      std::ofstream(room_ + file) << "text";
    char trusted[] = "/var/tmp/troupe-confinement-XXXXXX";
    ASSERT_NE(::mkdtemp(trusted), nullptr);
    program_ = cat(trusted, "/program");
    std::ofstream(program_) << "#!/bin/sh\n";
    for (const std::string& path : {std::string(trusted), program_}) ::chmod(path.c_str(), 0755);
    replaced_.reset(::open((room_ + "/elsewhere/replaced").c_str(), O_PATH | O_CLOEXEC));
    std::filesystem::remove(room_ + "/elsewhere/replaced");
    // Processes with the address sanitizer cannot be filtered, and nothing can be confined if the system does not
    // support it.
    files_ = landlock_version() != 0;
    calls_ = can_filter_calls();
    void* const shared = ::mmap(nullptr, sizeof(attempts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    got_ = new (shared) attempts{};
  }
  void TearDown() override {
    if (got_ != nullptr) ::munmap(got_, sizeof(attempts));
    if (!room_.empty()) std::filesystem::remove_all(room_);
    if (!program_.empty()) std::filesystem::remove_all(std::filesystem::path(program_).parent_path());
  }

  // Runs an application of the user, and its worker.
  void run(enum confinement level, bool gpu = false) {
    protocol::greeting g{};
    g.settings.core_dumps = false;
    g.settings.compile = true;
    g.settings.confinement = level;
    g.settings.gpu = gpu;
    g.readable_folders = {room_ + "/named"};
    const pid_t application = ::fork();
    ASSERT_GE(application, 0);
    if (application == 0) {
      if (GetParam() != ::geteuid() && ::setresuid(nobody, nobody, nobody) != 0) ::_exit(2);
      (void)::prctl(PR_SET_DUMPABLE, 1);  // as for a program that was started by this user
      ::setenv("TMPDIR", (room_ + "/temporary").c_str(), 1);
      ::setenv("TROUPE_CACHE", (room_ + "/cache-parent/cache").c_str(), 1);
      const pid_t worker = ::fork();
      if (worker == 0) work(g, ::getppid());
      int status = 0;
      ::_exit(::waitpid(worker, &status, 0) == worker && WIFEXITED(status) ? WEXITSTATUS(status) : 3);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(application, &status, 0), application);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", " << got_->why_not;
  }

  [[noreturn]] void work(const protocol::greeting& g, pid_t application) {
    const file_descriptor nameless(::memfd_create("like.so", MFD_CLOEXEC));  // must not count as a library in "/"
    (void)::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, nameless.get(), 0);
    std::vector<opened_plug_in> opened;
    opened.push_back({"/elsewhere/replaced", file_descriptor(::dup(replaced_.get()))});
    const auto done = confine(g, opened);
    if (!done) (void)std::snprintf(got_->why_not, sizeof got_->why_not, "%s", done.error().text().c_str()), ::_exit(1);
    (void)std::snprintf(got_->reported, sizeof got_->reported, "%s", done->c_str());
    attempts& got = *got_;
    const std::string of_application = cat("/proc/", application, "/mem");
    got.memory_of_application = can_open(of_application, O_RDWR);
    got.signal = ::kill(application, 0) == 0;
    got.trace = ::ptrace(PTRACE_SEIZE, application, nullptr, nullptr) == 0;
    got.fork = can_fork();
    got.program = can_start_program();
    got.tcp = can_connect_by_tcp();
    got.write_elsewhere = can_open(room_ + "/elsewhere/new", O_WRONLY | O_CREAT);
    got.read_elsewhere = can_open(room_ + "/elsewhere/secret", O_RDONLY);
    got.flags_of_output = can_change_flags_of_output();
    got.limit_of_application = can_limit(application);
    got.priority_of_application = can_set_priority(PRIO_PROCESS, application);
    // Root may improve the priorities of others, so only other users try.
    got.priority_of_user = ::geteuid() != 0 && can_set_priority(PRIO_USER, 0);
    got.real_time = can_become_real_time();
    rlimit descriptors{};
    got.many_descriptors = ::getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_max > 1024;
    got.read_system = can_open("/proc/self/maps", O_RDONLY) && can_open("/proc/cpuinfo", O_RDONLY);
    got.read_named = can_open(room_ + "/named/header", O_RDONLY);
    got.read_opened = can_open(cat("/proc/self/fd/", opened[0].file.get()), O_RDONLY);
    got.write_cache = can_open(room_ + "/cache-parent/cache/entry", O_WRONLY | O_CREAT);
    got.write_temporary = can_open(room_ + "/temporary/file", O_WRONLY | O_CREAT);
    got.memory_file = static_cast<bool>(file_descriptor(::memfd_create("x", MFD_CLOEXEC)));
    got.signal_to_itself = ::kill(::getpid(), 0) == 0;
    std::thread([&] { got.thread = true; }).join();
    if (launcher_pid() != 0) {
      got.compiler = shell_can("test -r /usr/include/stdio.h && echo x > " + room_ + "/temporary/output");
      const auto elsewhere = launch_by_launcher({.path = program_});
      (void)std::snprintf(got.why_no_program_elsewhere, sizeof got.why_no_program_elsewhere, "%s",
                          elsewhere ? "it starts" : elsewhere.error().text().c_str());
      got.signal_by_compiler = shell_can(cat("kill -0 ", application));
      got.write_by_compiler = shell_can("echo x > " + room_ + "/elsewhere/output");
      got.memory_by_compiler =
          shell_can(cat("head -c 0 /proc/", ::getpid(), "/mem")) || shell_can("head -c 0 " + of_application);
      got.limit_by_compiler = shell_can(cat("prlimit --core=0:0 --pid=", application));
      got.priority_by_compiler = shell_can(cat("renice -n 0 -p ", application));
    }
    got.confined = true;
    ::_exit(0);
  }

  void expect_confined() const {
    const attempts& got = *got_;
    if (files_) {
      EXPECT_FALSE(got.memory_of_application);
      EXPECT_FALSE(got.write_elsewhere);
      EXPECT_FALSE(got.read_elsewhere);
      EXPECT_FALSE(got.write_by_compiler);
      EXPECT_FALSE(got.memory_by_compiler);
    }
    if (landlock_version() >= landlock_with_scopes) {
      EXPECT_FALSE(got.signal);
      EXPECT_FALSE(got.signal_by_compiler);
    }
    if (calls_) {
      EXPECT_FALSE(got.signal);
      EXPECT_FALSE(got.trace);
      EXPECT_FALSE(got.fork);
      EXPECT_FALSE(got.program);
      EXPECT_FALSE(got.tcp);
      EXPECT_FALSE(got.flags_of_output);
      EXPECT_FALSE(got.limit_of_application);
      EXPECT_FALSE(got.limit_by_compiler);
      EXPECT_FALSE(got.priority_of_application);
      EXPECT_FALSE(got.priority_by_compiler);
      EXPECT_FALSE(got.priority_of_user);
      EXPECT_TRUE(got.compiler) << "nothing else may start compilers";
    }
    if (files_ && calls_) {
      const std::string why = got.why_no_program_elsewhere;
      EXPECT_NE(why.find("the sandbox of this worker"), std::string::npos) << why;
    }
    EXPECT_FALSE(got.real_time);
    EXPECT_FALSE(got.many_descriptors);
    expect_able_to_work();
    EXPECT_EQ(got.reported[0] == '\0', files_ && calls_) << got.reported;
  }

  void expect_able_to_work() const {
    const attempts& got = *got_;
    EXPECT_TRUE(got.thread && got.memory_file && got.signal_to_itself);
    EXPECT_TRUE(got.read_system && got.read_named);
    EXPECT_TRUE(got.read_opened) << "an engine that an upgrade has replaced";
    EXPECT_TRUE(got.write_temporary);
    EXPECT_TRUE(got.write_cache);
  }

  std::string room_, program_;
  file_descriptor replaced_;
  bool files_ = false, calls_ = false;
  attempts* got_ = nullptr;
};

TEST_P(a_confined_worker, can_access_only_the_files_and_processes_that_it_needs) {
  ASSERT_NO_FATAL_FAILURE(run(confinement::standard));
  ASSERT_TRUE(got_->confined) << got_->why_not;
  expect_confined();
}

TEST_P(a_confined_worker, works_if_strictly_confined_or_refuses_to_start) {
  ASSERT_NO_FATAL_FAILURE(run(confinement::strict));
  if (files_ && calls_) {
    ASSERT_TRUE(got_->confined) << got_->why_not;
    return expect_confined();
  }
  EXPECT_FALSE(got_->confined) << "the system cannot do it";
  EXPECT_NE(std::string(got_->why_not).find("device_options::confinement is strict"), std::string::npos);
}

TEST_P(a_confined_worker, with_a_gpu_keeps_what_a_driver_may_need) {
  std::filesystem::create_directories(room_ + "/cache-parent/cache");
  ::chmod((room_ + "/cache-parent/cache").c_str(), 0777);
  ASSERT_NO_FATAL_FAILURE(run(confinement::standard, true));
  ASSERT_TRUE(got_->confined) << got_->why_not;
  const attempts& got = *got_;
  EXPECT_TRUE(got.fork && got.program && got.tcp && got.write_elsewhere && got.read_elsewhere && got.flags_of_output);
  expect_able_to_work();
  EXPECT_FALSE(calls_ && (got.trace || got.limit_of_application || got.priority_of_user));
  const bool scopes = landlock_version() >= landlock_with_scopes;
  EXPECT_FALSE(scopes && (got.signal || got.memory_of_application));
  EXPECT_EQ(got.reported[0] == '\0', calls_ && scopes) << got.reported;
}

TEST_P(a_confined_worker, is_not_confined_if_confinement_is_off) {
  std::filesystem::create_directories(room_ + "/cache-parent/cache");  // as a confined worker does at its start
  ::chmod((room_ + "/cache-parent/cache").c_str(), 0777);
  ASSERT_NO_FATAL_FAILURE(run(confinement::off));
  ASSERT_TRUE(got_->confined) << got_->why_not;
  const attempts& got = *got_;
  EXPECT_TRUE(got.signal && got.fork && got.program && got.tcp && got.flags_of_output && got.limit_of_application &&
              got.priority_of_application && (got.priority_of_user || GetParam() == 0))
      << "the other tests would not notice whether these are forbidden";
  EXPECT_TRUE(got.write_elsewhere && got.read_elsewhere);
  EXPECT_FALSE(got.compiler) << "it needs no launcher";
  expect_able_to_work();
}

// Only root may become another user.
std::vector<uid_t> users() {
  return ::geteuid() == 0 ? std::vector<uid_t>{0, nobody} : std::vector<uid_t>{::geteuid()};
}

INSTANTIATE_TEST_SUITE_P(user, a_confined_worker, testing::ValuesIn(users()), testing::PrintToStringParamName());

TEST(confinement, names_what_the_system_does_not_support) {
  EXPECT_EQ((confinement_support{.landlock = 1, .filters = true}).lacks(), "");
  EXPECT_NE((confinement_support{.landlock = 0, .filters = true}).lacks().find("Landlock"), std::string::npos);
  EXPECT_NE((confinement_support{.landlock = 7, .filters = false}).lacks().find("seccomp"), std::string::npos);
}

}  // namespace
}  // namespace troupe
