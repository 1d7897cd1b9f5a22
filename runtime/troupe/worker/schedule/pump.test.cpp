// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Mostly tests a pump without engines: every request fails, which is all that these tests need.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <troupe/protocol/report.hpp>
#include <troupe/worker/schedule/pump.hpp>
#include <troupe/worker/testing/channel_in_memory.hpp>
#include <troupe/worker/testing/one_operation.hpp>
#include <troupe/worker/testing/recording_device.hpp>

namespace troupe {
namespace {

constexpr std::uint32_t capacity = 512;

// An operation that may not run on the pump until the test allows it.
struct hesitant {
  std::atomic<bool> may{false};
  std::atomic<int> asked{0};
  std::thread::id ran_on;

  static bool ready(void* self, const void*) {
    ++static_cast<hesitant*>(self)->asked;
    return static_cast<hesitant*>(self)->may;
  }
  static bool run(void* self, const void*, const troupe_engine_call*, troupe_engine_failure* failure) {
    static_cast<hesitant*>(self)->ran_on = std::this_thread::get_id();
    failure->reaction = static_cast<std::uint8_t>(reaction::caller_bug);  // so that the failure is reported
    return false;
  }
  troupe_engine_operation operation = testing_worker::operation_that(run, ready);
  troupe_engine engine = testing_worker::engine_with(operation, this);
};

// Records the threads on which it ran, and the order.
struct counting {
  std::vector<std::thread::id> ran_on;
  std::vector<std::uint64_t> tickets;
  std::atomic<std::size_t> ran{0};

  static bool run(void* self, const void*, const troupe_engine_call* c, troupe_engine_failure*) {
    auto& me = *static_cast<counting*>(self);
    me.ran_on.push_back(std::this_thread::get_id());
    me.tickets.push_back(c->ticket);
    ++me.ran;
    return true;
  }
  troupe_engine_operation operation = testing_worker::operation_that(run);
  troupe_engine engine = testing_worker::engine_with(operation, this);
};

// Does the same for operations that share calls.
struct grouping : counting {
  std::vector<std::uint32_t> together;

  static bool run_group(void* self, const void* const*, const troupe_engine_call* c, std::uint32_t count,
                        troupe_engine_failure*) {
    auto& me = *static_cast<grouping*>(self);
    me.ran_on.push_back(std::this_thread::get_id());
    for (std::uint32_t i = 0; i < count; ++i) me.tickets.push_back(c[i].ticket);
    me.together.push_back(count);
    me.ran += count;
    return true;
  }
  grouping() {
    operation.group = [](const void*) -> std::uint64_t { return 1; };
    operation.run_group = run_group;
  }
};

// Operations that share calls in which they run one after the other. The one with the ticket `fails_` fails, alone.
struct following : grouping {
  std::uint64_t fails = 0;
  bool refuses = false;
  std::atomic<bool> hold{false};  // the first call blocks until this is false
  const checked_count* answered = nullptr;
  std::vector<std::uint64_t> answered_before;  // number of each operation that ran alone

