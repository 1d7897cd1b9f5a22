// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <troupe/base/library_helpers.hpp>

namespace troupe {
namespace {

std::string name_of_this_thread() {
  std::array<char, 16> out{};
  EXPECT_EQ(::prctl(PR_GET_NAME, out.data()), 0);
  return out.data();
}

// A thread that waits until the test ends.
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

TEST(library_helpers, are_the_threads_that_were_started_meanwhile) {
  const std::string before = name_of_this_thread();
  const waiting_thread other;
  std::optional<names_helpers> named(std::in_place);
  const waiting_thread one, two;
  named.reset();
  const waiting_thread later;
  EXPECT_EQ(name_of_this_thread(), before);
  std::vector<pid_t> found = library_helpers();
  std::sort(found.begin(), found.end());
  std::vector<pid_t> expected{one.id, two.id};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

TEST(library_helpers, of_another_number_stay_where_they_are) {
  cpu_set_t before, after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  keep_helpers_away(0);
  keep_helpers_away(100'000);
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace troupe
