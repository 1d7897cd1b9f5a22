// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests what errors and the black box say about the request that failed: its kernel, program, label, node and operand.
#include <troupe/device/sealing.hpp>
#include <troupe/graph/graph.hpp>

#include <tests/contract/kernels/jit_source.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

constexpr const char* long_name = "a_kernel_with_a_name_that_is_longer_than_what_fits_the_fixed_part_of_a_request";

class fault_names : public testing::Test {
 protected:
  device open() { return runtime_.open_device(with_test_engines({.restarts = 10, .quarantine_after = 0})); }
  static jit::program compiled(const device& gpu) {
    const std::string body = "(const float* x, float* y, long i) { y[i] = x[0]; }\n";
    return jit::compile(gpu, {.source = "__global__ void scatter" + body + "__global__ void " + long_name + body +
                                        "__global__ void careless(const float* x) { ((float*)x)[3] = 1; }\n",
                              .name = "scatter.cu"});
  }
  static jit::launch scatter(const jit::program& p, const buffer<float>& x, const buffer<float>& y, std::int64_t i,
                             const char* name = "scatter") {
    return {.kernel = p.kernel(name), .grid = 1, .block = 1, .arguments = {x, inout(y), i}};
  }
  static testing::AssertionResult has(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
      if (text.find(part) == std::string::npos) return testing::AssertionFailure() << part << " is not in: " << text;
    return testing::AssertionSuccess();
  }

  static constexpr std::int64_t far = 2'000'000'000;  // elements
  runtime runtime_;
};

TEST_F(fault_names, have_the_kernel_its_program_and_the_argument_that_was_overrun) {
  const device gpu = open();
  const jit::program p = compiled(gpu);
  for (const char* name : {"scatter", long_name}) {
    const auto x = gpu.alloc<float>(1000, {.zeroed = true}), y = gpu.alloc<float>(1000, {.zeroed = true});
    const error e = error_of(gpu.ask(scatter(p, x, y, far, name)));
    const std::string full = std::string("jit.launch ") + name + " (scatter.cu) #";
    EXPECT_TRUE(is_error(e, reaction::context_lost,
                         {("] " + full).c_str(), ("it was working on " + full).c_str(), "SIGSEGV",
                          "7.451 GiB past the end of argument 1 (f32[1000])"}));
    const auto record = gpu.last_fault();
    EXPECT_TRUE(has(record->text(), {("blamed: " + full).c_str(), ("  " + full).c_str(), ": lost"}));
    EXPECT_EQ(record->blamed->name + " #", full);
  }
}

TEST_F(fault_names, say_that_a_kernel_wrote_to_a_sealed_argument) {
  const device gpu = open();
  const jit::program p = compiled(gpu);
  const auto x = gpu.alloc<float>(1000, {.zeroed = true, .sealable = true});
  ASSERT_OK(seal(gpu, x).get());
  EXPECT_TRUE(
      is_error(error_of(gpu.ask(jit::launch{.kernel = p.kernel("careless"), .grid = 1, .block = 1, .arguments = {x}})),
               reaction::context_lost,
               {"jit.launch careless (scatter.cu)", ", at element 3 of argument 0 (f32[1000]), which is sealed"}));
}

TEST_F(fault_names, have_the_label_of_the_call) {
  const device gpu = open();
  const jit::program p = compiled(gpu);
  const auto x = gpu.alloc<float>(1000, {.zeroed = true}), y = gpu.alloc<float>(1000, {.zeroed = true});
  EXPECT_TRUE(is_error(error_of(gpu.ask(scatter(p, x, y, far), {.label = "layer " + std::to_string(7)})),
                       reaction::context_lost, {"] jit.launch scatter (scatter.cu) \"layer 7\" #"}));
  EXPECT_TRUE(is_error(error_of(gpu.ask(crash{.how = ending::exit}, {.label = "the last"})), reaction::context_lost,
                       {"] testing.crash \"the last\" #"}));
  EXPECT_TRUE(has(gpu.last_fault()->text(), {"blamed: testing.crash \"the last\" #"}));
  EXPECT_TRUE(is_error(error_of(gpu.ask(fail{.how = reaction::caller_bug, .code = 1, .text = "no"}, {.label = "odd"})),
                       reaction::caller_bug, {"] testing.fail \"odd\" #"}));
  const error none = error_of(gpu.ask(crash{.how = ending::exit}));
  EXPECT_TRUE(is_error(none, reaction::context_lost, {"] testing.crash #"}))
      << "the slot's previous request had a label";
}

TEST_F(fault_names, stand_in_the_chain_of_requests_that_an_error_has_reached) {
  const device gpu = open();
  const jit::program p = compiled(gpu);
  const auto x = gpu.alloc<float>(4, {.zeroed = true}), y = gpu.alloc<float>(4, {.zeroed = true});
  gpu.tell(scatter(p, x, y, 0, "nothing"), {.label = "first"});
  gpu.tell(scatter(p, y, x, 0));
  EXPECT_TRUE(is_error(error_of(gpu.download(x)), reaction::caller_bug,
                       {"] jit.launch nothing (scatter.cu) \"first\" #", "has no kernel \"nothing\"",
                        "(reached through jit.launch scatter (scatter.cu) #"}));
  const auto z = gpu.alloc<float>(4, {.zeroed = true});
  EXPECT_TRUE(is_error(error_of(gpu.ask(scatter(p, x, z, 0), {.label = "late"})), reaction::caller_bug,
                       {"jit.launch scatter (scatter.cu) \"late\""}));
  jit::launch wrong = scatter(p, z, z, 0);
  wrong.grid = 0;
  EXPECT_TRUE(is_error(error_of(gpu.ask(wrong, {.label = "w"})), reaction::caller_bug,
                       {"] jit.launch scatter (scatter.cu) \"w\": grid is {0, 1, 1}"}));
}

TEST_F(fault_names, have_the_graph_and_its_node) {
  const device gpu = open();
  const jit::program p = compiled(gpu);
  const auto x = gpu.alloc<float>(4), y = gpu.alloc<float>(4);
  graph::recorder rec(gpu, {.name = "iteration"});
  rec.fill(x, 1);
  rec.fill(y, 1);
  rec.add(scatter(p, x, y, 1));
  rec.add(scatter(p, x, y, far), "step");
  const graph::graph g = rec.finish();
  EXPECT_TRUE(is_error(error_of(gpu.ask(graph::launch{.graph = g})), reaction::context_lost,
                       {"] graph.launch \"iteration\" #",
                        "it was working on graph.launch \"iteration\", node 3 \"step\" "
                        "(jit.launch scatter (scatter.cu)) #"}));
  EXPECT_TRUE(has(gpu.last_fault()->text(), {"blamed: graph.launch \"iteration\", node 3 \"step\""}));
}

}  // namespace
}  // namespace troupe::whole