  static bool run_one(void* self, const void* payload, const troupe_engine_call* c, troupe_engine_failure* failure) {
    failure->reaction = static_cast<std::uint8_t>(reaction::caller_bug);
    auto& me = *static_cast<following*>(self);
    while (me.hold) std::this_thread::yield();
    if (me.answered != nullptr) me.answered_before.push_back(me.answered->load());
    return run(self, payload, c, failure) && c->ticket != me.fails;
  }
  static bool run_all(void* self, const void* const* payloads, const troupe_engine_call* c, std::uint32_t count,
                      troupe_engine_failure* failure) {
    const auto& me = *static_cast<following*>(self);
    while (me.hold) std::this_thread::yield();
    for (std::uint32_t i = 0; i < count; ++i)
      if (c[i].ticket == me.fails) return false;
    return !me.refuses && run_group(self, payloads, c, count, failure);
  }
  following() {
    operation.run = run_one;
    operation.run_group = run_all;
    operation.in_order = 1;
  }
};

class pumps : public testing::Test {
 protected:
  struct request {
    std::uint64_t opcode = 1;
    std::uint64_t reports_seen = 0;
    std::uint32_t segments = 0;
    memory_access access{};
    std::uint32_t generation = 0;
    protocol::command_flags flags = {};
  };
  void send(const request& r) {
    const protocol::command_header head{.opcode = r.opcode,
                                        .library = 2,
                                        .generation = r.generation,
                                        .reports_seen = r.reports_seen,
                                        .segments = r.segments,
                                        .access_count = 1,
                                        .flags = r.flags,
                                        .payload_bytes = 0};
    const auto slot = static_cast<std::uint32_t>(sent_++ % capacity);
    const std::uint64_t ticket = commands_out_.claim();
    (void)protocol::write_command(commands_out_.record(slot).data(), head,
                                  [&](std::size_t) -> const memory_access& { return r.access; });
    commands_out_.publish(ticket, slot);
    commands_out_.wake_if_sleeping();
  }
  // Makes the parts of another pump for the same requests.
  pump::parts parts_of(engine_set& engines, wait_policy wait, const lane_chooser& lanes, std::uint64_t inline_bytes,
                       platform* gpu = nullptr) {
    return {.channel = channel_.view(),
            .commands = commands_in_,
            .reports = reports_,
            .engines = engines,
            .wait = wait,
            .lanes = lanes,
            .inline_bytes = inline_bytes,
            .gpu = gpu};
  }
  // Blocks until the next report arrives.
  protocol::report_header next_report() {
    std::array<std::byte, protocol::max_report_bytes> room;
    ring_record record;
    while (!(record = reports_in_.read(room))) std::this_thread::yield();
    protocol::report_header head;
    std::memcpy(&head, record.payload.data(), sizeof head);
    return head;
  }

