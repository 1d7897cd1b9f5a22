// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of repeated launches that the engine of a GPU runs as one graph: they have the same effect as one by one.
#include <tests/contract/faults/with_standbys.hpp>
#include <tests/contract/harness.hpp>
#include "jit_source.hpp"

namespace troupe::whole {
namespace {

constexpr const char* source = R"(
  __global__ void scaled(unsigned* x, unsigned by) { x[threadIdx.x] = x[threadIdx.x] * 3u + by; }
  __global__ void moved(unsigned* x, unsigned by) { x[threadIdx.x] = (x[threadIdx.x] ^ by) * 5u; }
  __global__ void added(unsigned* x, const unsigned* y) { x[threadIdx.x] += y[threadIdx.x]; }
  __global__ void copied(unsigned* y, const unsigned* x) { y[threadIdx.x] = x[threadIdx.x]; }
  __global__ void set(unsigned* x, unsigned to) { x[threadIdx.x] = to; }
  __global__ void wild(unsigned* x) { *reinterpret_cast<volatile unsigned*>(16) = x[0]; }
)";
constexpr const char* versioned = R"(
  #ifndef VERSION
  #define VERSION 0
  #endif
  __global__ void k(unsigned* x) { x[0] += VERSION; }
)";
constexpr std::size_t width = 32;
using words = std::vector<std::uint32_t>;

// A device with a program, and the memory in which it computes.
struct launcher {
  explicit launcher(isolation how, device_options o = {}) : gpu(rt.open_device(options_of(how, std::move(o)))) {
    EXPECT_OK(program.ready().get());
    EXPECT_OK(gpu.sync().get());
  }
  static device_options options_of(isolation how, device_options o) {
    o.isolation = how;
    return with_test_engines(std::move(o));
  }
  jit::launch scaled(const buffer<std::uint32_t>& to, std::uint32_t by) const {
    return {.kernel = program.kernel("scaled"), .grid = 1, .block = width, .arguments = {inout(to), by}};
  }
  // Returns launch n of a sequence, in which each launch needs the result of the previous one.
  jit::launch launch(std::uint32_t n) const {
    if (n % 5 == 4) return {.kernel = program.kernel("added"), .grid = 1, .block = width, .arguments = {inout(x), y}};
    const buffer<std::uint32_t>& to = n % 3 == 2 ? y : x;
    if (n % 2 == 0) return scaled(to, n);
    return {.kernel = program.kernel("moved"), .grid = 1, .block = width, .arguments = {inout(to), n}};
  }
  // Sends the launch, and computes its expected effect.
  void tell(std::uint32_t n, const call_options& o = {}) {
    gpu.tell(launch(n), o);
    apply(n);
  }
  void apply(std::uint32_t n) {
    if (n % 5 == 4) {
      right_x += right_y;
      return;
    }
    std::uint32_t& to = n % 3 == 2 ? right_y : right_x;
    to = n % 2 == 0 ? to * 3 + n : (to ^ n) * 5;
  }
  void expect_right() const {
    EXPECT_EQ(gpu.download(x).get().value(), words(width, right_x));
    EXPECT_EQ(gpu.download(y).get().value(), words(width, right_y));
  }
  std::uint64_t put_together() const {
    std::uint64_t all = 0;
    for (const lane_statistics& l : gpu.statistics().lanes) all += l.together;
    return all;
  }

  runtime rt;
  device gpu;
  jit::program program = jit::compile(gpu, {.source = source});
  buffer<std::uint32_t> x = gpu.alloc<std::uint32_t>(width, {.zeroed = true});
  buffer<std::uint32_t> y = gpu.alloc<std::uint32_t>(width, {.zeroed = true});
  std::uint32_t right_x = 0, right_y = 0;
};

