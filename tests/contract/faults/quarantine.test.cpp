// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of requests that kill the worker: which are refused afterwards, for how long, and what still works.
#include <tests/contract/harness.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/device/sharing.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class quarantine : public testing::Test {
 protected:
  device open(device_options o = {}) {
    if (o.restarts == 3) o.restarts = 100;
    device d = rt.open_device(with_test_engines(std::move(o)));
    EXPECT_OK(d.started().get());
    return d;
  }
  // Does what a service does for a client: sends everything again.
  static result<std::vector<float>> serve(const device& gpu, const std::vector<float>& data) {
    const auto x = gpu.alloc<float>(data.size()), y = gpu.alloc<float>(1);
    return serve(gpu, data, x, y);
  }
  static result<std::vector<float>> serve(const device& gpu, const std::vector<float>& data, const buffer<float>& x,
                                          const buffer<float>& y) {
    gpu.upload(x, data);
    gpu.fill(y, 0.f);
    gpu.tell(fragile{.x = x, .y = y, .n = x.size()});
    return gpu.download(y).get();
  }
  static reaction of(const result<std::vector<float>>& answer) { return error_of(answer).reaction(); }
  static device_event next(device_watch& w, event_kind kind) {
    while (true) {
      auto e = w.next().get();
      if (!e) {
        ADD_FAILURE() << e.error().to_string();
        return {};
      }
      if (e->kind == kind) return *e;
    }
  }

  static constexpr int many = 20'000;  // number of elements, for which an upload needs several chunks
  runtime rt;
  const std::vector<float> good{1, 2, 3, 4}, bad{-1, 2, 3, 4}, worse{-1, 2, 3, 5};
};

TEST_F(quarantine, keeps_serving_others_despite_bad_data_of_two_clients) {
  const device gpu = open();
  EXPECT_OK(serve(gpu, good));
  for (const auto& data : {bad, worse}) {
    EXPECT_EQ(of(serve(gpu, data)), reaction::context_lost);
    const auto answer = serve(gpu, good);
    ASSERT_OK(answer);
    EXPECT_EQ(*answer, std::vector<float>{10});
  }
  EXPECT_EQ(gpu.last_fault()->deaths_alike, 2u);
}

TEST_F(quarantine, keeps_serving_despite_bad_data_in_shared_buffers) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(4), y = gpu.alloc<float>(1);
  EXPECT_EQ(of(serve(gpu, bad, x, y)), reaction::context_lost);
  EXPECT_EQ(of(serve(gpu, worse, x, y)), reaction::context_lost);
  EXPECT_OK(serve(gpu, good, x, y));
  EXPECT_EQ(of(serve(gpu, worse, x, y)), reaction::caller_bug);
  EXPECT_OK(serve(gpu, good, x, y)) << "although the refusal has made its output stale";
}

TEST_F(quarantine, refuses_a_deadly_request_the_third_time) {
  for (const bool large : {false, true}) {
    const device gpu = open();
    std::vector<float> data = bad;
    if (large) data.resize(many, 1.f);
    EXPECT_EQ(of(serve(gpu, data)), reaction::context_lost);
    EXPECT_EQ(of(serve(gpu, data)), reaction::context_lost);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(of(serve(gpu, data)), reaction::caller_bug) << (large ? "large" : "small");
    EXPECT_EQ(gpu.last_fault()->deaths_alike, 2u);
    data.back() += 1;
    EXPECT_EQ(of(serve(gpu, data)), reaction::context_lost) << "other data that also kill the worker";
    data.front() = 1;
    EXPECT_OK(serve(gpu, data));
  }
}

