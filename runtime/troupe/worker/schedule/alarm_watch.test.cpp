// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
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

// The test's own alarms; they outlive the source that the watch opens.
class bell {
 public:
  void ring(const gpu_alarm& alarm) {
    const std::scoped_lock guard(lock_);
    rung_.push_back(alarm);
    changed_.notify_all();
  }
  // Waits until the watch has judged all that was rung, which it has when it waits again.
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
      const gpu_alarm heard = of.rung_.front();
      of.rung_.pop_front();
      of.waits_ = false;
      return std::optional(heard);
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

class alarms : public testing::Test {
 protected:
  alarms() {
    EXPECT_TRUE(lanes_.device().make_streams(chooser_));
    lanes_.when_context_lost([this](const failure& why) {
      const std::scoped_lock guard(lock_);
      lost_.push_back(why);
    });
  }
  void watch(std::chrono::milliseconds patience = 30s) {
    watch_.emplace(lanes_.device(), device_, channel_.view().page().probe, [this] { return bell_.open(); }, patience);
  }
  ~alarms() override {
    watch_.reset();
    lanes_.device().mark_all();
    device_.finish();
  }
  void run() {
    operation& op = operations_[ticket_];
    op.slot = static_cast<std::uint32_t>(ticket_);
    op.ticket = ++ticket_;
    op.what = &what_;
    op.engine = &device_;
    lanes_.issue(op, lane);
    lanes_.run_here(op);
  }
  // The texts with which the device was lost.
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

  testing_worker::channel_in_memory channel_{capacity};
  ring_region report_memory_ = channel_.reports();
  ring_writer report_ring_{report_memory_};
  reporter reports_{channel_.view(), report_ring_};
  failure_log failures_;
  recording_device device_;
  bell bell_;
  lane_chooser chooser_{lane_policy::per_actor, 4, 2};
  const troupe_engine_operation what_ = testing_worker::operation_that(&enqueue);
  std::unique_ptr<operation[]> operations_ = std::make_unique<operation[]>(capacity);
  std::mutex lock_;
  std::vector<failure> lost_;
  std::uint64_t ticket_ = 0;
  lane_set lanes_{channel_.view(), operations_.get(), reports_, failures_, wait_policy::latency, true, &device_};
  std::optional<alarm_watch> watch_;
};

using texts = std::vector<std::string>;

TEST_F(alarms, end_a_worker_whose_work_stands_still) {
  watch(alarm_watch::usual_patience);
  run();
  ring_and_wait(43);
  EXPECT_EQ(lost(),
            texts{"the GPU reported Xid 43 (a kernel trapped, or an assertion in it failed), and has done nothing "
                  "for this worker since"});
  EXPECT_FALSE(watch_->is_named());
  EXPECT_TRUE(lanes_.device().is_lost());
}

TEST_F(alarms, mean_nothing_to_a_worker_without_work) {
  watch(alarm_watch::usual_patience);
  EXPECT_EQ(watch_->last_heard(), 0u);
  ring_and_wait(43);
  EXPECT_EQ(lost(), texts{});
  EXPECT_EQ(channel_.view().page().probe.load(), 0u);
  EXPECT_EQ(watch_->last_heard(), 43u);
}

TEST_F(alarms, that_name_the_worker_end_it_at_once_with_the_drivers_words) {
  watch();
  ring_and_wait(43, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(lost(), texts{"the GPU reported Xid 43 (a kernel trapped, or an assertion in it failed) for this worker: "
                          "pid, channel"});
  EXPECT_TRUE(watch_->is_named());
  EXPECT_EQ(channel_.view().page().probe.load(), 0u);
}

// The GPU stands still for everybody until the driver tells whose fault it is.
TEST_F(alarms, of_invalid_accesses_make_the_worker_ask_the_driver_and_wait) {
  watch(alarm_watch::usual_patience);
  run();
  const int before = device_.checks;
  for (const std::uint32_t xid : {13u, 31u}) ring_and_wait(xid);
  while (device_.checks == before) std::this_thread::yield();
  EXPECT_EQ(lost(), texts{});
  EXPECT_EQ(channel_.view().page().probe.load(), 0u);
}

TEST_F(alarms, make_questions_to_the_driver_rare) {
  watch();
  bell_.await_silence();
  run();
  lanes_.device().mark_all();
  const int before = device_.checks;
  std::this_thread::sleep_for(40ms);
  EXPECT_LE(device_.checks, before + 1) << "one per 100 ms, not one per millisecond";
}

TEST_F(alarms, that_name_another_process_do_not_concern_the_worker) {
  watch(alarm_watch::usual_patience);
  run();
  ring_and_wait(43, 1);
  EXPECT_EQ(lost(), texts{});
  EXPECT_EQ(watch_->last_heard(), 0u);
  EXPECT_EQ(channel_.view().page().probe.load(), 0u);
}

// Such as a row of memory that was replaced.
TEST_F(alarms, that_end_no_program_are_judged_by_what_the_gpu_still_does) {
  watch();
  device_.finish();
  run();
  ring_and_wait(63, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(lost(), texts{});
}

// A long kernel makes no progress.
TEST_F(alarms, do_not_end_a_worker_whose_probe_arrives) {
  watch();
  run();
  std::thread answers([this] {
    while (channel_.view().page().probe.load() == 0) {
      std::this_thread::sleep_for(1ms);
      // The device carries out the probe alone, which is the last that was enqueued.
      for (std::uint32_t stream = 0; stream < max_lanes; ++stream)
        if (stream != lane && device_.enqueued(stream) == " marks 1") channel_.view().page().probe.store(1);
    }
  });
  ring_and_wait(43);
  answers.join();
  EXPECT_EQ(lost(), texts{});
}

TEST_F(alarms, do_not_end_a_worker_as_long_as_its_work_makes_progress) {
  constexpr std::chrono::milliseconds patience = 2s;
  watch(patience);
  constexpr int steps = 6;
  for (int i = 0; i < steps; ++i) run();
  std::thread works([this, patience] {
    for (std::uint64_t done = 1; done <= steps; ++done) {
      std::this_thread::sleep_for(patience / 5);
      channel_.view().page().lanes[lane].done.store(done);
    }
  });
  ring_and_wait(43);
  works.join();
  EXPECT_EQ(lost(), texts{});
}

TEST_F(alarms, pass_on_what_the_driver_says_to_the_probe) {
  watch();
  run();
  device_.break_down();
  ring_and_wait(43);
  EXPECT_EQ(lost(), texts{"CUDA_ERROR_ILLEGAL_ADDRESS"});
}

TEST_F(alarms, are_judged_one_after_another) {
  watch();
  device_.finish();  // carries out everything at once
  run();
  for (const std::uint32_t xid : {43u, 43u, 45u}) bell_.ring({.xid = xid, .details = {}});
  bell_.await_silence();
  EXPECT_EQ(lost(), texts{});
}

}  // namespace
}  // namespace troupe
