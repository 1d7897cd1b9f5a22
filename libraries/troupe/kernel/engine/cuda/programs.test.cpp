// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests launches that run as one graph, on a driver that records its calls.
#include <gtest/gtest.h>

#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/kernel/engine/cuda/programs.hpp>
#include <vector>

namespace troupe::kernel {
namespace {

using cuda::testing::driver;

constexpr gpu_limits h100{.shared_bytes = 227 * 1024, .multiprocessors = 132, .major = 9, .minor = 0};

class program_launches : public testing::Test {
 protected:
  program_launches() {
    driver().reset();
    driver().computes = true;
    driver().function_attributes = {{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024}};
    driver().kernels = {{"note", sizeof(int), [this](auto, auto, const void* x) { noted_.push_back(value(x)); }},
                        {"less", sizeof(int), [this](auto, auto, const void* x) { noted_.push_back(-value(x)); }}};
  }
  ~program_launches() override {
    driver().function_attributes.clear();
    driver().kernels.clear();
  }
  static int value(const void* x) { return *static_cast<const int*>(x); }

  struct launched {
    const char* kernel;
    int argument;
    int threads = 32;
  };
  static std::vector<launched> in_turns(int count, int first) {
    std::vector<launched> out;
    for (int i = 0; i < count; ++i) out.push_back({i % 2 == 0 ? "note" : "less", first + i});
    return out;
  }
  // Calls `f` with the launch, as a worker receives it.
  template <class F>
  auto with(const launched& l, F&& f) {
    const std::vector<argument> list{argument(l.argument)};
    const arguments sent(list);
    std::vector<std::byte> encoded(sent.encoded_bytes());
    sent.encode(encoded.data());
    const dimensions grid(1), block(l.threads);
    const extent shared(0);
    return f(root_, launch_order{.request = "jit.launch",
                                 .kernel = l.kernel,
                                 .grid = grid,
                                 .block = block,
                                 .shared_bytes = shared,
                                 .values = arguments::view(encoded.data(), 1),
                                 .cooperative = false});
  }
  bool put_together(const std::vector<launched>& all, std::uint32_t lane = 0) {
    call c{};
    c.lane = lane;
    return programs_.run_sequence(all.size(), [&](std::size_t i, const auto& f) { return with(all[i], f); }, c);
  }
  // Runs the launches as a lane does. Returns true if they ran as one graph.
  bool run(const std::vector<launched>& all) {
    noted_.clear();
    if (put_together(all)) return true;
    call c{};
    for (const launched& l : all)
      with(l, [&](const program_root& root, const launch_order& o) {
        if (auto ok = programs_.run(root, o, c); !ok) errors_.push_back(ok.error().text());
        return true;
      });
    return false;
  }
  static std::vector<int> noted_by(const std::vector<launched>& all) {
    std::vector<int> out;
    for (const launched& l : all) out.push_back(l.kernel[0] == 'n' ? l.argument : -l.argument);
    return out;
  }

  program_root root_{.id = 7};
  gpu_programs programs_{
      h100, 4, [](const program_root&) -> gpu_programs::made {
        const auto ptx = std::make_shared<const std::string>(".version 8.0\n.target sm_80\n.address_size 64\n");
        auto image = gpu_image::load(*ptx, "it", h100);
        if (!image) return {image.error(), {}, ""};
        return {std::make_shared<const loaded_program<gpu_image>>("it", std::move(*image), ptx), {}, ""};
      }};
  std::vector<int> noted_;
  std::vector<std::string> errors_;
};

TEST_F(program_launches, become_one_launch_of_a_graph_when_they_repeat) {
  EXPECT_FALSE(run(in_turns(32, 0)));
  for (int i = 1; i < 10; ++i) {
    EXPECT_TRUE(run(in_turns(32, 100 * i))) << i;
    EXPECT_EQ(noted_, noted_by(in_turns(32, 100 * i)));
  }
  EXPECT_EQ(driver().count("cuLaunchKernel"), 32u);
  EXPECT_EQ(driver().count("cuGraphLaunch"), 9u);
}

TEST_F(program_launches, run_one_by_one_if_one_is_wrong_so_that_only_it_fails) {
  for (int i = 0; i < 3; ++i) run(in_turns(32, i));
  std::vector<launched> all = in_turns(32, 0);
  all[5].threads = 2000;
  const std::size_t launched_before = driver().count("cuLaunchKernel");
  EXPECT_FALSE(run(all));
  EXPECT_EQ(driver().count("cuLaunchKernel"), launched_before + 31);
  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_NE(errors_[0].find("2000"), std::string::npos) << errors_[0];
  all = in_turns(32, 0);
  all[9].kernel = "missing";
  EXPECT_FALSE(run(all));
  EXPECT_EQ(errors_.size(), 2u);
  EXPECT_TRUE(run(in_turns(32, 7)));
  EXPECT_EQ(noted_, noted_by(in_turns(32, 7)));
}

TEST_F(program_launches, run_one_by_one_if_the_driver_refuses_their_graph) {
  for (int i = 0; i < 2; ++i) run(in_turns(32, i));
  for (const char* call : {"cuGraphLaunch", "cuGraphExecKernelNodeSetParams"}) {
    driver().fail(call, CUDA_ERROR_UNKNOWN);
    EXPECT_FALSE(run(in_turns(32, 50))) << call;
    EXPECT_EQ(noted_, noted_by(in_turns(32, 50))) << call;
    driver().succeed(call);
    EXPECT_TRUE(run(in_turns(32, 60)));
    EXPECT_EQ(noted_, noted_by(in_turns(32, 60)));
  }
}

TEST_F(program_launches, are_refused_after_their_program_was_unloaded_even_if_a_graph_has_them) {
  for (int i = 0; i < 3; ++i) run(in_turns(32, i));
  programs_.unload(root_);
  EXPECT_FALSE(run(in_turns(32, 0)));
  EXPECT_TRUE(noted_.empty());
  EXPECT_EQ(errors_.size(), 32u);
}

TEST_F(program_launches, use_graphs_of_their_own_lane_only) {
  EXPECT_FALSE(put_together(in_turns(32, 0), 1));
  EXPECT_FALSE(put_together(in_turns(32, 0), 2)) << "one graph must not run on two streams at a time";
  EXPECT_TRUE(put_together(in_turns(32, 0), 1));
}

// Each lookup of launches that do not repeat takes time.
TEST_F(program_launches, are_looked_up_less_and_less_often_while_they_do_not_repeat) {
  const auto different = [](int i) {
    std::vector<launched> out = in_turns(32, 0);
    for (int bit = 0; bit < 20; ++bit) out[static_cast<std::size_t>(bit)].threads = (i >> bit & 1) != 0 ? 64 : 32;
    return out;
  };
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(put_together(different(i)));
  int looked = 0;
  for (int i = 0; i < 160; ++i) looked += put_together(in_turns(32, 0));
  EXPECT_GT(looked, 100) << "launches that repeat again are found";
}

}  // namespace
}  // namespace troupe::kernel
