// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/worker/schedule/alarm_watch.hpp>
#include <troupe/worker/schedule/lanes.hpp>
#include <troupe/worker/testing/channel_in_memory.hpp>
#include <troupe/worker/testing/one_operation.hpp>
#include <troupe/worker/testing/recording_device.hpp>

namespace troupe {
namespace {

using testing_worker::recording_device;
using namespace std::chrono_literals;

constexpr std::uint32_t capacity = 64, lane = 2;

// The alarms of a test. They outlive the source that the watch opens.
class bell {
 public:
  void ring(const gpu_alarm& alarm) {
    const std::scoped_lock guard(lock_);
    rung_.push_back(alarm);
    changed_.notify_all();
  }
  // Waits until the watch has classified all alarms, so that it waits for the next one.
  void await_silence() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return rung_.empty() && waits_; });
  }
  result<std::unique_ptr<alarm_source>> open() {
    return std::unique_ptr<alarm_source>(std::make_unique<source>(*this));
  }

 private:
  struct source final : alarm_source {
    explicit source(bell& b) : of(b) {}
    result<std::optional<gpu_alarm>> wait(std::chrono::milliseconds) override {
      std::unique_lock guard(of.lock_);
      of.waits_ = true;
      of.changed_.notify_all();
      const bool any = of.changed_.wait_for(guard, 20ms, [&] { return !of.rung_.empty(); });
      if (!any) return std::optional<gpu_alarm>();
      const gpu_alarm alarm = of.rung_.front();
      of.rung_.pop_front();
      of.waits_ = false;
      return std::optional(alarm);
    }
    bell& of;
  };
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<gpu_alarm> rung_;
  bool waits_ = false;
};

bool enqueue(void* device, const void*, const troupe_engine_call* c, troupe_engine_failure*) {
  static_cast<recording_device*>(device)->run(c->stream);
  return true;
}

// A worker whose operations are only enqueued.
struct worker {
  void watch(protocol::workers_page& all, bell& alarms, std::chrono::milliseconds probe_timeout) {
    listening.emplace(lanes.device(), gpu, channel.view().page(), all, [&] { return alarms.open(); }, probe_timeout);
  }
  testing_worker::channel_in_memory channel{capacity};
  ring_region report_memory = channel.reports();
  ring_writer report_ring{report_memory};
  reporter reports{channel.view(), report_ring};
  failure_log failures;
  recording_device gpu;
  std::unique_ptr<operation[]> operations = std::make_unique<operation[]>(capacity);
  lane_set lanes{channel.view(), operations.get(), reports, failures, wait_policy::latency, true, &gpu};
  std::optional<alarm_watch> listening;
};

class gpu_alarm_watch : public testing::Test {
 protected:
  gpu_alarm_watch() {
    EXPECT_TRUE(lanes_.device().make_streams(chooser_));
    lanes_.when_context_lost([this](const failure& why) {
      const std::scoped_lock guard(lock_);
      lost_.push_back(why);
    });
    all_.signs = 1000;
  }
  void watch(std::chrono::milliseconds probe_timeout = 30s) { worker_.watch(all_, bell_, probe_timeout); }
  ~gpu_alarm_watch() override {
    worker_.listening.reset();
    lanes_.device().mark_all();
    device_.finish();
  }
  void run() {
    operation& op = worker_.operations[ticket_];
    op.slot = static_cast<std::uint32_t>(ticket_);
    op.ticket = ++ticket_;
    op.what = &what_;
    op.engine = &device_;
    lanes_.issue(op, lane);
    lanes_.run_here(op);
  }
  // Requests probes, as another worker of the device does.
  void ask() {
    all_.questions.fetch_add(1);
    futex_wake(all_.questions, futex_scope::shared);
  }
  protocol::progress_page& page() { return worker_.channel.view().page(); }
  // Returns the texts of the errors with which the device was lost.
  std::vector<std::string> lost() {
    const std::scoped_lock guard(lock_);
    std::vector<std::string> out;
    for (const failure& f : lost_) out.push_back(f.text);
    return out;
  }
  void ring_and_wait(std::uint32_t xid, std::uint32_t process = 0) {
    bell_.ring({.xid = xid, .process = process, .details = "pid, channel"});
    bell_.await_silence();
  }

  // Counts signs on behalf of other workers until it is destroyed.
  std::jthread others(std::chrono::milliseconds each = 1ms) {
    return std::jthread([this, each](const std::stop_token& enough) {
      for (; !enough.stop_requested(); std::this_thread::sleep_for(each)) all_.signs.fetch_add(1);
    });
  }

