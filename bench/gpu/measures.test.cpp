// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Runs the measures of a GPU on the host engine, with a stand-in for the raw side. Their figures are meaningless, but
// they must detect wrong results.
#include <gtest/gtest.h>

#include <apps/cli/installation.hpp>
#include <bench/device_under_test.hpp>
#include <bench/gpu/kernels.hpp>
#include <bench/measures.hpp>
#include <bench/networks/residual_network.hpp>
#include <cstdlib>

namespace troupe::bench {
namespace {

class measures_of_a_gpu : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TROUPE_RUNTIME", apps::installation::of_this_program().runtime.c_str(), 1);
    ::setenv("TROUPE_CACHE", TROUPE_TEST_CACHE, 1);
  }
  void TearDown() override {
    ::unsetenv("TROUPE_RUNTIME");
    ::unsetenv("RAW_STAND_IN");
  }
  // The folder with the stand-in, which an installation has for the plug-in.
  const settings quick{.quick = true, .runtime_folder = TROUPE_STAND_IN_FOLDER};
};

TEST_F(measures_of_a_gpu, have_a_figure_for_troupe_and_one_for_the_raw_side) {
  for (const measure* m : {&gpu_roundtrip, &gpu_graph, &gpu_alloc}) {
    const figures f = m->run(quick);
    EXPECT_GT(f.ours, f.raw) << m->name;
    EXPECT_GT(f.raw, 0) << m->name;
    EXPECT_EQ(f.objection, "") << m->name;
  }
}

TEST_F(measures_of_a_gpu, report_a_sequence_of_launches_with_a_wrong_result) {
  EXPECT_EQ(gpu_stream_mixed.run(quick).objection, "");
  ::setenv("RAW_STAND_IN", "wrong", 1);
  EXPECT_EQ(gpu_stream_mixed.run(quick).objection, "the results of the raw side are wrong");
}

TEST_F(measures_of_a_gpu, have_a_figure_for_small_uploads) {
  const figures f = gpu_small.run(quick);
  EXPECT_GT(f.ours, 0);
  EXPECT_EQ(f.objection, "");
}

TEST_F(measures_of_a_gpu, report_the_cost_of_a_tell_for_its_caller) {
  const figures f = gpu_stream.run(quick);
  EXPECT_EQ(f.objection, "");
  EXPECT_NE(f.note.find("a tell costs its caller "), std::string::npos) << f.note;
}

#ifdef TROUPE_TEST_BLAS
TEST_F(measures_of_a_gpu, report_a_single_wrong_product) {
  EXPECT_EQ(gpu_burst.run(quick).objection, "");
  ::setenv("RAW_STAND_IN", "wrong", 1);
  const figures f = gpu_burst.run(quick);
  EXPECT_EQ(f.objection.find("the products differ: element 5 is "), 0u) << f.objection;
  EXPECT_FALSE(gpu_burst.goal.met(f));
}

#endif

#ifdef TROUPE_TEST_FFT
TEST_F(measures_of_a_gpu, report_a_single_wrong_transform) {
  for (const measure* m : {&gpu_fft_small, &gpu_fft_ask}) {
    ::unsetenv("RAW_STAND_IN");
    EXPECT_EQ(m->run(quick).objection, "") << m->name;
    ::setenv("RAW_STAND_IN", "wrong", 1);
    EXPECT_EQ(m->run(quick).objection.find("the transforms differ: element 2 is "), 0u) << m->name;
  }
}

#endif

#ifdef TROUPE_TEST_DNN
TEST_F(measures_of_a_gpu, report_a_single_wrong_element_of_a_graph) {
  for (const measure* m : {&dnn_conv_resnet50, &dnn_conv_fused, &dnn_attention}) {
    ::unsetenv("RAW_STAND_IN");
    EXPECT_EQ(m->run(quick).objection, "") << m->name;
    ::setenv("RAW_STAND_IN", "wrong", 1);
    const figures f = m->run(quick);
    EXPECT_NE(f.objection.find(": the results differ: element "), f.objection.npos) << m->name << ": " << f.objection;
    EXPECT_FALSE(m->goal.met(f)) << m->name;
  }
}

