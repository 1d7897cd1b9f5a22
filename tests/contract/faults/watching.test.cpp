// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// How faults are observed, and what happens to requests that cause them.
#include <time.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <troupe/base/compiler/sanitizers.hpp>

#include <tests/contract/harness.hpp>
#include <troupe/blas/blas.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class watching : public testing::Test {
 protected:
  device open(device_options o = {}) {
    const auto restarts = o.restarts;
    o = with_test_engines(std::move(o));
    o.restarts = restarts;
    device d = rt.open_device(o);
    EXPECT_OK(d.started().get());
    return d;
  }
  // Returns the events up to the first of a kind.
  static std::vector<device_event> until(device_watch& w, event_kind kind) {
    std::vector<device_event> out;
    while (true) {
      auto e = w.next().get();
      if (!e) {
        ADD_FAILURE() << e.error().to_string();
        return out;
      }
      out.push_back(*e);
      if (e->kind == kind) return out;
    }
  }
  runtime rt;
};

// last_fault() prevents other threads from collecting answers for a moment, and then collects for them: otherwise
// they would sleep for up to a second.
TEST_F(watching, last_fault_does_not_delay_answers) {
  const device gpu = open({.wait = wait_policy::latency});
  std::atomic<bool> over{false};
  std::vector<std::thread> curious;
  for (int i = 0; i < 2; ++i)
    curious.emplace_back([&] {
      while (!over.load()) EXPECT_EQ(gpu.last_fault(), nullptr);
    });
  std::chrono::nanoseconds longest{0};
  for (int i = 0; i < 30'000; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_OK(gpu.ping().get());
    longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - start);
  }
  over.store(true);
  for (std::thread& t : curious) t.join();
  EXPECT_LT(longest, 900ms);
}

TEST_F(watching, a_watch_reports_a_fault_and_the_recovery) {
  const device gpu = open();
  device_watch w = gpu.watch();
  EXPECT_EQ(gpu.last_fault(), nullptr);
  EXPECT_TRUE(gpu.ready());
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  kill_worker(gpu);
  const auto events = until(w, event_kind::serving);
  const auto fault =
      std::find_if(events.begin(), events.end(), [](const auto& e) { return e.kind == event_kind::fault; });
  ASSERT_NE(fault, events.end());
  EXPECT_EQ(fault->state, device_state::recovering);
  EXPECT_EQ(fault->generation, 2u);
  ASSERT_TRUE(fault->fault);
  EXPECT_EQ(fault->fault->kind, fault_kind::ended);
  EXPECT_EQ(fault->fault->signal, SIGKILL);
  EXPECT_EQ(fault->fault->generation, 1u);
  EXPECT_FALSE(fault->fault->blamed) << "it was killed from outside";
  EXPECT_EQ(events.back().state, device_state::ready);
  EXPECT_EQ(events.back().fault, fault->fault);
  EXPECT_GT(events.back().took.nanoseconds, 0);
  EXPECT_EQ(gpu.last_fault(), fault->fault);
  EXPECT_EQ(gpu.statistics().faults, 1u);
  EXPECT_TRUE(gpu.ready());

  EXPECT_OK(gpu.close().get());
  EXPECT_EQ(until(w, event_kind::closing).back().state, device_state::closing);
  EXPECT_FALSE(until(w, event_kind::stopped).back().cause);
  EXPECT_TRUE(is_error(error_of(w.next()), reaction::stopped, {"closed"}));
  EXPECT_FALSE(gpu.ready());
}

TEST_F(watching, standbys_are_reported_when_ready_and_when_lost) {
  const device gpu = open();
  device_watch w = gpu.watch();
  if (gpu.statistics().standby_pids.empty()) until(w, event_kind::standby_ready);
  while (gpu.statistics().standby_pids.empty()) std::this_thread::yield();
  ::kill(gpu.statistics().standby_pids.front(), SIGKILL);
  const auto lost = until(w, event_kind::standby_lost).back();
  ASSERT_TRUE(lost.cause);
  EXPECT_TRUE(is_error(*lost.cause, reaction::context_lost, {"SIGKILL"}));
  EXPECT_EQ(lost.state, device_state::ready) << "no other request is affected";
  until(w, event_kind::standby_ready);
  EXPECT_EQ(gpu.statistics().generation, 1u);
  EXPECT_EQ(gpu.ping(3).get().value(), 3u);
}