  protocol::workers_page all_;
  bell bell_;
  worker worker_;
  recording_device& device_ = worker_.gpu;
  lane_set& lanes_ = worker_.lanes;
  const lane_chooser chooser_{lane_policy::per_actor, 4, 2};
  const troupe_engine_operation what_ = testing_worker::operation_that(&enqueue);
  std::mutex lock_;
  std::vector<failure> lost_;
  std::uint64_t ticket_ = 0;
};

using texts = std::vector<std::string>;

TEST_F(gpu_alarm_watch, a_worker_without_progress_is_stopped) {
  watch(50ms);
  run();
  ring_and_wait(43);
  EXPECT_EQ(lost(),
            texts{"the GPU reported Xid 43 (a kernel trapped, or an assertion in it failed), and has done nothing "
                  "for this worker since"});
  EXPECT_FALSE(worker_.listening->is_named());
  EXPECT_TRUE(lanes_.device().is_lost());
}

TEST_F(gpu_alarm_watch, a_worker_without_work_is_not_stopped) {
  watch(50ms);
  EXPECT_EQ(worker_.listening->last_detected(), 0u);
  const auto signs = others();
  ring_and_wait(43);
  EXPECT_EQ(lost(), texts{});
  EXPECT_EQ(worker_.listening->last_detected(), 43u);
}