TEST_F(measures_of_a_gpu, compare_operations_limited_by_memory_with_their_definition) {
  for (const measure* m : {&dnn_norms, &dnn_attention_decode, &dnn_elements, &dnn_softmax, &dnn_reduce,
                           &dnn_cross_entropy, &dnn_lines, &dnn_pool}) {
    const figures f = m->run(quick);
    EXPECT_EQ(f.objection, "") << m->name;
    EXPECT_DOUBLE_EQ(f.raw, 1000) << m->name;  // the GB/s that the stand-in reports
    EXPECT_GT(f.ours, 0) << m->name;
  }
}

TEST_F(measures_of_a_gpu, count_plans_of_graphs_in_a_new_process) {
  const figures f = dnn_plan_warm.run(quick);
  EXPECT_EQ(f.objection, "");
  EXPECT_EQ(f.note.find("3 plans; "), 0u) << f.note;
  EXPECT_STREQ(std::getenv("TROUPE_CACHE"), TROUPE_TEST_CACHE);
}

TEST_F(measures_of_a_gpu, train_a_network_that_learns_its_images) {
  const figures f = dnn_train.run(quick);
  EXPECT_EQ(f.objection, "");
  EXPECT_GT(f.ours, 0);
  EXPECT_FALSE(dnn_train.goal.met(f)) << "without PyTorch there is nothing to compare with";
}

TEST_F(measures_of_a_gpu, train_networks_by_derived_gradients) {
  for (const measure* m : {&dnn_gpt, &dnn_resnet50}) {
    const figures f = m->run(quick);
    EXPECT_EQ(f.objection, "") << m->name;
    EXPECT_GT(f.ours, 0) << m->name;
  }
}

// The expected losses are those of the same network in double, by a numpy program with gradients written by hand.
TEST_F(measures_of_a_gpu, train_a_network_with_the_losses_of_its_definition) {
  const device_under_test gpu(quick, {.libraries = {"dnn"}});
  residual_network network(*gpu, {.images = 4, .size = 8, .width = 8, .blocks = 2});
  for (const float expected : {2.197f, 1.441f, 0.777f, 0.425f}) {
    network.step();
    EXPECT_NEAR(network.loss(), expected, 0.05f * expected);
  }
}

TEST_F(measures_of_a_gpu, do_not_run_without_the_disk_cache_that_shares_plans) {
  ::setenv("TROUPE_CACHE", "off", 1);
  EXPECT_THROW(dnn_conv_fused.run(quick), bad_result);
}

#endif

#ifdef TROUPE_TEST_CUTLASS
TEST_F(measures_of_a_gpu, report_a_wrong_element_of_a_compiled_product) {
  for (const measure* m : {&cutlass_bf16, &cutlass_f16, &cutlass_fp8_fast, &cutlass_fp8_promoted, &cutlass_s8,
                           &cutlass_tf32, &cutlass_models, &cutlass_models_model, &cutlass_skinny, &cutlass_grouped}) {
    ::unsetenv("RAW_STAND_IN");
    const figures right = m->run(quick);
    EXPECT_EQ(right.objection, "") << m->name;
    EXPECT_GT(right.ours, 0) << m->name;
    EXPECT_GT(right.raw, 0) << m->name;
    ::setenv("RAW_STAND_IN", "wrong", 1);
    const figures wrong = m->run(quick);
    EXPECT_NE(wrong.objection.find("the products differ: element "), wrong.objection.npos)
        << m->name << ": " << wrong.objection;
    EXPECT_FALSE(m->goal.met(wrong)) << m->name;
  }
}

TEST_F(measures_of_a_gpu, compare_fused_products_with_their_definition) {
  for (const measure* m : {&cutlass_fused_gelu, &cutlass_fused_swiglu, &cutlass_fused_rows, &cutlass_fused_amax}) {
    ::unsetenv("RAW_STAND_IN");
    EXPECT_EQ(m->run(quick).objection, "") << m->name;
    ::setenv("RAW_STAND_IN", "wrong", 1);
    const figures f = m->run(quick);
    EXPECT_NE(f.objection.find("the products differ: element "), f.objection.npos) << m->name << ": " << f.objection;
  }
  EXPECT_NE(cutlass_fused_swiglu.run(quick).note.find("; raw: a call and a kernel; "), std::string::npos);
}

TEST_F(measures_of_a_gpu, report_a_wrong_element_of_what_an_epilogue_writes_in_addition) {
  for (const measure* m : {&cutlass_fused_gelu, &cutlass_fused_rows, &cutlass_fused_amax}) {
    ::setenv("RAW_STAND_IN", "second", 1);
    const figures f = m->run(quick);
    EXPECT_NE(f.objection.find("what the epilogues write differs: element "), f.objection.npos)
        << m->name << ": " << f.objection;
  }
}

