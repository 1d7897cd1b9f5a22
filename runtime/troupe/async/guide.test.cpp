// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The examples of docs/async.md, and a test that the guide shows them as they are compiled.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <troupe/async/promise.hpp>
#include <troupe/async/thread_pool.hpp>
#include <troupe/async/when.hpp>

namespace troupe {
namespace {

// [promise]
/// Somebody else's asynchronous call, turned into a pending.
pending<int> measure(thread_pool& pool, int channel) {
  promise<int> answer;
  pending<int> reading = answer.get_pending();
  post(pool, [answer = std::move(answer), channel]() mutable {
    if (channel < 0) {
      answer.set(error(reaction::caller_bug, "sensor", "channel is negative: give 0 or more"));
    } else {
      answer.set(channel * 100);
    }
  });
  return reading;
}
// [promise]

// [task]
task<result<int>> difference(thread_pool& pool, int a, int b) {
  pending<int> first = measure(pool, a);  // both are under way
  pending<int> second = measure(pool, b);
  co_return co_await first - co_await second;  // an error of either ends the task here
}

task<result<std::string>> report(thread_pool& pool, int channel) {
  const int value = co_await difference(pool, channel, 1);
  result<int> spare = co_await as_result(measure(pool, -1));  // this error is ours to handle
  co_return std::to_string(value) + (spare ? "" : ", no spare");
}
// [task]

// [executor]
/// A queue that the owner of an event loop runs once in each of its turns.
class turn_executor final : public executor {
 public:
  void post(job& work) noexcept override {
    const std::lock_guard lock(mutex_);
    work.next = nullptr;
    *last_ = &work;
    last_ = &work.next;
  }
  void run_turn() {
    job* work;
    {
      const std::lock_guard lock(mutex_);
      work = std::exchange(first_, nullptr);
      last_ = &first_;
    }
    while (work) {
      job* const next = work->next;  // running a job may end its life
      work->run(work);
      work = next;
    }
  }

 private:
  std::mutex mutex_;
  job* first_ = nullptr;
  job** last_ = &first_;
};
// [executor]

// [cancel]
task<result<int>> patient(pending<int> answer) {
  co_return co_await std::move(answer).cancel_on(co_await get_stop_token());
}
// [cancel]

TEST(guide, waiting_in_three_ways) {
  using namespace std::chrono_literals;
  thread_pool pool(2);
  // [waiting]
  result<int> now = measure(pool, 3).get();  // blocks

  pending<int> reading = measure(pool, 4);
  while (!reading.get_for(10ms)) std::this_thread::yield();  // nothing yet: do something else

  pending<std::string> text = measure(pool, 5).then(pool, [](result<int> r) { return std::to_string(r.value_or(0)); });
  // [waiting]
  EXPECT_EQ(*now, 300);
  EXPECT_EQ(*text.get(), "500");
}

TEST(guide, tasks_unwrap_results) {
  thread_pool pool(2);
  // [start]
  pending<std::string> under_way = start(pool, report(pool, 4));
  result<std::string> words = under_way.get();
  result<int> wrong = sync_wait(difference(pool, -1, 0));
  // [start]
  EXPECT_EQ(*words, "300, no spare");
  EXPECT_EQ(wrong.error().text(), "channel is negative: give 0 or more");
}

TEST(guide, an_executor_of_ones_own) {
  thread_pool pool(1);
  turn_executor loop;
  auto q = start(loop, difference(pool, 2, 1));
  while (!q.ready()) loop.run_turn();
  EXPECT_EQ(*q.get(), 100);
}

TEST(guide, cancelling) {
  promise<int> slow;
  slow.on_cancel([&] { slow.set(cancelled("measuring")); });
  std::stop_source stop;
  auto q = start(patient(slow.get_pending()), stop.get_token());
  stop.request_stop();
  EXPECT_EQ(q.get().error().text(), "measuring was cancelled before it was done");
}

TEST(guide, several_at_once) {
  thread_pool pool(2);
  // [when]
  auto [left, right] = *when_all(measure(pool, 1), measure(pool, 2)).get();       // results of all
  first_answer<int> first = *when_any(measure(pool, 1), measure(pool, 2)).get();  // the others go on by themselves
  // [when]
  EXPECT_EQ(*left + *right, 300);
  EXPECT_EQ(*first.answer, first.index == 0 ? 100 : 200);
}

std::string contents(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

/// The lines between two lines `// [name]`, less the indentation of the first.
std::vector<std::string> sections(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  std::string section;
  bool inside = false;
  std::size_t indent = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != line.npos && line.compare(start, 4, "// [") == 0 && line.back() == ']') {
      if (inside) found.push_back(std::exchange(section, {}));
      inside = !inside;
      indent = start;
    } else if (inside) {
      section += (line.empty() ? line : line.substr(indent)) + "\n";
    }
  }
  return found;
}

TEST(guide, shows_the_examples_as_they_are_compiled) {
  const std::filesystem::path here = TROUPE_GUIDE_FOLDER;
  const std::string guide = contents(here / "../../../docs/async.md");
  ASSERT_FALSE(guide.empty());
  std::size_t shown = 0;
  for (const char* file : {"guide.test.cpp", "sender.test.cpp", "../async_asio/adapter.test.cpp"}) {
    for (const std::string& section : sections(contents(here / file))) {
      EXPECT_NE(guide.find("```cpp\n" + section + "```"), std::string::npos) << "docs/async.md lacks:\n" << section;
      ++shown;
    }
  }
  EXPECT_EQ(shown, 9u);
}

}  // namespace
}  // namespace troupe