  // State of the engines. It outlives the set that holds them.
  hesitant hesitant_;
  counting counting_;
  following following_;
  testing_worker::channel_in_memory channel_{capacity};
  ring_region report_memory_ = channel_.reports();
  slot_queue_writer commands_out_{channel_.view().queue(), channel_.view().pump()};
  slot_queue_reader commands_in_{channel_.view().queue(), channel_.view().pump()};
  ring_writer reports_out_{report_memory_};
  ring_reader reports_in_{report_memory_};
  reporter reports_{channel_.view(), reports_out_};
  engine_set engines_{"host", {}, {}};
  pump pump_{{.channel = channel_.view(),
              .commands = commands_in_,
              .reports = reports_,
              .engines = engines_,
              .wait = wait_policy::balanced,
              .lanes = lane_chooser(lane_policy::single, 1, 1),
              .inline_bytes = UINT64_MAX,
              .most_poison = 10}};
  std::uint64_t sent_ = 0;
};

TEST_F(pumps, fail_requests_whose_memory_is_not_mapped_when_they_are_stopped) {
  send({.segments = 1});
  std::thread ends([this] { pump_.stop(); });
  EXPECT_TRUE(pump_.run());
  ends.join();
  EXPECT_EQ(next_report().ticket, 1u);
}

TEST_F(pumps, serve_requests_whose_memory_is_mapped_before_they_stop) {
  std::thread pumping([this] { EXPECT_TRUE(pump_.run()); });
  send({.segments = 2});
  pump_.segments_changed(1);
  EXPECT_FALSE(reports_in_.peek());
  pump_.segments_changed(2);
  pump_.stop();
  pumping.join();
  EXPECT_EQ(next_report().reaction, static_cast<std::uint8_t>(reaction::unsupported)) << "it has no engines";
}

// Forgotten poison must not make wrong data look right.
TEST_F(pumps, refuse_reads_of_callers_that_do_not_know_forgotten_failures) {
  std::thread pumping([this] { EXPECT_TRUE(pump_.run()); });
  const auto spoil = [this](int times) {
    for (int i = 0; i < times; ++i) {
      send({.access = {100, 200, access_mode::write}});
      EXPECT_EQ(next_report().reaction, static_cast<std::uint8_t>(reaction::unsupported));
    }
  };
  const auto cause_for = [this](std::uint64_t seen, access_mode mode) {
    send({.reports_seen = seen, .access = {300, 400, mode}});
    return next_report().reaction;
  };
  spoil(10);
  EXPECT_EQ(cause_for(0, access_mode::read), static_cast<std::uint8_t>(reaction::unsupported));  // the 11th failure
  spoil(10);                                                                                     // of 21
  EXPECT_EQ(cause_for(10, access_mode::read), static_cast<std::uint8_t>(reaction::retry_later));
  EXPECT_EQ(cause_for(10, access_mode::write), static_cast<std::uint8_t>(reaction::unsupported));
  EXPECT_EQ(cause_for(20, access_mode::read), static_cast<std::uint8_t>(reaction::unsupported));
  pump_.stop();
  pumping.join();
}

TEST_F(pumps, refuse_requests_that_are_bound_to_a_worker_of_an_earlier_generation) {
  pump_.begin_generation(2);
  std::thread pumping([this] { EXPECT_TRUE(pump_.run()); });
  const auto cause_of = [this](std::uint32_t generation, bool bound) {
    send({.access = {100, 200, access_mode::write},
          .generation = generation,
          .flags = {false, priority::normal, bound}});
    return next_report().reaction;
  };
  const auto goes_on = static_cast<std::uint8_t>(reaction::unsupported);  // the next check: there is no engine
  EXPECT_EQ(cause_of(1, false), goes_on) << "any worker can run a request that only writes";
  EXPECT_EQ(cause_of(1, true), static_cast<std::uint8_t>(reaction::context_lost));
  EXPECT_EQ(cause_of(2, true), goes_on);
  pump_.stop();
  pumping.join();
}

TEST_F(pumps, leave_operations_that_may_block_to_their_lane) {
  hesitant& what = hesitant_;
  ASSERT_TRUE(engines_.add("hesitant", what.engine));
  std::thread pumping([this] { EXPECT_TRUE(pump_.run()); });
  const std::thread::id pump = pumping.get_id();
  send({.opcode = testing_worker::only_opcode});
  EXPECT_EQ(next_report().reaction, static_cast<std::uint8_t>(reaction::caller_bug));
  pump_.stop();
  pumping.join();
  EXPECT_NE(what.ran_on, pump);
  EXPECT_NE(what.ran_on, std::thread::id());
  EXPECT_EQ(what.asked, 1);
  what.may = true;
  send({.opcode = testing_worker::only_opcode});
  std::thread again([this] { EXPECT_TRUE(pump_.run()); });  // runs what is queued, then stops
  const std::thread::id next = again.get_id();
  EXPECT_EQ(next_report().reaction, static_cast<std::uint8_t>(reaction::caller_bug));
  again.join();
  EXPECT_EQ(what.ran_on, next);
}

// A group takes longer than its members: if another core is free, its lane's thread runs it.
TEST_F(pumps, run_groups_of_small_operations_themselves_if_no_core_is_free) {
  for (const bool free_cores : {true, false}) {
    grouping what;
    engine_set engines{"host", {}, {}};
    ASSERT_TRUE(engines.add("grouping", what.engine));
    pump::parts parts = parts_of(engines, wait_policy::balanced, lane_chooser(lane_policy::single, 1, 1), 1000);
    parts.lanes_have_cores = free_cores;
    pump here(parts);
    const auto run = [&](std::uint64_t requests, std::uint64_t bytes) {
      const std::size_t all = what.ran + requests;
      for (std::uint64_t i = 0; i < requests; ++i)
        send({.opcode = testing_worker::only_opcode, .access = {i << 20, (i << 20) + bytes, access_mode::write}});
      while (here.step() == pump::stepped::something) {
      }
      while (what.ran < all) std::this_thread::yield();
      EXPECT_EQ(what.together.back(), requests);
      return what.ran_on.back() == std::this_thread::get_id();
    };
    EXPECT_TRUE(run(2, 400));
    EXPECT_EQ(run(4, 400), !free_cores);
    while (!here.idle()) std::this_thread::yield();
    EXPECT_FALSE(run(4, 2000)) << "each of them would be left to the lane";
  }
}

// A GPU's driver takes some microseconds to enqueue: while one thread does that, the pump takes the next requests.
TEST_F(pumps, leave_requests_of_a_gpu_to_the_lane_if_a_long_queue_follows) {
  testing_worker::recording_device gpu;
  counting& what = counting_;
  ASSERT_TRUE(engines_.add("counting", what.engine));
  {
    pump of_gpu(parts_of(engines_, wait_policy::balanced, lane_chooser(lane_policy::single, 1, 1), 0, &gpu));
    ASSERT_TRUE(of_gpu.make_streams());
    const auto run = [&](std::size_t requests) {
      const std::size_t all = what.ran + requests;
      for (std::size_t i = 0; i < requests; ++i) send({.opcode = testing_worker::only_opcode});
      while (of_gpu.step() == pump::stepped::something) {
      }
      while (what.ran < all) std::this_thread::yield();
    };
    run(3);
    for (const std::thread::id id : what.ran_on)
      EXPECT_EQ(id, std::this_thread::get_id()) << "a short queue runs on the pump";
    run(60);
    for (std::size_t i = 3; i < 3 + 60 - 16; ++i) EXPECT_NE(what.ran_on[i], std::this_thread::get_id()) << i;
    for (std::size_t i = 0; i < 63; ++i) EXPECT_EQ(what.tickets[i], i + 1) << "in their order";
    gpu.finish();
  }
  EXPECT_EQ(what.ran, 63u);
}

// Sends its requests before the pump looks at any of them.
class pumps_with_sequences : public pumps {
 protected:
  void SetUp() override { ASSERT_TRUE(engines_.add("following", what_.engine)); }
  void write(std::uint64_t at, protocol::command_flags flags = {}) {
    send_one({at, at + 8, access_mode::write}, flags);
  }
  void change(std::uint64_t at) { send_one({at, at + 8, access_mode::read_write}, {}); }
  void send_one(const memory_access& access, protocol::command_flags flags) {
    send({.opcode = testing_worker::only_opcode, .access = access, .flags = flags});
  }
  std::vector<std::uint32_t> calls_after(pump& p) {
    while (p.step() == pump::stepped::something) {
    }
    while (!p.idle()) std::this_thread::yield();
    return what_.together;
  }
  following& what_ = following_;
};

TEST_F(pumps_with_sequences, put_dependent_operations_into_one_call) {
  write(100);
  for (int i = 0; i < 4; ++i) change(100);
  EXPECT_EQ(calls_after(pump_), (std::vector<std::uint32_t>{5}));
  EXPECT_EQ(what_.tickets, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(channel_.view().page().lanes[lane_chooser::first_compute].together.load(), 5u);
}

TEST_F(pumps_with_sequences, run_operations_alone_that_have_a_time_limit_or_must_not_be_coalesced) {
  for (const protocol::command_flags f :
       {protocol::command_flags{false, priority::normal, false, true}, protocol::command_flags{true, priority::normal}})
    for (int i = 0; i < 2; ++i) write(100, f);
  EXPECT_TRUE(calls_after(pump_).empty());
  EXPECT_EQ(what_.ran, 4u);
}

TEST_F(pumps_with_sequences, run_operations_one_by_one_if_the_engine_requests_it) {
  what_.refuses = true;
  what_.answered = &channel_.view().page().lanes[lane_chooser::first_compute].done;
  for (int i = 0; i < 4; ++i) change(100);
  EXPECT_TRUE(calls_after(pump_).empty());
  EXPECT_EQ(what_.tickets, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(what_.answered_before, (std::vector<std::uint64_t>{0, 1, 2, 3})) << "none waits for those behind it";
  EXPECT_EQ(channel_.view().page().lanes[lane_chooser::first_compute].together.load(), 0u);
}

TEST_F(pumps_with_sequences, skip_an_operation_whose_input_another_of_the_call_failed_to_write) {
  what_.fails = 2;
  write(100);
  change(100);
  change(100);
  write(200);
  EXPECT_TRUE(calls_after(pump_).empty());
  EXPECT_EQ(what_.tickets, (std::vector<std::uint64_t>{1, 2, 4}));
  EXPECT_EQ(next_report().ticket, 2u);
  EXPECT_EQ(next_report().ticket, 3u);
}

// Earlier operations must not wait for something that only this one waits for.
TEST_F(pumps_with_sequences, begin_a_new_call_on_a_gpu_with_an_operation_that_waits_for_another_lane) {
  testing_worker::recording_device gpu;
  counting_.operation.opcode = testing_worker::only_opcode + 1;
  ASSERT_TRUE(engines_.add("other", counting_.engine));
  pump of_gpu(parts_of(engines_, wait_policy::latency, lane_chooser(lane_policy::per_actor, 1, 1), UINT64_MAX, &gpu));
  ASSERT_TRUE(of_gpu.make_streams());
  send({.opcode = testing_worker::only_opcode + 1, .access = {500, 600, access_mode::write}});
  for (const std::uint64_t at : {100, 100, 500, 100, 500}) change(at);
  while (of_gpu.step() == pump::stepped::something) {
  }
  while (what_.ran < 5) std::this_thread::yield();
  EXPECT_EQ(what_.together, (std::vector<std::uint32_t>{2, 3}));
  gpu.finish();
  of_gpu.device().mark_all();
}

// An engine then receives the same calls again, wherever the first of them began.
TEST_F(pumps_with_sequences, cut_a_repeated_sequence_into_the_same_calls) {
  static std::uint64_t asked;
  asked = 0;
  what_.operation.group = [](const void*) -> std::uint64_t { return ++asked % 7 + 1; };
  constexpr std::uint32_t all = 130;
  sequence_cut cut;
  for (std::uint32_t i = 1; i <= most_in_order; ++i) cut.note(i % 7 + 1, i, most_in_order);
  ASSERT_LT(cut.place(most_in_order), most_in_order);
  for (std::uint32_t i = 0; i < all; ++i) change(100);
  const std::vector<std::uint32_t> calls = calls_after(pump_);
  EXPECT_EQ(calls.at(0), cut.place(most_in_order));
  EXPECT_EQ(calls.at(1) % 7, 0u);
  EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0u), all);
  for (std::uint64_t i = 0; i < all; ++i) EXPECT_EQ(what_.tickets.at(i), i + 1);
}

// The lane's earlier work takes longer than the others need to arrive.
TEST_F(pumps_with_sequences, keep_a_call_open_while_their_lane_is_busy) {
  what_.hold = true;
  write(100, protocol::command_flags{true, priority::normal});  // must not share a call
  for (std::uint32_t i = 0; i < most_in_order; ++i) change(100);
  pump on_threads(parts_of(engines_, wait_policy::latency, lane_chooser(lane_policy::single, 1, 1), 0));
  const auto step_all = [&] {
    while (on_threads.step() == pump::stepped::something) {
    }
  };
  step_all();
  for (int i = 0; i < 3; ++i) {
    change(100);
    step_all();
  }
  EXPECT_FALSE(on_threads.idle());
  what_.hold = false;
  while (!on_threads.idle()) step_all();
  EXPECT_EQ(what_.together, (std::vector<std::uint32_t>{64, 3}));
}

// Even if they take long: the lane's thread has other calls to make first.
TEST_F(pumps_with_sequences, leave_all_operations_of_a_gpu_to_the_lane_if_a_long_queue_follows) {
  static std::uint64_t asked;
  asked = 0;
  what_.operation.group = [](const void*) -> std::uint64_t { return ++asked % 7 + 1; };
  testing_worker::recording_device gpu;
  {
    pump of_gpu(parts_of(engines_, wait_policy::latency, lane_chooser(lane_policy::single, 1, 1), 0, &gpu));
    ASSERT_TRUE(of_gpu.make_streams());
    constexpr std::uint64_t all = 264;  // of which 256 have a long queue after them
    what_.hold = true;
    for (std::uint64_t i = 0; i < all; ++i) change(100);
    write(100, protocol::command_flags{true, priority::normal});  // must not share a call
    std::jthread lets_go([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      what_.hold = false;
    });
    while (of_gpu.step() == pump::stepped::something) {
    }
    while (what_.ran < all + 1) std::this_thread::yield();
    for (std::uint64_t i = 0; i < all; ++i) ASSERT_EQ(what_.tickets.at(i), i + 1);
    for (std::size_t i = 0; i + 1 < what_.ran_on.size(); ++i) EXPECT_NE(what_.ran_on[i], std::this_thread::get_id());
    gpu.finish();
    of_gpu.device().mark_all();
  }
  EXPECT_EQ(what_.ran, 265u);
}

TEST_F(pumps_with_sequences, do_not_coalesce_long_gpu_operations) {
  testing_worker::recording_device gpu;
  pump of_gpu(parts_of(engines_, wait_policy::latency, lane_chooser(lane_policy::single, 1, 1), UINT64_MAX, &gpu));
  ASSERT_TRUE(of_gpu.make_streams());
  const auto run = [&](std::size_t count) {
    const std::size_t all = what_.ran + count;
    for (std::size_t i = 0; i < count; ++i) change(100);
    while (of_gpu.step() == pump::stepped::something) {
    }
    while (what_.ran < all) std::this_thread::yield();
    return what_.together;
  };
  EXPECT_EQ(run(80), (std::vector<std::uint32_t>{64, 16}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the time that the device takes for 64 of them
  gpu.finish(1);
  while (of_gpu.device().marked_after(lane_chooser::first_compute) > 1) std::this_thread::yield();
  EXPECT_EQ(run(8).size(), 2u) << "they report their progress one by one";
  gpu.finish();
  of_gpu.device().mark_all();
}

}  // namespace
}  // namespace troupe