#ifdef TROUPE_TEST_DNN
TEST_F(measures_of_a_gpu, compare_convolutions_of_cutlass_with_cudnn) {
  for (const measure* m : {&cutlass_conv_forward, &cutlass_conv_data_gradient, &cutlass_conv_weight_gradient}) {
    ::unsetenv("RAW_STAND_IN");
    const figures right = m->run(quick);
    EXPECT_EQ(right.objection, "") << m->name;
    EXPECT_NE(right.note.find("\n  8 -> 16, 3 x 3 by 2 on 6 x 6, 1 time: "), right.note.npos) << right.note;
    EXPECT_NE(right.note.find("\n  16 -> 8, 1 x 1 on 5 x 5, 1 time: "), right.note.npos) << right.note;
    ::setenv("RAW_STAND_IN", "wrong", 1);
    const figures wrong = m->run(quick);
    EXPECT_NE(wrong.objection.find("the results differ: element "), wrong.objection.npos)
        << m->name << ": " << wrong.objection;
    EXPECT_FALSE(m->goal.met(wrong)) << m->name;
  }
}
#endif

TEST_F(measures_of_a_gpu, state_ratios_of_each_size_and_of_the_cost_model_alone) {
  const std::string note = cutlass_bf16.run(quick).note;
  EXPECT_EQ(note.find("least "), 0u) << note;
  EXPECT_NE(note.find("; by the cost model alone "), note.npos) << note;
  EXPECT_NE(note.find("\n  48: "), note.npos) << note;
}

TEST_F(measures_of_a_gpu, measure_the_first_product_of_a_kind_in_new_workers) {
  for (const measure* m : {&cutlass_compile_cold, &cutlass_compile_second, &cutlass_compile_new_size}) {
    const figures f = m->run(quick);
    EXPECT_EQ(f.objection, "") << m->name;
    EXPECT_GT(f.ours, 0) << m->name;
  }
  EXPECT_STREQ(std::getenv("TROUPE_CACHE"), TROUPE_TEST_CACHE);
}

TEST_F(measures_of_a_gpu, do_not_state_the_time_of_a_kernel_that_is_not_built_in) {
  EXPECT_THROW(cutlass_compile_prebuilt.run(quick), bad_result);
}

#ifdef TROUPE_TEST_BLAS
TEST_F(measures_of_a_gpu, compare_a_known_product_with_that_of_blas) {
  const figures f = cutlass_compile_known.run(quick);
  EXPECT_EQ(f.objection, "");
  EXPECT_EQ(f.note.find("queued: "), 0u) << f.note;
  EXPECT_GT(f.raw, 0);
}
#endif

#endif

#ifdef TROUPE_TEST_MATMUL
TEST_F(measures_of_a_gpu, report_a_wrong_element_of_a_product) {
  for (const measure* m : {&gpu_matmul_small, &gpu_matmul_models, &dnn_linear}) {
    ::unsetenv("RAW_STAND_IN");
    EXPECT_EQ(m->run(quick).objection, "") << m->name;
    ::setenv("RAW_STAND_IN", "wrong", 1);
    const figures wrong = m->run(quick);
    EXPECT_NE(wrong.objection.find("the products differ: element "), wrong.objection.npos)
        << m->name << ": " << wrong.objection;
  }
}

#endif

TEST_F(measures_of_a_gpu, do_not_run_without_the_raw_side) { EXPECT_THROW(gpu_copy_in.run(quick), bad_result); }

TEST_F(measures_of_a_gpu, count_every_word_that_differs_from_what_was_written) {
  const device_under_test gpu(quick, {.libraries = {"jit"}});
  const pattern numbers(*gpu);
  const auto memory = gpu->alloc<std::uint32_t>(1'000'003);
  gpu->fill(memory, 0);
  const auto wrong = [&](std::uint32_t seed) { return numbers.wrong_in(memory, seed).get().value().at(0); };
  numbers.write(memory, 7);
  EXPECT_EQ(wrong(7), 0u);
  EXPECT_EQ(wrong(8), 1'000'003u);
  for (const std::int64_t at : {0, 4711, 1'000'002}) {
    const auto word = memory.slice(at, 1);
    auto is = gpu->download(word).get().value();
    is[0] ^= 1u << 31;
    gpu->upload(word, is);
  }
  EXPECT_EQ(wrong(7), 3u);
}

}  // namespace
}  // namespace troupe::bench
