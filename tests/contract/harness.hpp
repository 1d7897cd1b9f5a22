// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>
#include <vector>

#include "../engines/requests.hpp"

/// What the tests of whole devices share.
namespace troupe::whole {

using namespace std::chrono_literals;

/// What the tests are to run on: TROUPE_TEST_ENGINE, or the host.
inline std::string engine_under_test() {
  const char* const set = std::getenv("TROUPE_TEST_ENGINE");
  return set != nullptr ? set : "host";
}

/// Where something lies that the build made for the tests: the variable of this name says it on another machine.
inline const char* path_of(const char* name, const char* built) {
  const char* const set = std::getenv(name);
  return set != nullptr && *set != '\0' ? set : built;
}
inline const char* test_engine_folder() { return path_of("TROUPE_TEST_ENGINE_FOLDER", TROUPE_TEST_ENGINE_FOLDER); }

/// A device that finds the test engines.
inline device_options with_test_engines(device_options o = {}) {
  o.engine = engine_under_test();
  o.engine_folders.push_back(test_engine_folder());
  if (o.restarts == 3) o.restarts = 0;  // most tests look at one worker from its beginning to its end
  return o;
}

/// The text of what went wrong; empty when nothing did.
template <class T>
std::string trouble(const result<T>& r) {
  return r ? std::string() : r.error().to_string();
}

/// The error of an answer; one that says so when there is none.
template <class T>
error error_of(const result<T>& r) {
  return r ? error(reaction::fatal, "test", "no error at all") : r.error();
}
template <class T>
error error_of(pending<T> p) {
  return error_of(p.get());
}

inline testing::AssertionResult is_error(const error& e, reaction how, std::initializer_list<const char*> words) {
  if (e.reaction() != how)
    return testing::AssertionFailure() << "reaction is " << to_string(e.reaction()) << ", expected " << to_string(how)
                                       << ": " << e.to_string();
  for (const char* word : words)
    if (e.to_string().find(word) == std::string::npos)
      return testing::AssertionFailure() << "\"" << word << "\" is not in: " << e.to_string();
  return testing::AssertionSuccess();
}

template <class T>
testing::AssertionResult is_ok(const result<T>& r) {
  return r ? testing::AssertionSuccess() : testing::AssertionFailure() << r.error().to_string();
}
#define EXPECT_OK(expression) EXPECT_TRUE(::troupe::whole::is_ok(expression))
#define ASSERT_OK(expression) ASSERT_TRUE(::troupe::whole::is_ok(expression))

/// 0, 1, 2 … as floats.
inline std::vector<float> counting(std::size_t n, float first = 0) {
  std::vector<float> out(n);
  std::iota(out.begin(), out.end(), first);
  return out;
}

/// A request that runs until told otherwise, so that what is queued behind it stays queued.
class blockade {
 public:
  explicit blockade(const device& gpu) : gpu_(gpu), gate_(gpu.alloc_host<std::uint32_t>(2, {.zeroed = true})) {
    answer_ = gpu_.ask(testing_actor::hold{.gate = gate_});
  }
  ~blockade() { lift(); }
  blockade(const blockade&) = delete;

  /// Blocks until the worker is inside. False when it never will be.
  bool entered() const {
    while (word(testing_actor::entered).load() == 0) {
      if (answer_.ready()) return false;
      (void)gpu_.statistics();  // drives
      std::this_thread::yield();
    }
    return true;
  }
  void lift() { word(testing_actor::open).store(1); }
  pending<void>& answer() { return answer_; }
  const host_buffer<std::uint32_t>& gate() const { return gate_; }

 private:
  std::atomic_ref<std::uint32_t> word(std::size_t i) const { return std::atomic_ref(gate_.data()[i]); }

  device gpu_;
  host_buffer<std::uint32_t> gate_;
  pending<void> answer_;
};

/// Counts answers, by kind. Outlives the pendings it watches.
class tally {
 public:
  template <class T>
  void watch(pending<T> p) {
    expected_.fetch_add(1);
    std::move(p).then([this](const result<T>& r) {
      if (r) {
        fine_.fetch_add(1);
      } else {
        by_reaction_[static_cast<std::size_t>(r.error().reaction())].fetch_add(1);
      }
      answered_.fetch_add(1);
      answered_.notify_all();
    });
  }
  /// Blocks until everything watched so far is answered, each exactly once.
  void await_all() const {
    int now = answered_.load();
    while (now < expected_.load()) {
      answered_.wait(now);
      now = answered_.load();
    }
  }
  int expected() const { return expected_.load(); }
  int answered() const { return answered_.load(); }
  int fine() const { return fine_.load(); }
  int failed(reaction r) const { return by_reaction_[static_cast<std::size_t>(r)].load(); }

 private:
  std::atomic<int> expected_{0}, answered_{0}, fine_{0};
  std::array<std::atomic<int>, 6> by_reaction_{};
};

/// Kills the worker the hard way.
inline void kill_worker(const device& gpu, int signal = SIGKILL) {
  ASSERT_OK(gpu.started().get());  // only then is the number certain to be known
  const int pid = gpu.statistics().worker_pid;
  ASSERT_GT(pid, 1) << "the worker is no process";
  ASSERT_EQ(::kill(pid, signal), 0);
}
/// And waits until that has been noticed: also once all that stood by has been used up.
inline void kill_and_wait(const device& gpu) {
  const std::uint64_t before = gpu.statistics().generation;
  kill_worker(gpu);
  while (gpu.statistics().generation == before) std::this_thread::yield();
}

/// TROUPE_SEED, or `otherwise`.
inline std::uint64_t seed_or(std::uint64_t otherwise) {
  const char* set = std::getenv("TROUPE_SEED");
  return set != nullptr ? std::strtoull(set, nullptr, 0) : otherwise;
}

}  // namespace troupe::whole