TEST_F(watching, only_the_newest_call_of_next_waits) {
  const device gpu = open({.standbys = 0});
  std::optional<device_watch> w(gpu.watch());
  auto first = w->next();
  auto second = w->next();
  EXPECT_TRUE(is_error(error_of(std::move(first)), reaction::retry_later, {"again"}));
  EXPECT_FALSE(w->poll());
  w.reset();
  EXPECT_TRUE(is_error(error_of(std::move(second)), reaction::retry_later, {"the watch was destroyed"}));
}

TEST_F(watching, a_watch_of_a_closed_device_ends) {
  const device gpu = open();
  ASSERT_OK(gpu.close().get());
  device_watch w = gpu.watch();
  EXPECT_TRUE(is_error(error_of(w.next()), reaction::stopped, {"closed"}));
}

TEST_F(watching, a_deadly_request_is_named_with_its_fault) {
  const device gpu = open({.restarts = 10});
  for (const auto& [how, signal, text] : {std::tuple(ending::wild_write, SIGSEGV, "SIGSEGV"),
                                          {ending::abort, SIGABRT, "SIGABRT"},
                                          {ending::stack_overflow, SIGSEGV, "SIGSEGV"}}) {
    const error e = error_of(gpu.ask(crash{.how = how}));
    EXPECT_TRUE(is_error(e, reaction::context_lost, {text, "working on testing.crash"}));
    EXPECT_EQ(e.request().name, "testing.crash");
    const auto record = gpu.last_fault();
    ASSERT_TRUE(record);
    ASSERT_TRUE(record->blamed);
    EXPECT_EQ(record->blamed->name, "testing.crash");
    EXPECT_EQ(record->signal, signal);
    EXPECT_EQ(record->lost, 1u);
    if (how == ending::wild_write) {
      EXPECT_EQ(record->address, 0x1230u);
      EXPECT_TRUE(is_error(e, reaction::context_lost, {"invalid access to address 0x1230"}));
    }
  }
  EXPECT_TRUE(is_error(error_of(gpu.ask(crash{.how = ending::exit})), reaction::context_lost, {"exited with code 7"}));
  ASSERT_TRUE(gpu.last_fault()->blamed);
}

TEST_F(watching, a_request_that_kills_twice_is_quarantined_alone) {
  const device gpu = open({.restarts = 10});
  const crash poison{.how = ending::exit};
  EXPECT_EQ(error_of(gpu.ask(poison)).reaction(), reaction::context_lost);
  EXPECT_FALSE(gpu.last_fault()->quarantined);
  EXPECT_EQ(error_of(gpu.ask(poison)).reaction(), reaction::context_lost);
  EXPECT_TRUE(gpu.last_fault()->quarantined);
  EXPECT_EQ(gpu.statistics().quarantined, 1u);
  EXPECT_TRUE(is_error(error_of(gpu.ask(poison)), reaction::caller_bug,
                       {"testing.crash", "the worker of host:", "2 workers have died of requests of this kind",
                        "all of them with the same data", "exited with code 7", "reset()"}));
  EXPECT_EQ(gpu.statistics().generation, 3u) << "the request was not sent";
  EXPECT_EQ(gpu.ping(1).get().value(), 1u);
  EXPECT_OK(gpu.ask(nap{.microseconds = 1}).get());
  EXPECT_OK(gpu.reset().get());
  EXPECT_EQ(error_of(gpu.ask(poison)).reaction(), reaction::context_lost) << "reset() lifts it";
}

