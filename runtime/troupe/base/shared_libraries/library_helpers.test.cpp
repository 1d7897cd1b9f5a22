// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <troupe/base/shared_libraries/library_helpers.hpp>

namespace troupe {
namespace {

std::string name_of_this_thread() {
  std::array<char, 16> out{};
  EXPECT_EQ(::prctl(PR_GET_NAME, out.data()), 0);
  return out.data();
}

// A thread that sleeps until the test ends.
class waiting_thread {
 public:
  waiting_thread() { started_.wait(); }
  ~waiting_thread() { end_.count_down(); }
  pid_t id = 0;

 private:
  std::latch started_{1}, end_{1};
  std::jthread thread_{[this] {
    id = ::gettid();
    started_.count_down();
    end_.wait();
  }};
};

TEST(library_helpers, are_the_threads_started_while_they_are_noted) {
  const std::string before = name_of_this_thread();
  const waiting_thread other;
  std::optional<notes_helpers> noted(std::in_place);
  const waiting_thread one, two;
  noted.reset();
  const waiting_thread later;
  EXPECT_EQ(name_of_this_thread(), before);
  std::vector<pid_t> found = library_helpers();
  std::sort(found.begin(), found.end());
  std::vector<pid_t> expected{one.id, two.id};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

cpu_set_t processors_of(pid_t thread) {
  cpu_set_t out;
  CPU_ZERO(&out);
  EXPECT_EQ(::sched_getaffinity(thread, sizeof out, &out), 0);
  return out;
}

TEST(library_helpers, leave_the_core_of_each_caller_if_their_number_is_as_expected) {
  const cpu_set_t all = processors_of(0);
  const auto count = static_cast<std::size_t>(CPU_COUNT(&all)) - 1;
  std::vector<std::unique_ptr<waiting_thread>> helpers;
  {
    const notes_helpers noted;
    for (std::size_t i = 0; i < count; ++i) helpers.push_back(std::make_unique<waiting_thread>());
  }
  keep_helpers_away(count + 1);
  for (const auto& h : helpers) {
    const cpu_set_t free = processors_of(h->id);
    EXPECT_TRUE(CPU_EQUAL(&free, &all));
  }
  keep_helpers_away(count);
  // Callers on all cores, each on a thread of its own.
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all)) continue;
    std::jthread([&] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
      keep_helpers_away(count);
    }).join();
    for (const auto& h : helpers) {
      const cpu_set_t kept = processors_of(h->id);
      EXPECT_EQ(CPU_COUNT(&kept), 1);
      EXPECT_FALSE(CPU_ISSET(core, &kept));
    }
  }
}

}  // namespace
}  // namespace troupe
