// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/protocol/report.hpp>
#include <troupe/protocol/shared_memory.hpp>

#include <tests/contract/harness.hpp>
#include <tests/support/processes.hpp>
#include <thread>

namespace troupe::whole::hostile_tests {

using namespace testing_actor;

// The channel of a worker, mapped writable as the worker could map it.
class channel_of_worker {
 public:
  channel_of_worker(const device& gpu, std::uint32_t capacity) {
    (void)gpu.started().get();  // the process is known only after this
    const std::string folder = "/proc/" + std::to_string(gpu.statistics().worker_pid.value()) + "/fd";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path(), gone).string().find("troupe-channel") == std::string::npos)
        continue;
      auto file = memory_file::open(file_descriptor(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC)));
      if (file) memory_ = mapping::map(*file, map_access::read_write).value();
    }
    view_ = {protocol::layout::for_capacity(capacity), memory_.data()};
  }
  bool found() const { return static_cast<bool>(memory_); }
  const protocol::view& operator*() const { return view_; }
  const protocol::view* operator->() const { return &view_; }
  std::span<std::byte> bytes() const { return memory_.bytes(); }

 private:
  mapping memory_;
  protocol::view view_;
};

// Stops all threads of the worker, which then does nothing until it is killed.
inline void stop_worker(const device& gpu) {
  kill_worker(gpu, SIGSTOP);
  while (!has_stopped(gpu.statistics().worker_pid.value())) std::this_thread::yield();
}

class hostile : public testing::Test {
 protected:
  static constexpr std::uint32_t capacity = 256;
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.mailbox_capacity = capacity, .close_timeout = 100ms}));
  buffer<float> x = gpu.alloc<float>(1000);

  // Queues a hundred requests, none of which progresses by itself, and lets `damage` change the shared memory.
  void with_damage(const std::function<void(const protocol::view&)>& damage, const char* what, int undetected = 0) {
    EXPECT_OK(gpu.upload(x, counting(1000)).get());
    const channel_of_worker channel(gpu, capacity);
    ASSERT_TRUE(channel.found());
    tally answers;
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    for (int i = 0; i < 50; ++i) answers.watch(gpu.ask(increment{.x = x, .n = 1000}));
    for (int i = 0; i < 50; ++i) answers.watch(gpu.download(x));
    damage(*channel);
    answers.await_all();
    EXPECT_EQ(answers.answered(), 100);
    EXPECT_EQ(answers.fine(), undetected);
    EXPECT_EQ(answers.failed(reaction::context_lost), 100 - undetected);
    EXPECT_TRUE(is_error(error_of(b.answer().get()), reaction::context_lost, {"testing.hold", "impossible", what}));
    EXPECT_TRUE(is_error(error_of(gpu.stopped()), reaction::context_lost, {"impossible", what}));
    EXPECT_TRUE(is_error(error_of(gpu.ping()), reaction::stopped, {"impossible", what}));
    EXPECT_TRUE(has_ended(gpu.statistics().worker_pid.value())) << "the worker was not ended";
    EXPECT_EQ(gpu.statistics().depth, 0u);
  }

  // Lets `damage` change the shared memory while one request runs on a device of its own, which must start again.
  static void with_damage_and_restart(const std::function<void(const protocol::view&)>& damage, const char* what) {
    runtime own;
    const device lied_to = own.open_device(with_test_engines({.mailbox_capacity = capacity, .restarts = 1}));
    blockade b(lied_to);
    ASSERT_TRUE(b.entered());
    const channel_of_worker channel(lied_to, capacity);
    ASSERT_TRUE(channel.found());
    damage(*channel);
    EXPECT_TRUE(is_error(error_of(b.answer().get()), reaction::context_lost, {"impossible", what}));
    EXPECT_EQ(lied_to.ping(3).get().value_or(0), 3u);
  }

  // Wakes the application's sleeping threads, as a worker does.
  static void announce(const protocol::view& channel) {
    channel.page().epoch.fetch_add(1);
    futex_wake(channel.page().epoch, futex_scope::shared);
    channel.page().idle_epoch.fetch_add(1);
    futex_wake(channel.page().idle_epoch, futex_scope::shared);
  }
  // Counts the first operation of a lane as done, and wakes the application.
  static void finish_one(const protocol::view& channel, std::size_t lane) {
    channel.page().lanes[lane].done.store(1);
    announce(channel);
  }
  // Returns the requests that were sent but have not started, by ticket, from this program's own memory of requests.
  static std::map<std::uint64_t, std::uint32_t> waiting(const protocol::view& channel) {
    std::map<std::uint64_t, std::uint32_t> out;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find("troupe-mailbox") == std::string::npos || line.find(" rw-s ") == std::string::npos) continue;
      const auto* entries = reinterpret_cast<const std::uint64_t*>(std::stoull(line, nullptr, 16) + channel.at.queue);
      for (std::uint32_t i = 0; i < channel.at.capacity; ++i) {
        const std::uint64_t ticket = entries[i] >> 20;
        const auto slot = static_cast<std::uint32_t>(entries[i] & 0xfffff);
        if (ticket > protocol::ticket_of(channel.slot(slot).load())) out.emplace(ticket, slot);
      }
    }
    return out;
  }
  // Publishes a report and counts it. `extra` zero bytes follow the header.
  static constexpr std::size_t three_empty_texts = 6;
  static void report(const protocol::view& channel, const protocol::report_header& head,
                     std::size_t extra = three_empty_texts, ring_writer* with = nullptr) {
    auto region = ring_region::open(channel.reports());
    ASSERT_TRUE(region);
    ring_writer own(*region);
    const ring_claim c = (with != nullptr ? *with : own).claim(sizeof head + extra);
    ASSERT_TRUE(c);
    std::memset(c.data, 0, c.bytes);
    std::memcpy(c.data, &head, sizeof head);
    (with != nullptr ? *with : own).publish(c);
    channel.page().reports.store(channel.page().reports.load() + 1);
  }
};

}  // namespace troupe::whole::hostile_tests
