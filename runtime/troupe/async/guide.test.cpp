// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The examples of docs/async.md, and a test that the page shows them as they are compiled.
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
/// Turns an asynchronous call of another library into a pending.
pending<int> measure(thread_pool& pool, int channel) {
  promise<int> answer;
  pending<int> reading = answer.get_pending();
  post(pool, [answer = std::move(answer), channel]() mutable {
    if (channel < 0) {
      answer.set(error(reaction::caller_bug, "sensor", "channel is negative; expected at least 0"));
    } else {
      answer.set(channel * 100);
    }
  });
  return reading;
}
// [promise]

// [task]
task<result<int>> difference(thread_pool& pool, int a, int b) {
  pending<int> first = measure(pool, a);  // both run at the same time
  pending<int> second = measure(pool, b);
  co_return co_await first - co_await second;  // an error of either ends the task here
}

task<result<std::string>> report(thread_pool& pool, int channel) {
  const int value = co_await difference(pool, channel, 1);
  result<int> spare = co_await as_result(measure(pool, -1));  // an error does not end the task here
  co_return std::to_string(value) + (spare ? "" : ", no spare");
}
// [task]

// [executor]
/// A queue that an event loop runs once per iteration.
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
      job* const next = work->next;  // the job may destroy itself
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

TEST(guide, shows_three_ways_to_wait) {
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

TEST(guide, shows_tasks_that_unwrap_results) {
  thread_pool pool(2);
  // [start]
  pending<std::string> under_way = start(pool, report(pool, 4));
  result<std::string> words = under_way.get();
  result<int> wrong = sync_wait(difference(pool, -1, 0));
  // [start]
  EXPECT_EQ(*words, "300, no spare");
  EXPECT_EQ(wrong.error().text(), "channel is negative; expected at least 0");
}

TEST(guide, shows_a_custom_executor) {
  thread_pool pool(1);
  turn_executor loop;
  auto q = start(loop, difference(pool, 2, 1));
  while (!q.ready()) loop.run_turn();
  EXPECT_EQ(*q.get(), 100);
}

TEST(guide, shows_how_to_cancel) {
  promise<int> slow;
  slow.on_cancel([&] { slow.set(cancelled("measuring")); });
  std::stop_source stop;
  auto q = start(patient(slow.get_pending()), stop.get_token());
  stop.request_stop();
  EXPECT_EQ(q.get().error().text(), "measuring was cancelled before it completed");
}

TEST(guide, shows_how_to_wait_for_several_pendings) {
  thread_pool pool(2);
  // [when]
  auto [left, right] = *when_all(measure(pool, 1), measure(pool, 2)).get();       // results of all
  first_answer<int> first = *when_any(measure(pool, 1), measure(pool, 2)).get();  // the other one is detached
  // [when]
  EXPECT_EQ(*left + *right, 300);
  EXPECT_EQ(*first.answer, first.index == 0 ? 100 : 200);
}

std::string contents(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

/// Returns the lines between two lines `// [name]`, without the indentation of the first.
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
