// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that problems of one device do not affect others: another device of the same runtime continues, and so does the
// application.
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <mutex>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/device/managed.hpp>
#include <troupe/device/testing/descriptor_limit.hpp>
#include <vector>

#include "fake_runtime.hpp"
#include "harness.hpp"

namespace troupe::whole {
namespace {

using clock = std::chrono::steady_clock;

std::uint64_t resident_bytes() {
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

class isolation_of_devices : public testing::Test {
 protected:
  // Opens a device with a worker that does `mode`, in addition to the other device.
  device open(const char* mode, device_options o = {}) {
    fake_.behave(mode);
    o.engine = "host";
    o.name = "hostile";
    o.standbys = 0;
    o.runtime_folder = fake_.folder();
    return rt_.open_device(o);
  }
  // Kills the worker of the other device, and returns how long it takes until that device serves again.
  std::chrono::milliseconds recovery() {
    const auto faults = other_.statistics().faults;
    kill_worker(other_);
    const auto began = clock::now();
    while (other_.statistics().faults == faults || !other_.ping(1).get()) std::this_thread::yield();
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - began);
  }

  fake_runtime fake_;
  std::mutex lock_;
  std::vector<std::string> lines_;
  runtime rt_{{.log = [this](log_level, std::string_view text) {
    const std::scoped_lock guard(lock_);
    lines_.emplace_back(text);
  }}};
  device other_ = rt_.open_device({.engine = "host", .name = "other", .restarts = 1000});
};

// The close takes 10 s, during which this runtime must continue to work.
TEST_F(isolation_of_devices, a_descriptor_that_takes_long_to_close_delays_no_other_device) {
  ASSERT_OK(other_.started().get());
  const device hostile = open("ready and lingers", {.restarts = 0});
  EXPECT_TRUE(is_error(error_of(hostile.stopped()), reaction::fatal, {"the worker sent", "descriptors"}));
  EXPECT_LT(recovery(), 5s);
  ASSERT_OK(other_.close().get());
}

TEST_F(isolation_of_devices, a_flood_of_messages_ends_the_worker_that_sends_it) {
  ASSERT_OK(other_.started().get());
  for (const char* what : {"pong", "loaded", "restarted", "remark", "names"}) {
    SCOPED_TRACE(what);
    const fake_runtime fake;
    fake.behave(std::string("ready and floods ") + what);
    [[maybe_unused]] const std::uint64_t before = resident_bytes();
    const auto began = clock::now();
    const device hostile = rt_.open_device(
        {.engine = "host", .name = "hostile", .standbys = 0, .restarts = 0, .runtime_folder = fake.folder()});
    EXPECT_TRUE(is_error(error_of(hostile.stopped()), reaction::fatal, {"the worker sent"}));
    EXPECT_LT(clock::now() - began, 5s) << "a second, on a machine with nothing else to do";
#if !TROUPE_ADDRESS_SANITIZER && !TROUPE_THREAD_SANITIZER  // which keep memory that has been freed
    EXPECT_LT(resident_bytes(), before + (8 << 20));
#endif
  }
  EXPECT_OK(other_.ping(1).get());
}

TEST_F(isolation_of_devices, a_worker_that_says_twice_that_it_is_ready_is_ended) {
  const device hostile = open("ready twice", {.restarts = 0});
  EXPECT_TRUE(is_error(error_of(hostile.stopped()), reaction::fatal, {"\"ready\" twice"}));
}

TEST_F(isolation_of_devices, an_invalid_answer_about_memory_ends_the_worker) {
  const device hostile = open("ready and garbles", {.restarts = 0});
  ASSERT_OK(hostile.started().get());
  const auto began = clock::now();
  EXPECT_FALSE(alloc_managed<float>(hostile, 1000).readable());
  EXPECT_TRUE(is_error(error_of(hostile.stopped()), reaction::fatal, {"memory", "invalid answer"}));
  EXPECT_LT(clock::now() - began, 10s) << "no thread waits for the start_timeout";
}

// A shortage of descriptors is not a fault: the device waits until it passes.
#if !TROUPE_ADDRESS_SANITIZER  // which itself needs two descriptors when it checks the type of an object
TEST(a_temporary_shortage_of_descriptors, stops_no_device) {
  runtime rt;
  const device gpu = rt.open_device({.engine = "host", .standbys = 0, .restarts = 1});
  ASSERT_OK(gpu.started().get());
  {
    const auto next = static_cast<rlim_t>(file_descriptor(::dup(0)).get());
    const testing_device::descriptor_limit full(next > 12 ? next - 12 : next);
    kill_worker(gpu);
    while (gpu.statistics().faults == 0) std::this_thread::yield();
    std::this_thread::sleep_for(1s);  // during this time, four launches fail
    EXPECT_EQ(gpu.state(), device_state::recovering);
  }
  EXPECT_OK(gpu.ping(1).get());
  EXPECT_EQ(gpu.statistics().faults, 1u);
}
#endif

}  // namespace
}  // namespace troupe::whole