TEST_F(quarantine, recognizes_data_computed_in_the_same_way) {
  const device gpu = open();
  const auto compute = [&](float from, int steps) {
    const auto a = gpu.alloc<float>(4), x = gpu.alloc<float>(4), y = gpu.alloc<float>(1);
    gpu.fill(a, from);
    for (int i = 0; i < steps; ++i) gpu.tell(increment{.x = a, .n = 4});
    gpu.copy(x, a);
    gpu.fill(y, 0.f);
    gpu.tell(fragile{.x = x, .y = y, .n = 4});
    return gpu.download(y).get();
  };
  EXPECT_EQ(of(compute(-5, 3)), reaction::context_lost);
  EXPECT_EQ(of(compute(-5, 3)), reaction::context_lost);
  EXPECT_EQ(of(compute(-5, 3)), reaction::caller_bug);
  EXPECT_OK(compute(-5, 6)) << "more steps";
  EXPECT_OK(compute(0, 3)) << "another initial content";
  EXPECT_EQ(of(compute(-5, 4)), reaction::context_lost);
}

TEST_F(quarantine, recognizes_data_that_was_not_written_since) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(4, {.sealable = true}), others = gpu.alloc<float>(4, {.sealable = true});
  gpu.upload(x, bad);
  gpu.upload(others, good);
  ASSERT_OK(seal(gpu, x).get());
  ASSERT_OK(seal(gpu, others).get());
  const auto sum_of_sealed = [&](const buffer<float>& from) {
    const auto y = gpu.alloc<float>(1);
    gpu.fill(y, 0.f);
    gpu.tell(fragile{.x = from, .y = y, .n = 4});
    return gpu.download(y).get();
  };
  EXPECT_EQ(of(sum_of_sealed(x)), reaction::context_lost);
  EXPECT_EQ(of(sum_of_sealed(x)), reaction::context_lost);
  EXPECT_EQ(of(sum_of_sealed(x)), reaction::caller_bug);
  EXPECT_OK(sum_of_sealed(others));
}

TEST_F(quarantine, recognizes_data_that_the_application_wrote) {
  const device gpu = open();
  const auto serve_from_host = [&](const std::vector<float>& data) {
    const auto x = gpu.alloc_host<float>(4);
    std::copy(data.begin(), data.end(), x.data());
    const auto y = gpu.alloc<float>(1);
    gpu.fill(y, 0.f);
    gpu.tell(fragile{.x = x, .y = y, .n = 4});
    return gpu.download(y).get();
  };
  EXPECT_EQ(of(serve_from_host(bad)), reaction::context_lost);
  EXPECT_EQ(of(serve_from_host(worse)), reaction::context_lost);
  EXPECT_OK(serve_from_host(good));
  EXPECT_EQ(of(serve_from_host(worse)), reaction::caller_bug);
}

TEST_F(quarantine, never_recognizes_memory_that_others_may_write) {
  const device gpu = open();
  const auto x = gpu.alloc<float>(4);
  const auto shared = export_memory(gpu, x);
  ASSERT_OK(shared);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(of(serve(gpu, bad, x, gpu.alloc<float>(1))), reaction::context_lost) << "others may have changed it";
  EXPECT_OK(serve(gpu, good, x, gpu.alloc<float>(1)));
}

TEST_F(quarantine, refuses_with_the_request_its_deaths_and_the_remedy) {
  const device gpu = open({.name = "gpu", .restart_window = 60s});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(of(serve(gpu, bad)), reaction::context_lost);
  EXPECT_TRUE(is_error(error_of(serve(gpu, bad)), reaction::caller_bug,
                       {"testing.fragile", "same data", "worker of gpu", "exited with code 9", " s ago",
                        "2 workers have died of requests of this kind within 60 s",
                        "1 of them known to be with the same data", "restart_window", "ends in ", "device::reset()",
                        "Requests with other data are accepted", "device_options::quarantine_after is 2"}));
}

TEST_F(quarantine, counts_deaths_of_the_kind_and_of_the_same_data_apart) {
  const device gpu = open();
  EXPECT_EQ(of(serve(gpu, worse)), reaction::context_lost);
  EXPECT_EQ(of(serve(gpu, bad)), reaction::context_lost);
  EXPECT_TRUE(is_error(error_of(serve(gpu, bad)), reaction::caller_bug,
                       {"2 workers have died of requests of this kind", ", 1 of them known to be with the same data"}));
}