TEST_F(watching, a_request_is_recognized_whatever_its_slot_held_before) {
  const device gpu = open({.restarts = 20});
  const auto fill_the_slots = [&](std::uint32_t seed) {
    for (std::uint32_t i = 0; i < 3 * gpu.statistics().capacity; ++i)
      (void)gpu.ask(checksum{.text = std::string(200, static_cast<char>('a' + seed)), .list = {seed, seed}}).get();
  };
  const auto kill_with = [&](std::uint8_t how) {
    return error_of(gpu.ask(die_with{.how = how, .text = "some words", .list = {1, 2, 3}}));
  };
  fill_the_slots(1);
  EXPECT_EQ(kill_with(3).reaction(), reaction::context_lost);
  fill_the_slots(2);
  EXPECT_EQ(kill_with(4).reaction(), reaction::context_lost) << "this is a different request";
  EXPECT_EQ(kill_with(3).reaction(), reaction::context_lost);
  fill_the_slots(3);
  EXPECT_EQ(kill_with(3).reaction(), reaction::caller_bug);
  EXPECT_EQ(kill_with(4).reaction(), reaction::context_lost);
}

TEST_F(watching, no_request_is_named_for_a_worker_killed_from_outside) {
  const device gpu = open({.restarts = 10});
  for (int i = 0; i < 3; ++i) {
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    kill_worker(gpu, i == 0 ? SIGSEGV : SIGKILL);
    EXPECT_EQ(error_of(b.answer().get()).reaction(), reaction::context_lost);
    EXPECT_FALSE(gpu.last_fault()->blamed);
  }
  EXPECT_EQ(gpu.statistics().quarantined, 0u);
}

TEST_F(watching, a_request_can_be_retried_if_its_inputs_survive) {
  const device gpu = open({.salvage = salvage::untouched});
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  const auto y = gpu.alloc<float>(1);
  auto again = gpu.ask(linger{.gate = gate, .result = y}, {.retries = 1});
  auto after = gpu.ask(increment{.x = y, .n = 1});
  while (std::atomic_ref(gate.data()[entered]).load() != 1) std::this_thread::yield();
  kill_worker(gpu);
  while (std::atomic_ref(gate.data()[entered]).load() != 2) std::this_thread::yield();
  std::atomic_ref(gate.data()[testing_actor::opened]).store(1);
  EXPECT_OK(again.get());
  EXPECT_OK(after.get()) << "the retried request has the same output as without the fault";
  EXPECT_EQ(gpu.download(y).get().value(), std::vector<float>{3.f});
  EXPECT_EQ(gpu.last_fault()->retried, 1u);
}

TEST_F(watching, a_request_is_retried_no_more_often_than_requested) {
  const device gpu = open({.restarts = 10, .salvage = salvage::untouched});
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto answer = gpu.ask(linger{.gate = gate, .result = gpu.alloc<float>(1)}, {.retries = 2});
  for (std::uint32_t times = 1; times <= 3; ++times) {
    while (std::atomic_ref(gate.data()[entered]).load() != times) std::this_thread::yield();
    kill_worker(gpu);
    while (gpu.statistics().faults < times) std::this_thread::yield();
  }
  EXPECT_TRUE(is_error(error_of(std::move(answer)), reaction::context_lost, {"testing.linger", "SIGKILL"}));
}

TEST_F(watching, a_request_is_not_retried_after_its_time_out) {
  const device gpu = open({.salvage = salvage::untouched});
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto answer = gpu.ask(linger{.gate = gate, .result = gpu.alloc<float>(1)}, {.timeout = 1s, .retries = 5});
  while (std::atomic_ref(gate.data()[entered]).load() != 1) std::this_thread::yield();
  std::this_thread::sleep_for(1s);
  EXPECT_FALSE(answer.ready()) << "the request had started in time";
  kill_worker(gpu);
  EXPECT_TRUE(is_error(error_of(std::move(answer)), reaction::context_lost, {"testing.linger", "SIGKILL"}));
  EXPECT_EQ(gpu.last_fault()->retried, 0u);
}

TEST_F(watching, a_request_with_lost_inputs_is_not_retried) {
  const device gpu = open();  // salvage::strict
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto answer = gpu.ask(linger{.gate = gate, .result = gpu.alloc<float>(1)}, {.retries = 5});
  while (std::atomic_ref(gate.data()[entered]).load() != 1) std::this_thread::yield();
  kill_worker(gpu);
  EXPECT_TRUE(is_error(error_of(std::move(answer)), reaction::context_lost, {"SIGKILL"}));
  EXPECT_EQ(gpu.last_fault()->lost, 1u);
}

