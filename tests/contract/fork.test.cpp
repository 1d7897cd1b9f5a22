// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of programs that fork while devices are open.
#include <array>
#include <optional>
#include <tests/support/in_child.hpp>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/device/keep_content.hpp>
#include <troupe/device/managed.hpp>
#include <troupe/device/peers.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/device/sharing.hpp>
#include <troupe/graph/graph.hpp>
#include <troupe/jit/jit.hpp>

#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

const fail unsupported{.how = reaction::unsupported, .code = 1, .text = "on purpose"};

// The observations of a child: each line names one that was not as expected.
class notes {
 public:
  void expect(bool right, const std::string& what) {
    if (!right) text_ += what + "\n";
  }
  template <class T>
  void refused(const result<T>& r, const char* what) {
    const error e = error_of(r);
    expect(e.reaction() == reaction::stopped && e.text().find("parent process") != std::string::npos,
           std::string(what) + ": " + e.to_string());
  }
  template <class T>
  void refused(pending<T> p, const char* what) {
    auto got = p.get_for(5s);
    got ? refused(*got, what) : expect(false, std::string(what) + ": no answer");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void refuses_requests(notes& n, const device& gpu, const buffer<float>& x) {
  n.refused(gpu.ping(), "ping");
  n.refused(gpu.ask(unsupported), "ask");
  n.expect(!gpu.tell(unsupported), "tell was accepted");
  n.refused(gpu.fill(x, 1.0f), "fill of an inherited buffer");
  n.refused(gpu.fill(x.slice(10, 900), 1.0f), "fill of a slice");
  n.refused(gpu.fill(x.slice(10, 9000), 1.0f), "fill of a slice that ends outside");
  n.refused(gpu.download(x), "download");
  n.refused(gpu.upload(x, counting(1000)), "upload");
  n.refused(gpu.download(gpu.upload(counting(10))), "upload to a new buffer");
  n.refused(gpu.download(gpu.upload(counting(1 << 18))), "a large upload");
  n.refused(gpu.sync(), "sync");
  n.refused(gpu.room(), "room");
  n.refused(gpu.within({.timeout = 10s}).ping(), "ping within a scope");
}

class forked : public testing::TestWithParam<isolation> {
 protected:
  void SetUp() override { ASSERT_OK(gpu.started().get()); }
  device open() { return rt->open_device(with_test_engines({.isolation = GetParam()})); }
  testing::AssertionResult serves(const device& d, float first = 1) {
    const auto data = counting(1000, first);
    const auto got = d.download(d.upload(data)).get();
    if (!got) return testing::AssertionFailure() << got.error().to_string();
    return *got == data ? testing::AssertionSuccess() : testing::AssertionFailure() << "wrong data";
  }

  runtime* rt = new runtime;  // a child deletes it, as exit() would
  device gpu = open();
  void TearDown() override { delete rt; }
};
INSTANTIATE_TEST_SUITE_P(each, forked, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(forked, a_child_is_refused_each_request_and_its_parent_notices_nothing) {
  const auto x = gpu.alloc<float>(1000);
  ASSERT_OK(gpu.fill(x, 3.0f).get());
  auto before = gpu.ping(1);
  EXPECT_EQ(in_child([&] {
              notes n;
              refuses_requests(n, gpu, x);
              return n.text();
            }),
            "");
  EXPECT_OK(before.get());
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(1000, 3.0f));
  EXPECT_TRUE(serves(gpu));
  EXPECT_EQ(gpu.statistics().faults, 0u);
}

TEST_P(forked, a_child_is_refused_memory_and_everything_else_of_a_device) {
  const auto x = gpu.alloc<float>(1000, {.sealable = true});
  const auto h = gpu.alloc_host<float>(10);
  const device other = open();
  const auto y = other.alloc<float>(1000);
  ASSERT_OK(gpu.fill(x, 3.0f).get());
  ASSERT_OK(other.fill(y, 3.0f).get());
  auto watch = gpu.watch();
  EXPECT_EQ(in_child([&] {
              notes n;
              n.refused(gpu.fill(gpu.alloc<float>(10), 1.0f), "alloc");
              n.expect(gpu.alloc_host<float>(10).data() == nullptr, "alloc_host made memory");
              n.refused(gpu.fill(alloc_managed<float>(gpu, 10), 1.0f), "alloc_managed");
              n.refused(gpu.started(), "started");
              n.refused(gpu.stopped(), "stopped");
              n.refused(gpu.reset(), "reset");
              n.refused(gpu.close(), "close");
              n.refused(gpu.close_now(), "close_now");
              n.refused(seal(gpu, x), "seal");
              n.refused(unseal(gpu, x), "unseal");
              n.refused(keep_content(gpu, x), "keep_content");
              n.refused(written(gpu, h), "written");
              n.refused(export_memory(gpu, x), "export_memory");
              n.refused(lend(gpu, x), "lend");
              n.refused(copy_between(gpu, x, other, y), "a copy between devices");
              n.refused(enable_peer(gpu, other), "enable_peer");
              n.refused(peer(gpu, other), "peer");
              n.refused(watch.next(), "next of a watch");
              n.expect(!watch.poll(), "poll of a watch");
              n.expect(error_of(gpu.watch().next()).reaction() == reaction::stopped, "watch");
              n.expect(gpu.state() == device_state::stopped && !gpu.ready(), "state");
              n.expect(gpu.statistics().state == device_state::stopped, "statistics");
              n.expect(gpu.last_fault() == nullptr && gpu.trim() == 0, "last_fault or trim");
              n.expect(rt->devices().empty(), "devices");
              n.refused(rt->open_device(with_test_engines()).started(), "a device of the parent's runtime");
              return n.text();
            }),
            "");
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<float>(1000, 3.0f));
  EXPECT_TRUE(serves(other));
}

TEST_P(forked, answers_that_only_the_parent_gets_do_not_block_a_child) {
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto answer = gpu.ping(5), awaited = gpu.ping(6), chained = gpu.ping(7), cancelled = gpu.ping(8);
  auto data = gpu.download(gpu.upload(counting(1000)));
  std::stop_source stop;
  auto scoped = gpu.within({.stop = stop.get_token()}).ping(9);
  EXPECT_EQ(in_child([&] {
              notes n;
              n.refused(std::move(answer), "get");
              n.refused(data.get(), "get of a download");
              n.refused(std::move(chained).then([](const result<std::uint64_t>& r) { return r; }), "then");
              n.refused(sync_wait([](pending<std::uint64_t> p) -> task<result<std::uint64_t>> {
                          co_return co_await std::move(p);
                        }(std::move(awaited))),
                        "co_await");
              cancelled.cancel();
              n.refused(std::move(cancelled), "get after a cancel");
              stop.request_stop();
              n.refused(std::move(scoped), "get after a stop");
              return n.text();
            }),
            "");
  b.lift();
  EXPECT_EQ(answer.get().value(), 5u);
  EXPECT_EQ(awaited.get().value(), 6u);
  EXPECT_EQ(chained.get().value(), 7u);
  EXPECT_EQ(cancelled.get().value(), 8u);
  EXPECT_EQ(scoped.get().value(), 9u);
  EXPECT_EQ(data.get().value(), counting(1000));
}

// The names of kernels are in memory that a child does not map.
TEST_P(forked, a_child_may_destroy_programs_and_graphs_whose_launches_it_is_refused) {
  const jit::recipe adds_one{.source = "__global__ void add(int* x) { *x += 1; }"};
  std::optional program(jit::compile(gpu, adds_one));
  const auto x = gpu.upload(std::vector<int>{1});
  std::optional launch(program->kernel<void(inout<int>)>("add")(1, 1)(x));
  graph::recorder recorder(gpu);
  recorder.add(*launch);
  std::optional recorded(recorder.finish());
  ASSERT_OK(gpu.ask(*launch).get());
  EXPECT_EQ(in_child([&] {
              notes n;
              n.refused(gpu.ask(*launch), "a launch");
              n.refused(gpu.ask(graph::launch{.graph = *recorded}), "a launch of a graph");
              n.refused(program->ready(), "ready");
              n.refused(jit::compile(gpu, adds_one).ready(), "compile");
              launch.reset();
              recorded.reset();
              program.reset();
              return n.text();
            }),
            "");
  EXPECT_OK(gpu.ask(graph::launch{.graph = *recorded}).get());
  EXPECT_EQ(gpu.download(x).get().value(), std::vector<int>{3});
}

// Does in a child what exit() or the end of main() does if runtime, devices and buffers are static.
TEST_P(forked, a_child_that_destroys_everything_leaves_its_parents_failures_intact) {
  for (int round = 0; round < 10; ++round) {
    std::vector<pending<void>> answers;
    std::optional<buffer<float>> x = gpu.alloc<float>(1000);
    std::optional<device> last = open();
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    for (int i = 0; i < 8; ++i) answers.push_back(gpu.ask(unsupported));
    EXPECT_EQ(in_child([&] {
                answers.clear();
                x.reset();
                last.reset();
                delete rt;
                return std::string();
              }),
              "");
    b.lift();
    for (auto& a : answers) EXPECT_TRUE(is_error(error_of(a.get()), reaction::unsupported, {"on purpose"}));
    EXPECT_TRUE(serves(*last));
  }
}

TEST_P(forked, children_end_and_disturb_no_request_while_threads_of_the_program_ask) {
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, answered{0};
  std::vector<std::jthread> clients;
  for (int c = 0; c < 3; ++c)
    clients.emplace_back([&, c] {
      for (int k = 0; !stop; ++k) {
        const auto data = counting(100, static_cast<float>(k + c));
        auto got = gpu.download(gpu.upload(data)).get();
        if (!got || *got != data) ++wrong;
        const auto h = gpu.alloc_host<float>(100);
        if (h.data() == nullptr || !gpu.room().get() || gpu.watch().poll()) ++wrong;
        (void)gpu.trim();
        ++answered;
      }
    });
  std::string said;
  for (int i = 0; i < 100 && said.empty(); ++i) {
    auto answer = gpu.ping(1);
    auto x = gpu.alloc<float>(100);
    said = in_child([&] {
      notes n;
      if (!answer.ready()) n.refused(std::move(answer), "an answer of the parent");
      refuses_requests(n, gpu, x);
      x = {};
      const device copy = gpu;
      n.expect(copy.within({.timeout = 1s}).statistics().state == device_state::stopped, "statistics");
      delete rt;
      return n.text();
    });
    EXPECT_OK(gpu.fill(x, 1.0f).get());
  }
  stop = true;
  clients.clear();
  EXPECT_EQ(said, "");
  EXPECT_EQ(wrong, 0) << "of " << answered;
  EXPECT_EQ(gpu.statistics().faults, 0u);
}

#if !TROUPE_THREAD_SANITIZER  // which allows no threads in a child
TEST_P(forked, a_child_may_open_devices_of_its_own_and_so_may_its_child) {
  EXPECT_EQ(in_child([&] {
              notes n;
              runtime mine;
              device own = mine.open_device(with_test_engines({.isolation = GetParam(), .restarts = 5}));
              n.expect(static_cast<bool>(serves(own)), "the child's device does not serve");
              n.refused(gpu.ping(), "ping of the parent's device");
              n.expect(in_child([&] {
                         notes of_grandchild;
                         of_grandchild.refused(own.ping(), "ping of the child's device");
                         of_grandchild.refused(gpu.ping(), "ping of the first device");
                         runtime third;
                         of_grandchild.expect(
                             static_cast<bool>(serves(third.open_device(with_test_engines({.isolation = GetParam()})))),
                             "the grandchild's device does not serve");
                         return of_grandchild.text();
                       }).empty(),
                       "the grandchild");
              if (GetParam() == isolation::process) {
                replace_worker(own);
                n.expect(static_cast<bool>(serves(own)), "the child's device does not recover");
              }
              n.expect(own.close().get_for(10s).has_value(), "the child's device does not close");
              return n.text();
            }),
            "");
  EXPECT_TRUE(serves(gpu));
}
#endif

}  // namespace
}  // namespace troupe::whole
