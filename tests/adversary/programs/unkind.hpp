// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tests/engines/requests.hpp>
#include <thread>
#include <troupe/troupe.hpp>
#include <vector>

/// Code that these programs share. Each returns 0 if all expectations hold, 1 if not, and `skipped` if it cannot run
/// here.
namespace unkind {

using namespace troupe;
using namespace std::chrono_literals;

inline constexpr int skipped = 77;

inline int wrong = 0;

/// Records that an expectation does not hold.
inline bool expect(bool holds, const std::string& what) {
  if (!holds) std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  wrong += !holds;
  return holds;
}

inline int skip(const char* why) { return std::fprintf(stderr, "skipped: %s\n", why), skipped; }

inline device_options options() {
  device_options o;
  o.engine = "host";
  o.engine_folders = {TROUPE_TEST_ENGINE_FOLDER};
  o.libraries = {"testing"};
  o.mailbox_capacity = 64;
  o.memory_limit = 256 << 20;
  o.host_memory_limit = 64 << 20;
  o.restarts = 1000;
  o.start_timeout = 10s;
  o.close_timeout = 1s;
  return o;
}

/// Returns options for a device that may be unable to start: opening it then fails soon.
inline device_options limited_options() {
  device_options o = options();
  o.restarts = 3;
  o.start_timeout = 3s;
  return o;
}

/// Uploads data and downloads it again, and repeats that while workers are lost. Returns what is wrong, or an empty
/// text.
inline std::string why_broken(const device& gpu, int seed = 1, std::chrono::milliseconds limit = 20s) {
  std::vector<float> data(1000);
  for (int i = 0; i < 1000; ++i) data[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 + seed);
  const auto begun = std::chrono::steady_clock::now();
  while (true) {
    const auto x = gpu.upload(data), y = gpu.alloc<float>(1000);
    gpu.copy(y, x);
    auto answer = gpu.download(y);
    const auto got = answer.get_for(limit);
    if (!got) return "no answer";
    if (*got) return **got == data ? std::string() : "wrong data";
    const auto how = got->error().reaction();
    if (how != reaction::context_lost || std::chrono::steady_clock::now() - begun > limit)
      return got->error().to_string();
  }
}
inline bool expect_works(const device& gpu, const std::string& when, int seed = 1) {
  const std::string why = why_broken(gpu, seed);
  return expect(why.empty(), "the device works " + when + ": " + why);
}

/// Requests that must fail, sent but not yet awaited.
class failing_requests {
 public:
  failing_requests(const device& gpu, int count) {
    for (int i = 0; i < count; ++i)
      answers_.push_back(gpu.ask(testing_actor::fail{.how = reaction::unsupported, .code = i, .text = "must fail"}));
  }
  void expect_failures(const std::string& when) {
    for (auto& answer : answers_) {
      const auto got = answer.get_for(20s);
      if (!expect(got.has_value(), "a request has an answer " + when)) return;
      if (!expect(!*got, "a request that must fail does " + when)) return;
      expect(got->error().reaction() == reaction::unsupported,
             "it fails with its own error " + when + ": " + got->error().to_string());
    }
  }

 private:
  std::vector<pending<void>> answers_;
};

inline void kill_worker(const device& gpu) {
  (void)gpu.started().get();
  if (const auto pid = gpu.statistics().worker_pid) ::kill(*pid, SIGKILL);
}

/// Waits for a child. Returns true if it exited with 0. Kills it after the limit.
inline bool expect_exit(pid_t child, const std::string& who, std::chrono::milliseconds limit = 20s) {
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(2ms);
  if (ended == 0) ::kill(child, SIGKILL), ::waitpid(child, &status, 0);
  if (!expect(ended != 0, who + " ends")) return false;
  if (WIFSIGNALED(status)) return expect(false, who + " lives: signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) == skipped) return false;
  return expect(WEXITSTATUS(status) == 0, who + " exits with " + std::to_string(WEXITSTATUS(status)));
}

/// Runs a function in a child, which is forked before this process has a runtime. The child exits with the result.
template <class F>
int exit_code_of(F&& act, std::chrono::milliseconds limit = 30s) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(2ms);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline int exit_code() { return wrong == 0 ? 0 : 1; }

}  // namespace unkind