TEST_F(watching, a_request_that_reads_what_it_writes_is_not_retried) {
  const device gpu = open({.salvage = salvage::untouched});
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  auto answer = gpu.ask(hold{.gate = gate}, {.retries = 5});
  while (std::atomic_ref(gate.data()[entered]).load() != 1) std::this_thread::yield();
  kill_worker(gpu);
  EXPECT_TRUE(is_error(error_of(std::move(answer)), reaction::context_lost, {"SIGKILL"}));
}

TEST_F(watching, a_request_that_exceeds_its_run_timeout_costs_only_its_worker) {
  const device gpu = open({.restarts = 10});
  const auto x = gpu.alloc<float>(4);
  for (const bool big : {false, true}) {  // on the pump, and on a lane
    const auto gate = gpu.alloc_host<std::uint32_t>(big ? 100'000 : 2, {.zeroed = true});
    auto endless = gpu.ask(spin{.gate = gate}, {.run_timeout = 60ms});
    auto fill = gpu.fill(x, 5.f);
    auto read = gpu.download(x);
    const error e = error_of(std::move(endless));
    EXPECT_TRUE(is_error(e, reaction::context_lost, {"testing.spin", "run_timeout of 60 ms"}));
    EXPECT_EQ(gpu.last_fault()->kind, fault_kind::overran);
    ASSERT_TRUE(gpu.last_fault()->blamed);
    EXPECT_EQ(gpu.last_fault()->blamed->name, "testing.spin");
    if (!big) {
      EXPECT_OK(fill.get()) << "the fill had not started";
      EXPECT_EQ(read.get().value(), std::vector<float>(4, 5.f));
    }
  }
}

TEST_F(watching, a_scope_limits_how_long_each_of_its_requests_runs) {
  const device gpu = open({.restarts = 10});
  const device brief = gpu.within({.run_timeout = 60ms}), longer = brief.within({.run_timeout = 60s});
  for (const device& mine : {brief, longer}) {
    const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
    EXPECT_TRUE(is_error(error_of(mine.ask(spin{.gate = gate})), reaction::context_lost, {"run_timeout of 60 ms"}));
  }
  EXPECT_OK(gpu.ask(nap{.microseconds = 200'000}).get()) << "outside";
}

TEST_F(watching, a_waiting_request_does_not_count_as_running) {
  const device gpu = open({.run_timeout = 500ms});
  auto first = gpu.ask(nap{.microseconds = 200'000}), second = gpu.ask(nap{.microseconds = 200'000}),
       third = gpu.ask(nap{.microseconds = 200'000});
  EXPECT_OK(first.get());
  EXPECT_OK(second.get());
  EXPECT_OK(third.get());
  EXPECT_TRUE(is_error(error_of(gpu.ask(nap{.microseconds = 10'000'000})), reaction::context_lost, {"500 ms"}))
      << "the device's own limit holds for every request";
}

TEST_F(watching, a_worker_stopped_by_a_signal_is_replaced) {
  const device gpu = open({.heartbeat_timeout = 200ms});
  kill_worker(gpu, SIGSTOP);
  EXPECT_EQ(gpu.ping(8).get().value(), 8u) << "the ping had not started";
  EXPECT_EQ(gpu.last_fault()->kind, fault_kind::silent);
  EXPECT_TRUE(is_error(gpu.last_fault()->cause, reaction::context_lost, {"did not answer for", "heartbeat_timeout"}));
}

TEST_F(watching, a_busy_worker_is_not_replaced) {
  const device gpu = open({.heartbeat_timeout = 60ms});
  EXPECT_OK(gpu.ask(nap{.microseconds = 400'000}).get());
  EXPECT_EQ(gpu.statistics().faults, 0u);
}

TEST_F(watching, a_broken_handle_restarts_only_its_library) {
  const device gpu = open();
  device_watch w = gpu.watch();
  const auto x = gpu.alloc<float>(3);
  ASSERT_OK(gpu.upload(x, counting(3)).get());
  EXPECT_EQ(gpu.ask(break_handle{.breaks = false}).get().value(), 1u);
  const int worker = gpu.statistics().worker_pid.value();
  EXPECT_TRUE(is_error(error_of(gpu.ask(break_handle{.breaks = true})), reaction::retry_later, {"handle is broken"}));
  EXPECT_EQ(gpu.ask(break_handle{.breaks = false}).get().value(), 2u) << "the engine was opened again";
  EXPECT_OK(gpu.ask(increment{.x = x, .n = 3}).get());
  EXPECT_EQ(gpu.download(x).get().value(), counting(3, 1));
  const auto e = until(w, event_kind::library_restarted).back();
  ASSERT_TRUE(e.cause);
  EXPECT_TRUE(is_error(*e.cause, reaction::retry_later, {"testing", "opened again"}));
  EXPECT_EQ(gpu.statistics().worker_pid.value(), worker);
  EXPECT_EQ(gpu.statistics().faults, 0u);
}

TEST_F(watching, a_lost_context_of_an_engine_replaces_the_worker) {
  const device gpu = open();
  const error e = error_of(gpu.ask(fail{.how = reaction::context_lost, .code = 700, .text = "an illegal address"}));
  EXPECT_TRUE(is_error(e, reaction::context_lost, {"testing.fail", "an illegal address"}));
  EXPECT_EQ(gpu.last_fault()->kind, fault_kind::gave_up);
  ASSERT_TRUE(gpu.last_fault()->blamed);
  EXPECT_EQ(gpu.last_fault()->blamed->name, "testing.fail");
  EXPECT_EQ(gpu.ping(4).get().value(), 4u);
}

TEST_F(watching, a_fault_record_is_written_to_the_folder) {
  const std::string folder = testing::TempDir() + "black_box_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  {
    const device gpu = open({.name = "gpu/1", .black_box_folder = folder});
    ASSERT_OK(gpu.ask(nap{.microseconds = 1}).get());
    EXPECT_FALSE(gpu.ask(crash{.how = ending::exit}).get());
    EXPECT_OK(gpu.sync().get());
    tally behind_the_record;  // the thread that runs continuations also writes the record
    behind_the_record.watch(gpu.ping(1));
    behind_the_record.await_all();
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    ASSERT_EQ(names.size(), 1u);
    EXPECT_TRUE(names[0].starts_with("gpu-1-2")) << names[0];
    EXPECT_TRUE(names[0].ends_with("-" + std::to_string(::getpid()) + "-generation-1.txt")) << names[0];
    std::ifstream file(folder + "/" + names[0]);
    std::stringstream text;
    text << file.rdbuf();
    for (const char* part : {"gpu/1, generation 1, worker ", "exited with code 7", "blamed: testing.crash #",
                             "1 lost, 0 kept", "testing.nap #", ": finished", ": lost"})
      EXPECT_NE(text.str().find(part), std::string::npos) << part << " is not in:\n" << text.str();
  }
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(is_error(error_of(rt.open_device({.black_box_folder = folder}).started()), reaction::caller_bug,
                       {"black_box_folder", folder.c_str()}));
}

TEST_F(watching, a_request_that_an_earlier_fault_has_ended_is_not_called_finished) {
  const device gpu = open({.restarts = 10});
  const error first = error_of(gpu.ask(crash{.how = ending::exit}));
  ASSERT_OK(gpu.ask(nap{.microseconds = 1}).get());
  EXPECT_FALSE(gpu.ask(crash{.how = ending::exit}).get());
  const std::string text = gpu.last_fault()->text(), own = "testing.crash #" + std::to_string(first.request().ticket);
  EXPECT_NE(text.find(own + ": failed"), std::string::npos) << text;
  for (const char* part : {"testing.nap #", ": finished", ": lost"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
}

TEST_F(watching, a_worker_has_no_new_privileges_and_the_limits_of_its_options) {
  // A sanitizer needs more memory than the limit below.
  const std::uint64_t limit = TROUPE_THREAD_SANITIZER || TROUPE_ADDRESS_SANITIZER ? 0 : std::uint64_t{2} << 30;
  const device gpu = open({.worker_memory_limit = limit, .worker_cores = {0}});
  ASSERT_OK(gpu.sync().get());
  std::ifstream status("/proc/" + std::to_string(gpu.statistics().worker_pid.value()) + "/status"),
      limits("/proc/" + std::to_string(gpu.statistics().worker_pid.value()) + "/limits");
  std::stringstream s, l;
  s << status.rdbuf();
  l << limits.rdbuf();
  EXPECT_NE(s.str().find("NoNewPrivs:\t1"), std::string::npos) << s.str();
  EXPECT_NE(s.str().find("Cpus_allowed_list:\t0\n"), std::string::npos) << s.str();
  EXPECT_NE(l.str().find("Max core file size        0                    0 "), std::string::npos) << l.str();
  if (limit != 0) {
    EXPECT_NE(l.str().find("Max data size             2147483648           2147483648"), std::string::npos) << l.str();
  }
}

TEST_F(watching, a_product_ends_whatever_the_limit_of_the_workers_memory) {
  constexpr bool may_be_limited = !TROUPE_THREAD_SANITIZER && !TROUPE_ADDRESS_SANITIZER;  // these need more memory
  constexpr std::uint64_t mib = 1 << 20;
  for (const std::uint64_t limit : {100 * mib, 200 * mib, 400 * mib, 1024 * mib, 4096 * mib}) {
    const device gpu = open({.worker_memory_limit = may_be_limited ? limit : 0});
    constexpr int n = 300;
    const buffer<double> x = gpu.upload(std::vector<double>(n * n, 1.0)), y = gpu.alloc<double>(n * n);
    const auto done = gpu.ask(blas::gemm<double>{.a = x, .b = x, .c = y, .m = n, .n = n, .k = n}).get();
    if (limit < 1024 * mib) continue;  // it has failed, if threads or OpenBLAS found no memory
    ASSERT_OK(done) << limit / mib << " MiB";
    EXPECT_EQ(gpu.download(y).get().value().back(), n);
  }
}

// OpenBLAS's own threads would wait for the next product for 26 ms, and take the processor from other programs.
TEST_F(watching, a_worker_uses_no_processor_after_a_product) {
  const device gpu = open();
  constexpr int n = 300;
  const buffer<double> x = gpu.upload(std::vector<double>(n * n, 1.0)), y = gpu.alloc<double>(n * n);
  const auto processor_ms = [&] {
    clockid_t clock{};
    timespec used{};
    EXPECT_EQ(::clock_getcpuclockid(gpu.statistics().worker_pid.value(), &clock), 0);
    EXPECT_EQ(::clock_gettime(clock, &used), 0);
    return 1e3 * static_cast<double>(used.tv_sec) + 1e-6 * static_cast<double>(used.tv_nsec);
  };
  double least_ms = 1000;  // of several tries, because threads of the worker may have other work
  for (int i = 0; i < 10 && least_ms > 5; ++i) {
    ASSERT_OK(gpu.ask(blas::gemm<double>{.a = x, .b = x, .c = y, .m = n, .n = n, .k = n}).get());
    const double before = processor_ms();
    std::this_thread::sleep_for(50ms);
    least_ms = std::min(least_ms, processor_ms() - before);
  }
  EXPECT_LE(least_ms, 5);
}

TEST_F(watching, a_standby_has_loaded_the_libraries_of_the_worker) {
  const device gpu = open();
  device_watch w = gpu.watch();
  ASSERT_OK(gpu.ask(nap{.microseconds = 1}).get());
  const auto standby_has_it = [&] {
    for (const int pid : gpu.statistics().standby_pids) {
      std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
      std::stringstream text;
      text << maps.rdbuf();
      if (text.str().find("testing.host.so") != std::string::npos) return true;
    }
    return false;
  };
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!standby_has_it() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(standby_has_it());
}

}  // namespace
}  // namespace troupe::whole