class launches_together : public testing::TestWithParam<isolation> {};
INSTANTIATE_TEST_SUITE_P(each, launches_together, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(launches_together, compute_the_same_numbers_as_one_by_one) {
  launcher l(GetParam());
  // enough for a worker of a GPU to lag behind
  const std::uint32_t launches = engine_under_test() == "cuda" ? 900 : 90;
  for (std::uint32_t again = 0; again < 20; ++again) {
    hold_up b(l.gpu);
    for (std::uint32_t n = 0; n < launches; ++n)
      l.tell(n + again * 30 * 90);  // repeats the same kernels with other arguments
    b.lift();
    l.expect_right();
  }
  if (engine_under_test() == "cuda")
    EXPECT_GE(l.put_together(), 300u);
  else
    EXPECT_EQ(l.put_together(), 0u) << "on the host, no launches are combined";
}

TEST_P(launches_together, return_their_own_errors) {
  launcher l(GetParam());
  const auto z = l.gpu.alloc<std::uint32_t>(width, {.zeroed = true});
  for (int again = 0; again < 8; ++again) {
    hold_up b(l.gpu);
    for (std::uint32_t n = 0; n < 40; ++n) l.tell(n);
    auto wrong = l.gpu.ask(
        jit::launch{.kernel = l.program.kernel("missing"), .grid = 1, .block = width, .arguments = {out(z), 1u}});
    auto needs_it = l.gpu.ask(l.scaled(z, 1));
    for (std::uint32_t n = 40; n < 60; ++n) l.tell(n);
    b.lift();
    EXPECT_TRUE(is_error(error_of(std::move(wrong)), reaction::caller_bug, {"missing"}));
    EXPECT_FALSE(needs_it.get());
    l.expect_right();
    ASSERT_OK(l.gpu.fill(z, 0).get());
  }
}

TEST_P(launches_together, can_be_cancelled_one_by_one) {
  launcher l(GetParam());
  for (int again = 0; again < 6; ++again) {
    hold_up b(l.gpu);
    std::vector<pending<void>> answers;
    for (std::uint32_t n = 0; n < 32; ++n) answers.push_back(l.gpu.ask(l.scaled(l.x, n)));
    answers[31].cancel();
    b.lift();
    for (std::size_t n = 0; n < 31; ++n) EXPECT_OK(answers[n].get());
    const auto last = answers[31].get();
    if (!last || engine_under_test() != "cuda") {  // a GPU's worker may have issued it before it was cancelled
      EXPECT_TRUE(is_error(error_of(last), reaction::retry_later, {"cancelled"}));
    }
    ASSERT_OK(l.gpu.fill(l.x, 0).get());
  }
}

TEST_P(launches_together, run_one_by_one_if_each_has_a_time_limit_or_the_device_forbids_combining) {
  for (const bool coalesce : {true, false}) {
    launcher l(GetParam(), {.coalesce = coalesce});
    for (int again = 0; again < 4; ++again) {
      hold_up b(l.gpu);
      for (std::uint32_t n = 0; n < 60; ++n)
        l.tell(n, {.run_timeout = coalesce ? time_span::of_seconds(20) : time_span::for_ever()});
      b.lift();
      l.expect_right();
    }
    EXPECT_EQ(l.put_together(), 0u);
  }
}

TEST_P(launches_together, use_the_kernels_of_the_new_program_after_a_new_compile) {
  launcher l(GetParam());
  for (std::uint32_t version = 1; version < 6; ++version) {
    const auto p =
        jit::compile(l.gpu, {.source = versioned, .definitions = {{"VERSION", std::to_string(version) + "u"}}});
    ASSERT_OK(p.ready().get());
    ASSERT_OK(l.gpu.fill(l.x, 0).get());
    for (int again = 0; again < 4; ++again) {
      hold_up b(l.gpu);
      for (int n = 0; n < 32; ++n)
        l.gpu.tell(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(l.x)}});
      b.lift();
      ASSERT_OK(l.gpu.sync().get());
    }
    EXPECT_EQ(l.gpu.download(l.x).get().value()[0], 4 * 32 * version);
    EXPECT_OK(p.unload().get());
  }
}

// A launch after which a fault occurs may be done without a report, and its input may have been replaced.
TEST_P(launches_together, are_not_repeated_on_data_that_a_later_launch_has_written) {
  if (GetParam() == isolation::thread) return;  // the test would end its own process
  launcher l(GetParam(), {.restarts = 10, .quarantine_after = 0, .salvage = salvage::untouched});
  for (int again = 0; again < 4; ++again) {
    ASSERT_OK(l.gpu.fill(l.x, 1).get());
    const auto copy = l.gpu.alloc<std::uint32_t>(width, {.zeroed = true});
    hold_up b(l.gpu);
    auto copied = l.gpu.ask(
        jit::launch{.kernel = l.program.kernel("copied"), .grid = 1, .block = width, .arguments = {out(copy), in(l.x)}},
        {.retries = 3});
    for (int i = 0; i < again * 4; ++i)
      l.gpu.tell(
          jit::launch{.kernel = l.program.kernel("set"), .grid = 1, .block = width, .arguments = {out(l.x), 2u}});
    auto broken =
        l.gpu.ask(jit::launch{.kernel = l.program.kernel("wild"), .grid = 1, .block = 1, .arguments = {in(l.x)}});
    b.lift();
    EXPECT_EQ(broken.get().error().reaction(), reaction::context_lost);
    if (const auto done = copied.get()) {
      EXPECT_EQ(l.gpu.download(copy).get().value(), words(width, 1));
    } else {
      EXPECT_EQ(done.error().reaction(), reaction::context_lost) << done.error().text();
    }
  }
}

class launches_together_on_standbys : public with_standbys {
 protected:
  launches_together_on_standbys() : with_standbys(10) {}
};
TROUPE_WITH_STANDBYS(launches_together_on_standbys);

TEST_P(launches_together_on_standbys, are_right_on_every_worker) {
  const device gpu = open();
  const jit::program p = jit::compile(gpu, {.source = source});
  for (int worker = 0; worker < 3; ++worker) {
    const auto x = gpu.alloc<std::uint32_t>(width, {.zeroed = true});
    std::uint32_t expected = 0;
    for (std::uint32_t n = 0; n < 200; ++n) {
      gpu.tell(jit::launch{.kernel = p.kernel("scaled"), .grid = 1, .block = width, .arguments = {inout(x), n}});
      expected = expected * 3 + n;
    }
    EXPECT_EQ(gpu.download(x).get().value(), words(width, expected));
    for (std::uint32_t n = 0; n < 200; ++n)
      gpu.tell(jit::launch{.kernel = p.kernel("scaled"), .grid = 1, .block = width, .arguments = {inout(x), n}});
    kill_and_wait(gpu);  // while the launches are running
  }
}

}  // namespace
}  // namespace troupe::whole