TEST_F(quarantine, ends_by_itself) {
  const device gpu = open({.restart_window = 700ms});
  device_watch w = gpu.watch();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(of(serve(gpu, bad)), reaction::context_lost);
  const device_event begun = next(w, event_kind::quarantined);
  ASSERT_TRUE(begun.cause && begun.fault);
  EXPECT_TRUE(
      is_error(*begun.cause, reaction::caller_bug, {"testing.fragile", "2 workers have died", "0.", "reset()"}));
  EXPECT_TRUE(begun.fault->quarantined);
  EXPECT_EQ(begun.fault->deaths_alike, 2u);
  EXPECT_NE(begun.fault->text().find("requests with the same data are refused"), std::string::npos)
      << begun.fault->text();
  EXPECT_EQ(gpu.statistics().quarantined, 1u);

  const device_event ended = next(w, event_kind::quarantine_ended);
  ASSERT_TRUE(ended.cause);
  EXPECT_TRUE(is_error(*ended.cause, reaction::retry_later, {"testing.fragile", "fewer than 2"}));
  EXPECT_GE(ended.when - begun.fault->when, 300ms);
  EXPECT_EQ(gpu.statistics().quarantined, 0u);
  EXPECT_EQ(of(serve(gpu, bad)), reaction::context_lost) << "the request can be tried again";
}

TEST_F(quarantine, is_lifted_by_reset_without_side_effects) {
  const device gpu = open();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(of(serve(gpu, bad)), reaction::context_lost);
  const auto x = gpu.alloc<float>(4);
  ASSERT_OK(gpu.upload(x, good).get());
  EXPECT_EQ(gpu.statistics().quarantined, 1u);
  device_watch w = gpu.watch();
  ASSERT_OK(gpu.reset().get());
  EXPECT_TRUE(is_error(*next(w, event_kind::quarantine_ended).cause, reaction::retry_later, {"reset()"}));
  EXPECT_EQ(gpu.statistics().quarantined, 0u);
  EXPECT_EQ(gpu.download(x).get().value(), good);
  EXPECT_EQ(of(serve(gpu, bad)), reaction::context_lost);
  EXPECT_FALSE(gpu.last_fault()->quarantined);
}

TEST_F(quarantine, can_be_switched_off_or_made_stricter) {
  const device never = open({.quarantine_after = 0});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(of(serve(never, bad)), reaction::context_lost);
  EXPECT_EQ(never.last_fault()->deaths_alike, 0u);
  const device at_once = open({.quarantine_after = 1});
  EXPECT_EQ(error_of(at_once.ask(crash{.how = ending::exit})).reaction(), reaction::context_lost);
  EXPECT_EQ(error_of(at_once.ask(crash{.how = ending::exit})).reaction(), reaction::caller_bug);
  EXPECT_EQ(error_of(at_once.ask(crash{.how = ending::abort})).reaction(), reaction::context_lost);
}

// Requests that are sent while the first worker dies are neither lost nor mistaken for others.
TEST_F(quarantine, serves_many_threads_while_one_sends_deadly_requests) {
  const device gpu = open({.when_full = when_full::wait, .restarts = 1000});
  std::atomic<bool> over{false};
  std::atomic<int> refused{0}, served{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 3; ++t)
    clients.emplace_back([&, t] {
      for (int i = 0; !over.load() || i < 5; ++i) {
        const auto answer = serve(gpu, {1, static_cast<float>(t), static_cast<float>(i % 3)});
        served += answer.has_value();
        refused += of(answer) == reaction::caller_bug;
      }
    });
  for (int i = 0; i < 30; ++i) (void)serve(gpu, {-1, static_cast<float>(i % 10), 0});
  over.store(true);
  for (auto& c : clients) c.join();
  EXPECT_EQ(refused.load(), 0);
  EXPECT_GT(served.load(), 0);
}

}  // namespace
}  // namespace troupe::whole
