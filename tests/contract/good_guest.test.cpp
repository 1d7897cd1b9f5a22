// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of devices in programs that set limits, use signals, or treat their process in other unusual ways.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <climits>

#include <filesystem>
#include <fstream>
#include <tests/support/in_child.hpp>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/base/linux/file_descriptor.hpp>

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
  EXPECT_EQ(score_of("self"), own) << "a worker that is a thread must not change the score of its program";
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
  const size_limit some(16 << 20);  // without a limit, segments are larger than this
  const std::size_t large = 32 << 20, small = 4096;
  EXPECT_TRUE(is_error(error_of(gpu.download(gpu.upload(counting(large)))), reaction::retry_later, {"LimitFSIZE="}));
  EXPECT_NE(gpu.alloc_host<float>(small).data(), nullptr);
  if (engine_under_test() == "cuda") return;  // GPU memory is not a file
  EXPECT_TRUE(is_error(error_of(gpu.fill(gpu.alloc<float>(large), 1.0f)), reaction::retry_later, {"LimitFSIZE="}));
  EXPECT_OK(gpu.fill(gpu.alloc<float>(small), 1.0f).get());
}

// A program that reads a signal from a signalfd blocks it on all of its threads; the library's threads must not receive
// it.
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
  EXPECT_EQ(::kill(::getpid(), SIGUSR1), 0);  // ends the process if a thread has not blocked it
  signalfd_siginfo got{};
  EXPECT_EQ(::read(from.get(), &got, sizeof got), static_cast<ssize_t>(sizeof got));
  EXPECT_EQ(got.ssi_signo, static_cast<std::uint32_t>(SIGUSR1));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

#if !TROUPE_THREAD_SANITIZER  // which allows no threads in a child

TEST(good_guest, a_worker_of_a_program_without_outputs_has_none_either) {
  EXPECT_EQ(in_child([] {
              ::close(0), ::close(1), ::close(2);
              runtime rt;
              const device gpu = rt.open_device(with_test_engines());
              if (const auto ready = gpu.started().get(); !ready) return ready.error().to_string();
              std::string outputs;
              for (const char* fd : {"1", "2"})
                outputs += std::filesystem::read_symlink(
                               "/proc/" + std::to_string(gpu.statistics().worker_pid.value()) + "/fd/" + fd)
                               .string() +
                           " ";
              return outputs == "/dev/null /dev/null " ? std::string() : outputs;
            }),
            "");
}

TEST(good_guest, devices_recover_in_programs_that_ignore_the_ends_of_children_or_reap_them_all) {
  for (const auto how : {SIG_IGN, +[](int) {
                           const int before = errno;
                           while (::waitpid(-1, nullptr, WNOHANG) > 0) {
                           }
                           errno = before;
                         }})
    EXPECT_EQ(in_child([how] {
                ::signal(SIGCHLD, how);
                runtime rt;
                const device gpu = rt.open_device(with_test_engines({.restarts = 100}));
                for (int i = 0; i < 10; ++i) {
                  replace_worker(gpu);
                  if (const auto pong = gpu.ping().get(); !pong) return pong.error().to_string();
                }
                return std::string();
              }),
              "");
}

// Imitates a daemon that closes all descriptors from 3 on too late, and opens files of its own.
TEST(good_guest, a_device_whose_descriptors_the_program_closed_stops_with_the_reason_and_uses_no_time) {
  EXPECT_EQ(in_child([](int report) {
              std::string wrong;
              const auto expect = [&](bool right, const char* what) { wrong += right ? "" : std::string(what) + "\n"; };
              auto* rt = new runtime;
              std::vector<device> all{rt->open_device(with_test_engines({.restarts = 2})),
                                      rt->open_device(with_test_engines())};
              for (const device& d : all) expect(static_cast<bool>(d.started().get()), "a device does not start");
              auto x = all[0].upload(counting(1000));
              blockade b(all[0]);
              expect(b.entered(), "it does not run");
              auto never = all[0].ping();
              // While the library launches a standby, it has descriptors that it closes, whatever their numbers are by
              // then.
              while (all[0].statistics().standby_pids.empty()) std::this_thread::sleep_for(1ms);
              // Calls close_range, as closefrom() does. If descriptors were closed one by one, workers would end in
              // between, whose descriptors the library would close.
              ::close_range(3, static_cast<unsigned>(report - 1), 0);
              ::close_range(static_cast<unsigned>(report + 1), UINT_MAX, 0);
              std::vector<int> own;
              for (int i = 0; i < 60; ++i) own.push_back(::open("/dev/null", O_RDWR | O_CLOEXEC));
              const auto answer = never.get_for(10s);
              expect(answer && !*answer && answer->error().text().find("closefrom") != std::string::npos, "no answer");
              for (const device& d : all) {
                const auto stops = d.stopped().get_for(10s);
                expect(stops && !*stops && stops->error().reaction() == reaction::stopped, "it does not stop");
                expect(error_of(d.ping()).text().find("closefrom") != std::string::npos, "the reason is not given");
              }
              const auto used = [] {
                rusage u{};
                ::getrusage(RUSAGE_SELF, &u);
                return u.ru_utime.tv_sec * 1000 + u.ru_utime.tv_usec / 1000 + u.ru_stime.tv_sec * 1000 +
                       u.ru_stime.tv_usec / 1000;
              };
              const auto before = used();
              std::this_thread::sleep_for(500ms);
              expect(used() - before < 50, "it uses the processor");
              const device next = rt->open_device(with_test_engines());
              const auto data = next.download(next.upload(counting(100))).get();
              expect(data && *data == counting(100), "another device does not serve");
              x = {};
              all.clear();
              delete rt;
              for (const int fd : own) expect(::fcntl(fd, F_GETFD) == FD_CLOEXEC, "a file of the program was closed");
              return wrong;
            }),
            "");
}

#endif

}  // namespace
}  // namespace troupe::whole
