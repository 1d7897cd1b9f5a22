// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Devices in programs that limit, signal, or treat their process in ways of their own.
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <fstream>
#include <troupe/base/file_descriptor.hpp>

#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

int score_of(const std::string& process) {
  int score = -1;
  std::ifstream("/proc/" + process + "/oom_score_adj") >> score;
  return score;
}

TEST(good_guest, the_system_kills_the_worker_first_if_memory_is_short) {
  const int own = score_of("self");
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 1}));
  const device in_thread = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  ASSERT_OK(gpu.started().get());
  ASSERT_OK(in_thread.started().get());
  EXPECT_EQ(score_of(std::to_string(gpu.statistics().worker_pid.value())), 1000);
  EXPECT_EQ(score_of("self"), own) << "a worker that is a thread must not change its program";
}

class size_limit {
 public:
  explicit size_limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~size_limit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  size_limit(const size_limit&) = delete;

 private:
  rlimit before_{};
};

TEST(good_guest, a_device_that_the_limit_on_file_sizes_forbids_reports_it) {
  const size_limit few(4096);
  runtime rt;
  EXPECT_TRUE(is_error(error_of(rt.open_device(with_test_engines()).started()), reaction::retry_later,
                       {"ulimit -f", "LimitFSIZE="}));
}

TEST(good_guest, memory_beyond_the_limit_on_file_sizes_is_refused_and_less_is_not) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  ASSERT_OK(gpu.started().get());
  const size_limit some(16 << 20);  // segments are larger if nothing limits them
  const std::size_t large = 32 << 20, small = 4096;
  EXPECT_TRUE(is_error(error_of(gpu.download(gpu.upload(counting(large)))), reaction::retry_later, {"LimitFSIZE="}));
  EXPECT_NE(gpu.alloc_host<float>(small).data(), nullptr);
  if (engine_under_test() == "cuda") return;  // its memory is no file
  EXPECT_TRUE(is_error(error_of(gpu.fill(gpu.alloc<float>(large), 1.0f)), reaction::retry_later, {"LimitFSIZE="}));
  EXPECT_OK(gpu.fill(gpu.alloc<float>(small), 1.0f).get());
}

// A program that reads a signal from a signalfd blocks it in all of its threads; the library's must not take it.
TEST(good_guest, signals_that_the_program_waits_for_reach_it) {
  runtime rt;
  std::vector<device> all;
  for (const isolation how : {isolation::process, isolation::thread}) {
    all.push_back(rt.open_device(with_test_engines({.isolation = how})));
    EXPECT_OK(all.back().download(all.back().upload(counting(10))).get());
  }
  sigset_t expected, before;
  ::sigemptyset(&expected);
  ::sigaddset(&expected, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &expected, &before);
  const file_descriptor from(::signalfd(-1, &expected, SFD_CLOEXEC | SFD_NONBLOCK));
  EXPECT_EQ(::kill(::getpid(), SIGUSR1), 0);  // ends the process if a thread has it unblocked
  signalfd_siginfo got{};
  EXPECT_EQ(::read(from.get(), &got, sizeof got), static_cast<ssize_t>(sizeof got));
  EXPECT_EQ(got.ssi_signo, static_cast<std::uint32_t>(SIGUSR1));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace troupe::whole
