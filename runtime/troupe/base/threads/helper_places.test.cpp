// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <latch>
#include <set>
#include <thread>
#include <troupe/base/threads/helper_places.hpp>

namespace troupe {
namespace {

cpu_set_t allowed_processors(pid_t thread) {
  cpu_set_t out;
  CPU_ZERO(&out);
  EXPECT_EQ(::sched_getaffinity(thread, sizeof out, &out), 0);
  return out;
}
int first_of(const cpu_set_t& s) {
  int i = 0;
  while (!CPU_ISSET(i, &s)) ++i;
  return i;
}
void stay_on(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
}

// Threads that sleep until the test ends.
class helpers {
 public:
  explicit helpers(std::size_t n) : ids(n), started_(static_cast<std::ptrdiff_t>(n)) {
    for (pid_t& id : ids)
      threads_.emplace_back([this, &id] {
        id = ::gettid();
        started_.count_down();
        end_.wait();
      });
    started_.wait();
  }
  ~helpers() { end_.count_down(); }
  std::vector<pid_t> ids;

 private:
  std::latch started_, end_{1};
  std::vector<std::jthread> threads_;
};

class helper_places_test : public testing::Test {
 protected:
  void TearDown() override { ASSERT_EQ(::sched_setaffinity(0, sizeof all_, &all_), 0); }
  std::size_t count() const { return static_cast<std::size_t>(CPU_COUNT(&all_)); }
  const cpu_set_t all_ = allowed_processors(0);
};

TEST_F(helper_places_test, each_helper_has_a_processor_of_its_own) {
  const helpers team(count() - 1);
  helper_places places;
  places.place(team.ids);
  std::set<int> used;
  for (const pid_t id : team.ids) {
    const cpu_set_t on = allowed_processors(id);
    ASSERT_EQ(CPU_COUNT(&on), 1);
    EXPECT_TRUE(used.insert(first_of(on)).second) << "two helpers are on processor " << first_of(on);
  }
}

TEST_F(helper_places_test, a_helper_leaves_the_processor_to_which_the_caller_moved) {
  const helpers team(count() - 1);
  helper_places places;
  places.place(team.ids);
  for (const pid_t id : team.ids) {
    const int at = first_of(allowed_processors(id));
    stay_on(at);
    places.place(team.ids);
    std::set<int> used{at};
    for (const pid_t other : team.ids)
      EXPECT_TRUE(used.insert(first_of(allowed_processors(other))).second) << "with the caller on processor " << at;
  }
}

TEST_F(helper_places_test, helpers_may_run_on_all_processors_if_there_are_more_or_fewer_than_other_processors) {
  for (const std::size_t n : {count(), count() > 1 ? count() - 2 : count()}) {
    const helpers team(n);
    helper_places places;
    places.place(team.ids);
    EXPECT_FALSE(places.are_placed());
    for (const pid_t id : team.ids) {
      const cpu_set_t on = allowed_processors(id);
      EXPECT_TRUE(CPU_EQUAL(&on, &all_)) << n << " helpers, " << count() << " processors";
    }
  }
}

TEST_F(helper_places_test, a_caller_that_is_kept_in_place_may_run_everywhere_afterwards) {
  {
    const kept_in_place here;
    const cpu_set_t on = allowed_processors(0);
    ASSERT_EQ(CPU_COUNT(&on), 1);
    EXPECT_EQ(first_of(on), ::sched_getcpu());
  }
  const cpu_set_t after = allowed_processors(0);
  EXPECT_TRUE(CPU_EQUAL(&after, &all_));
}

TEST(are_of_this_process, is_false_if_a_thread_has_ended_or_is_of_another_process) {
  std::vector<pid_t> ids;
  {
    const helpers team(2);
    ids = team.ids;
    EXPECT_TRUE(are_of_this_process(ids));
    EXPECT_FALSE(are_of_this_process(std::vector{ids[0], ::getppid()}));
  }
  EXPECT_FALSE(are_of_this_process(ids));
}

}  // namespace
}  // namespace troupe
