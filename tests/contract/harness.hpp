// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <tests/engines/requests.hpp>
#include <tests/support/devices.hpp>
#include <tests/support/processes.hpp>

/// Helpers for tests of whole devices with the test engines.
namespace troupe::whole {

/// Returns the path of a file that the build has made for the tests. The environment variable `name` replaces it, for
/// tests on another machine.
inline const char* path_of(const char* name, const char* built) {
  const char* const set = std::getenv(name);
  return set != nullptr && *set != '\0' ? set : built;
}
inline const char* test_engine_folder() { return path_of("TROUPE_TEST_ENGINE_FOLDER", TROUPE_TEST_ENGINE_FOLDER); }

/// Returns options for a device that finds the test engines.
inline device_options with_test_engines(device_options o = {}) {
  o.engine = engine_under_test();
  o.engine_folders.push_back(test_engine_folder());
  if (o.restarts == 3) o.restarts = 0;  // most tests observe a single worker, from its start to its end
  return o;
}

/// Returns the error of an answer. If the answer is a success, returns a fatal error that says so.
template <class T>
error error_of(const result<T>& r) {
  return r ? error(reaction::fatal, "test", "no error at all") : r.error();
}
template <class T>
error error_of(pending<T> p) {
  return error_of(p.get());
}

/// Returns the error::code that corresponds to these words in an error's text, or 0 if there is none.
inline int code_named_by(std::initializer_list<const char*> words) {
  const auto has = [words](std::initializer_list<std::string_view> any) {
    return std::any_of(words.begin(), words.end(),
                       [any](const char* word) { return std::find(any.begin(), any.end(), word) != any.end(); });
  };
  if (has({"time-out", "scope_options::timeout", "call_options::timeout"})) return ETIMEDOUT;
  if (has({"cancelled", "stopped", "scope_options::stop"})) return ECANCELED;
  return has({"full"}) ? EAGAIN : 0;
}

inline testing::AssertionResult is_error(const error& e, reaction how, std::initializer_list<const char*> words) {
  if (e.reaction() != how)
    return testing::AssertionFailure() << "reaction is " << to_string(e.reaction()) << ", expected " << to_string(how)
                                       << ": " << e.to_string();
  for (const char* word : words)
    if (e.to_string().find(word) == std::string::npos)
      return testing::AssertionFailure() << "\"" << word << "\" is not in: " << e.to_string();
  if (const int code = code_named_by(words); how == reaction::retry_later && code != 0 && e.code() != code)
    return testing::AssertionFailure() << "the code is " << e.code() << ", expected " << code << ": " << e.to_string();
  return testing::AssertionSuccess();
}

/// A request that runs until it is released, so that requests behind it stay queued.
class blockade {
 public:
  explicit blockade(const device& gpu) : gpu_(gpu), gate_(gpu.alloc_host<std::uint32_t>(2, {.zeroed = true})) {
    answer_ = gpu_.ask(testing_actor::hold{.gate = gate_});
  }
  ~blockade() { lift(); }
  blockade(const blockade&) = delete;

  /// Blocks until the worker runs the request. Returns false if that will never happen.
  bool entered() const {
    while (word(testing_actor::entered).load() == 0) {
      if (answer_.ready()) return false;
      (void)gpu_.statistics();  // processes answers
      std::this_thread::yield();
    }
    return true;
  }
  void lift() { word(testing_actor::opened).store(1); }
  pending<void>& answer() { return answer_; }
  const host_buffer<std::uint32_t>& gate() const { return gate_; }

 private:
  std::atomic_ref<std::uint32_t> word(std::size_t i) const { return std::atomic_ref(gate_.data()[i]); }

  device gpu_;
  host_buffer<std::uint32_t> gate_;
  pending<void> answer_;
};

/// Delays requests that are sent during its lifetime, so that they wait together. On a GPU, whose worker cannot be
/// delayed, a test must send enough requests for the worker to lag behind.
class hold_up {
 public:
  explicit hold_up(const device& gpu) {
    if (engine_under_test() == "cuda") return;
    blockade_.emplace(gpu);
    EXPECT_TRUE(blockade_->entered());
  }
  void lift() {
    if (blockade_) blockade_->lift();
  }

 private:
  std::optional<blockade> blockade_;
};

/// Counts answers by kind. It must outlive the pendings that it watches.
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
  /// Blocks until everything watched so far has been answered, each exactly once.
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

}  // namespace troupe::whole
