// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>
#include <vector>

/// Code that all tests of whole devices share, on the host and on GPUs.
namespace troupe::whole {

using namespace std::chrono_literals;

/// Returns the engine to run the tests on: TROUPE_TEST_ENGINE, or the host's.
inline std::string engine_under_test() {
  const char* const set = std::getenv("TROUPE_TEST_ENGINE");
  return set != nullptr ? set : "host";
}

/// Returns TROUPE_SEED, or `fallback` if it is not set.
inline std::uint64_t seed_or(std::uint64_t fallback) {
  const char* const set = std::getenv("TROUPE_SEED");
  return set != nullptr ? std::strtoull(set, nullptr, 0) : fallback;
}

/// Returns the text of the error; empty for a success.
template <class T>
std::string error_text(const result<T>& r) {
  return r ? std::string() : r.error().to_string();
}

template <class T>
testing::AssertionResult is_ok(const result<T>& r) {
  return r ? testing::AssertionSuccess() : testing::AssertionFailure() << r.error().to_string();
}
#define EXPECT_OK(expression) EXPECT_TRUE(::troupe::whole::is_ok(expression))
#define ASSERT_OK(expression) ASSERT_TRUE(::troupe::whole::is_ok(expression))

/// Returns `first`, `first` + 1, … as floats.
inline std::vector<float> counting(std::size_t n, float first = 0) {
  std::vector<float> out(n);
  std::iota(out.begin(), out.end(), first);
  return out;
}

/// Kills the worker's process.
inline void kill_worker(const device& gpu, int signal = SIGKILL) {
  ASSERT_OK(gpu.started().get());  // the process is known only from then on
  const int pid = gpu.statistics().worker_pid.value_or(0);
  ASSERT_GT(pid, 1) << "the worker is not a process";
  ASSERT_EQ(::kill(pid, signal), 0);
}
/// Kills the worker, and waits until the device has detected that, even if no worker follows.
inline void kill_and_wait(const device& gpu) {
  const std::uint64_t before = gpu.statistics().generation;
  kill_worker(gpu);
  while (gpu.statistics().generation == before) std::this_thread::yield();
}
/// Kills the worker, and waits until the next one serves.
inline void replace_worker(const device& gpu) {
  ASSERT_OK(gpu.started().get());
  const auto before = gpu.statistics().worker_pid;
  kill_and_wait(gpu);
  if (testing::Test::HasFatalFailure()) return;
  while (gpu.statistics().worker_pid == before) std::this_thread::yield();
}

}  // namespace troupe::whole