TEST_F(gpu_alarm_watch, a_worker_named_by_the_alarm_is_stopped_at_once_with_its_text) {
  watch();
  run();
  ring_and_wait(43, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(lost(), texts{"the GPU reported Xid 43 (a kernel trapped, or an assertion in it failed) for this worker: "
                          "pid, channel"});
  EXPECT_TRUE(worker_.listening->is_named());
  EXPECT_EQ(page().probe.load(), 0u);
}

TEST_F(gpu_alarm_watch, an_alarm_that_names_a_worker_without_work_is_ignored) {
  watch();
  ring_and_wait(43, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(lost(), texts{});
  EXPECT_FALSE(worker_.listening->is_named());
}

// The driver knows which process is at fault, but not at once.
TEST_F(gpu_alarm_watch, the_driver_is_queried_repeatedly_after_an_invalid_access) {
  watch(50ms);
  run();
  for (const std::uint32_t xid : {13u, 31u}) {
    const int before = device_.checks;
    ring_and_wait(xid);
    EXPECT_GE(device_.checks, before + 3) << xid;
    EXPECT_LE(device_.checks, before + 30) << xid;
  }
  EXPECT_EQ(lost(), texts{});
}

TEST_F(gpu_alarm_watch, the_driver_is_queried_less_often_while_alarms_are_watched) {
  watch();
  bell_.await_silence();
  run();
  lanes_.device().mark_all();
  const int before = device_.checks;
  std::this_thread::sleep_for(40ms);
  EXPECT_LE(device_.checks, before + 1) << "one per 100 ms, not one per millisecond";
}

TEST_F(gpu_alarm_watch, an_alarm_that_names_another_process_is_ignored) {
  watch(alarm_watch::usual_probe_timeout);
  run();
  ring_and_wait(43, 1);
  EXPECT_EQ(lost(), texts{});
  EXPECT_EQ(worker_.listening->last_detected(), 0u);
  EXPECT_EQ(page().probe.load(), 0u);
}

// Such an alarm may report a row of memory that was replaced.
TEST_F(gpu_alarm_watch, an_alarm_that_ends_no_program_is_classified_by_probe) {
  watch();
  device_.finish();
  run();
  ring_and_wait(63, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(lost(), texts{});
}

// A long kernel makes no progress.
TEST_F(gpu_alarm_watch, a_worker_whose_probe_completes_is_not_stopped) {
  watch();
  run();
  device_.finish_at(page().probe);
  const auto signs = others();
  ring_and_wait(43);
  EXPECT_EQ(lost(), texts{});
  EXPECT_EQ(page().probe.load(), 1u);
}

TEST_F(gpu_alarm_watch, a_worker_without_progress_is_stopped_while_others_count_signs) {
  watch(10min);
  run();
  const auto signs = others();
  ring_and_wait(43);
  EXPECT_EQ(lost().size(), 1u);
  EXPECT_GE(all_.signs.load(), 1000 + alarm_watch::max_missed_signs);
}

// Another thread may be mapping memory at that time.
TEST_F(gpu_alarm_watch, a_worker_whose_probe_has_not_been_sent_is_not_stopped) {
  watch(20ms);
  run();
  device_.driver_is_stuck = true;
  const auto signs = others();
  bell_.ring({.xid = 43, .details = {}});
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(lost(), texts{});
  device_.finish_at(page().probe);
  device_.driver_is_stuck = false;
  bell_.await_silence();
  EXPECT_EQ(lost(), texts{});
}

// There may be two standbys.
TEST_F(gpu_alarm_watch, a_worker_is_not_stopped_before_the_minimum_time_however_many_signs_are_counted) {
  watch(10min);
  run();
  const std::int64_t start = now_ns();
  const auto signs = others(0ms);
  ring_and_wait(43);
  EXPECT_EQ(lost().size(), 1u);
  EXPECT_GE(now_ns() - start, alarm_watch::max_lag_ns);
}

TEST_F(gpu_alarm_watch, invalid_accesses_are_not_classified_by_signs) {
  watch(100ms);
  run();
  const auto signs = others();
  ring_and_wait(13);
  EXPECT_EQ(lost(), texts{});
}

TEST_F(gpu_alarm_watch, a_standby_counts_signs_when_the_gpu_works_again) {
  bell silent;
  worker standby;
  EXPECT_TRUE(standby.lanes.device().make_streams(chooser_));
  standby.gpu.finish();
  standby.watch(all_, silent, 10min);
  watch(10min);
  run();
  ring_and_wait(43);
  EXPECT_EQ(lost().size(), 1u);
  EXPECT_GE(all_.signs.load(), 1000 + alarm_watch::max_missed_signs);
  EXPECT_GE(standby.channel.view().page().repeated.load(), alarm_watch::max_missed_signs);
  EXPECT_EQ(page().probe.load(), 0u);
}

TEST_F(gpu_alarm_watch, a_worker_with_work_counts_no_signs) {
  watch(10min);
  run();
  device_.finish_at(page().probe);
  device_.finish_at(page().repeated);
  ask();
  while (page().probe.load() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(all_.signs.load(), 1000u);
  EXPECT_EQ(all_.asked.load(), 0u);
}

TEST_F(gpu_alarm_watch, no_worker_counts_signs_before_the_gpu_works) {
  watch(10min);
  ask();
  while (all_.asked.load() == 0) std::this_thread::yield();  // the application knows that this worker will count signs
  while (device_.enqueued(chooser_.streams()) == "") std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(device_.enqueued(chooser_.streams()), " marks 1 marks 1");
  EXPECT_EQ(all_.signs.load(), 1000u);
}

// A fault of another program once stopped a GPU for 5 s.
TEST_F(gpu_alarm_watch, a_standby_waits_for_the_gpu_longer_than_the_probe_timeout) {
  watch(1ms);
  ask();
  while (all_.asked.load() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  ask();
  while (all_.asked.load() == 1) std::this_thread::yield();  // a question that comes meanwhile is answered too
  EXPECT_EQ(all_.signs.load(), 1000u);
  device_.finish();
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (all_.signs.load() == 1000 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_GT(all_.signs.load(), 1000u);
}

TEST_F(gpu_alarm_watch, a_worker_that_makes_progress_is_not_stopped) {
  constexpr std::chrono::milliseconds probe_timeout = 2s;
  watch(probe_timeout);
  constexpr int steps = 6;
  for (int i = 0; i < steps; ++i) run();
  std::thread works([this, probe_timeout] {
    for (std::uint64_t done = 1; done <= steps; ++done) {
      std::this_thread::sleep_for(probe_timeout / 5);
      page().lanes[lane].done.store(done);
    }
  });
  ring_and_wait(43);
  works.join();
  EXPECT_EQ(lost(), texts{});
}

TEST_F(gpu_alarm_watch, the_drivers_error_for_the_probe_is_reported) {
  watch();
  run();
  device_.break_down();
  ring_and_wait(43);
  while (lost().empty()) std::this_thread::yield();
  EXPECT_EQ(lost(), texts{"CUDA_ERROR_ILLEGAL_ADDRESS"});
}

TEST_F(gpu_alarm_watch, alarms_are_classified_one_after_another) {
  watch();
  device_.finish();  // carries out everything at once
  run();
  for (const std::uint32_t xid : {43u, 43u, 45u}) bell_.ring({.xid = xid, .details = {}});
  bell_.await_silence();
  EXPECT_EQ(lost(), texts{});
}

}  // namespace
}  // namespace troupe
