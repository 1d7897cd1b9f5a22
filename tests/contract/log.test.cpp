// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of what a runtime writes to its log sink.
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <mutex>
#include <vector>

#include "harness.hpp"

namespace troupe::whole {
namespace {

using testing_actor::break_handle;
using testing_actor::say;

class logging : public testing::Test {
 protected:
  struct line {
    log_level level;
    std::string text;
  };
  log_sink sink() {
    return [this](log_level level, std::string_view text) {
      const std::scoped_lock guard(lock_);
      lines_.push_back({level, std::string(text)});
    };
  }
  bool says(log_level level, std::string_view part) {
    const std::scoped_lock guard(lock_);
    return std::any_of(lines_.begin(), lines_.end(), [&](const line& l) {
      return l.level == level && l.text.starts_with("logged: ") && l.text.find(part) != l.text.npos;
    });
  }
  // Without the workers' remarks on machines that can confine them only in part.
  static device_options logged_alone() {
    return with_test_engines({.name = "logged", .confinement = confinement::off});
  }
  std::mutex lock_;
  std::vector<line> lines_;
};

TEST_F(logging, writes_lines_that_name_the_device) {
  {
    runtime rt({.log = sink()});
    const device gpu = rt.open_device(with_test_engines({.name = "logged", .restarts = 1}));
    ASSERT_OK(gpu.started().get());
    ::kill(gpu.statistics().worker_pid.value(), SIGKILL);
    while (gpu.statistics().faults == 0) EXPECT_OK(gpu.ping().get());
    ASSERT_OK(gpu.close().get());
  }
  EXPECT_TRUE(says(log_level::info, "serving"));
  EXPECT_TRUE(says(log_level::warning, "fault"));
  EXPECT_TRUE(says(log_level::info, "closing"));
  EXPECT_TRUE(says(log_level::info, "stopped"));
}

TEST_F(logging, reports_a_fault_record_that_cannot_be_written) {
  const std::string folder = std::filesystem::temp_directory_path() / ("troupe-log-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  {
    runtime rt({.log = sink()});
    const device gpu = rt.open_device(with_test_engines({.name = "logged", .restarts = 1, .black_box_folder = folder}));
    ASSERT_OK(gpu.started().get());
    std::filesystem::remove(folder);
    ::kill(gpu.statistics().worker_pid.value(), SIGKILL);
    while (gpu.statistics().faults == 0) EXPECT_OK(gpu.ping().get());
  }
  EXPECT_TRUE(says(log_level::warning, "could not write the fault record to " + folder));
}

TEST_F(logging, writes_remarks_of_engines_up_to_a_limit) {
  {
    runtime rt({.log = sink()});
    const device gpu = rt.open_device(logged_alone());
    ASSERT_OK(gpu.ask(say{.text = "a file is damaged\n\x1b[2J"}).get());
    ASSERT_OK(gpu.ask(say{.text = std::string(100'000, 'x')}).get());
    ASSERT_OK(gpu.ask(say{.text = "again", .times = 10'000}).get());
    EXPECT_EQ(gpu.ping(5).get().value(), 5u);
    while (!says(log_level::warning, "further remarks are not logged")) std::this_thread::yield();
    ASSERT_OK(gpu.close().get());
    EXPECT_EQ(gpu.statistics().faults, 0u);
  }
  EXPECT_TRUE(says(log_level::warning, "a file is damaged"));
  const std::scoped_lock guard(lock_);
  EXPECT_EQ(
      std::count_if(lines_.begin(), lines_.end(), [](const line& l) { return l.text.find("again") != l.text.npos; }),
      98);
  for (const line& l : lines_) EXPECT_EQ(l.text.find_first_of("\n\x1b"), l.text.npos);
}

// Otherwise, a slow disk would delay the thread that serves all devices.
TEST_F(logging, has_fault_records_written_by_a_thread_that_serves_no_device) {
  const std::string folder = std::filesystem::temp_directory_path() / ("troupe-box-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  {
    std::atomic<bool> blocks{true};
    runtime rt({.log = [&](log_level, std::string_view) { blocks.wait(true); }});
    const device gpu = rt.open_device(with_test_engines({.restarts = 1, .black_box_folder = folder}));
    kill_worker(gpu);
    while (gpu.statistics().faults == 0) (void)gpu.ping().get();
    EXPECT_OK(gpu.ping().get());
    EXPECT_EQ(files(), 0);
    blocks.store(false);
    blocks.notify_all();
    ASSERT_OK(gpu.close().get());
  }
  EXPECT_EQ(files(), 1);
  std::filesystem::remove_all(folder);
}

TEST_F(logging, counts_the_messages_that_it_drops_if_the_sink_is_slow) {
  constexpr int restarts = 600;
  {
    std::atomic<bool> blocks{true};
    runtime rt({.log = [&, write = sink()](log_level level, std::string_view text) {
      blocks.wait(true);
      write(level, text);
    }});
    const device gpu = rt.open_device(logged_alone());
    ASSERT_OK(gpu.started().get());
    device_watch events = gpu.watch();
    for (int seen = 0; seen < restarts;) {
      EXPECT_FALSE(gpu.ask(break_handle{.breaks = true}).get());
      while (const auto e = events.poll()) seen += e->kind == event_kind::library_restarted;
    }
    blocks.store(false);
    blocks.notify_all();
    ASSERT_OK(gpu.close().get());
  }
  // Messages that are written after the sink has become fast again are kept, too.
  int kept = 0, dropped = 0;
  for (const line& l : lines_) {
    kept += l.text.find("opened again") != l.text.npos;
    if (l.text.find(" messages were dropped: the log sink is too slow") == l.text.npos) continue;
    EXPECT_EQ(l.level, log_level::warning);
    dropped += std::stoi(l.text.substr(l.text.find_first_of("0123456789")));
  }
  EXPECT_GE(kept, 499) << "one of the 500 messages is about the start";
  EXPECT_GE(kept + dropped, restarts);
  EXPECT_LE(kept + dropped, restarts + 2) << "beside them, at most the messages about the end are dropped";
  EXPECT_TRUE(says(log_level::warning, " messages were dropped: the log sink is too slow"));
}

// A sink that blocks delays the continuations of its device, but neither its answers nor its next worker.
TEST_F(logging, lets_a_sink_use_the_device) {
  std::atomic<int> answered{0};
  std::atomic<const device*> asked{nullptr};
  std::optional<device> gpu;  // outlives the runtime, which logs its end
  runtime rt({.log = [&](log_level, std::string_view) {
    const device* const d = asked.load();
    if (d != nullptr && d->state() == device_state::ready && d->ping().get()) answered.fetch_add(1);
  }});
  gpu.emplace(rt.open_device(with_test_engines({.restarts = 1})));
  ASSERT_OK(gpu->started().get());
  asked.store(&*gpu);
  ::kill(gpu->statistics().worker_pid.value(), SIGKILL);
  while (gpu->statistics().faults == 0) (void)gpu->ping().get();
  while (answered.load() == 0) std::this_thread::yield();
  ASSERT_OK(gpu->close().get());
}

}  // namespace
}  // namespace troupe::whole
