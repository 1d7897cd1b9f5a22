// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests which results of searches for plans are stored on disk, with a fake driver and a fake cuDNN.
#include <troupe/base/bfloat16.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/dnn/cudnn/testing/fake_cudnn.hpp>
#include <troupe/dnn/testing/numerics.hpp>
#include <troupe/plan/private_folder.hpp>

#include <cstdlib>

const char* troupe::numerics::engine_of_program() { return TROUPE_ENGINE_UNDER_TEST; }

namespace troupe::dnn::cudnn {
namespace {

using namespace dnn::testing;
using testing::fake_cudnn;

// Set before the engine is loaded.
[[maybe_unused]] const int with_fake = ::setenv("TROUPE_CUDNN", TROUPE_FAKE_CUDNN, 1);

class cudnn_vendor : public dnn_numerics {
 protected:
  cudnn_vendor() {
    void* const file = ::dlopen(TROUPE_FAKE_CUDNN, RTLD_NOW | RTLD_LOCAL);
    library = reinterpret_cast<fake_cudnn* (*)()>(::dlsym(file, "troupe_fake_cudnn"))();
    *library = {};
    ::setenv("TROUPE_CACHE", path_.c_str(), 1);
  }
  ~cudnn_vendor() override {
    *library = {};
    driver.succeed("cuMemAllocAsync");
    ::setenv("TROUPE_CACHE", "off", 1);
  }

  // Plans the convolution in a new engine. Returns the number of times that cuDNN's heuristics were queried.
  int searches(std::uint64_t workspace = any_workspace) {
    engine = std::make_unique<numerics::engine_under_test>(TROUPE_ENGINE_UNDER_TEST);
    library->searches = 0;
    EXPECT_TRUE(engine->run(prepare{{.graph = convolution_, .options = {.workspace = workspace}}}));
    return library->searches;
  }
  bool has_remark(std::string_view part) {
    return std::ranges::any_of(engine->remarks(), [&](const std::string& s) { return s.find(part) != s.npos; });
  }
  bool has_type(cudnnDataType_t t) { return std::ranges::find(library->types, t) != library->types.end(); }
  // Computes the convolution of x with filters of 1 x 1, channels last.
  static cudnnStatus_t compute(const std::vector<void*>& operands) {
    const auto *const x = static_cast<const bfloat16*>(operands[0]), *const f =
                                                                         static_cast<const bfloat16*>(operands[1]);
    auto* const y = static_cast<bfloat16*>(operands[2]);
    for (int position = 0; position < 16; ++position)
      for (int k = 0; k < 8; ++k) {
        float sum = 0;
        for (int c = 0; c < 8; ++c) sum += static_cast<float>(x[position * 8 + c]) * static_cast<float>(f[k * 8 + c]);
        y[position * 8 + k] = bfloat16(sum);
      }
    return CUDNN_STATUS_SUCCESS;
  }

  fake_cudnn* library;
  cuda::testing::fake_driver& driver = cuda::testing::driver_of(TROUPE_ENGINE_UNDER_TEST);
  const plan::private_folder folder_ = plan::private_folder::make().value();
  const std::string path_ = folder_.path() + "/cache";
  const graph convolution_{
      {convolution(given(dtype::bf16, {1, 8, 4, 4}, channels_last), given(dtype::bf16, {8, 8, 1, 1}, channels_last)),
       stored(dtype::bf16, {1, 8, 4, 4}, channels_last).operand<access_mode::write>()}};
};

TEST_F(cudnn_vendor, a_refusal_that_depends_only_on_the_request_is_stored_for_later_processes) {
  library->heuristics = CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  EXPECT_GT(searches(), 0);
  EXPECT_EQ(searches(), 0);
  EXPECT_TRUE(has_remark("cuDNN has no engine for a part of a graph"));
}

TEST_F(cudnn_vendor, a_temporary_failure_is_not_stored_on_disk) {
  for (const cudnnStatus_t s :
       {CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, CUDNN_STATUS_LICENSE_ERROR, CUDNN_STATUS_INTERNAL_ERROR,
        CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE,
        CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING, CUDNN_STATUS_EXECUTION_FAILED}) {
    library->heuristics = s;
    EXPECT_GT(searches(), 0);
    EXPECT_TRUE(has_remark("slow: our kernels compute a part of a graph instead of cuDNN")) << s;
    EXPECT_GT(searches(), 0) << s;
  }
  // The same for plans that cannot be made or fail in their trial.
  library->heuristics = CUDNN_STATUS_SUCCESS, library->engines = 2;
  library->plans = CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED;
  EXPECT_GT(searches(), 0);
  EXPECT_GT(searches(), 0);
  library->plans = CUDNN_STATUS_SUCCESS;
  library->execute = [](const auto&) { return CUDNN_STATUS_EXECUTION_FAILED; };
  EXPECT_GT(searches(), 0);
  EXPECT_GT(searches(), 0);
  library->execute = compute;
  EXPECT_GT(searches(), 0);
  EXPECT_EQ(searches(), 0) << "the plan is stored";
}

TEST_F(cudnn_vendor, a_trial_without_enough_memory_is_not_stored_on_disk) {
  library->engines = 1, library->execute = compute;
  driver.fail("cuMemAllocAsync", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_GT(searches(), 0);
  EXPECT_TRUE(has_remark("there is not enough GPU memory to try a plan"));
  EXPECT_GT(searches(), 0);
  driver.succeed("cuMemAllocAsync");
  EXPECT_GT(searches(), 0);
  EXPECT_EQ(searches(), 0);
}

TEST_F(cudnn_vendor, a_plan_with_wrong_results_is_stored_as_a_refusal) {
  library->engines = 1;
  EXPECT_GT(searches(), 0);
  EXPECT_EQ(searches(), 0);
}

TEST_F(cudnn_vendor, a_stored_plan_with_wrong_results_is_ignored_and_a_new_one_is_searched) {
  library->engines = 1, library->execute = compute;
  EXPECT_GT(searches(), 0);
  EXPECT_EQ(searches(), 0);
  library->execute = [](const auto&) { return CUDNN_STATUS_SUCCESS; };
  EXPECT_GT(searches(), 0);
  EXPECT_TRUE(has_remark("ignored a plan in " + path_));
}

// q, k and v of 2 x 2 x 16 x 8 are slices of one tensor: from the first to the last element, each has 1504.
TEST_F(cudnn_vendor, trials_of_attention_have_the_memory_that_slices_span) {
  library->engines = 1, library->execute = [](const auto&) { return CUDNN_STATUS_SUCCESS; };
  const value parts = transpose(reshape(given(dtype::f16, {2, 16, 48}, dense), {2, 16, 3, 2, 8}), {2, 0, 3, 1, 4});
  const auto part = [&](std::int64_t which) { return reshape(slice(parts, 0, which, 1), {2, 2, 16, 8}); };
  const value y = convert(attention(part(0), part(1), part(2)).y, dtype::f16);
  const auto to = stored(dtype::f16, {2, 2, 16, 8}, dense).operand<access_mode::write>();
  driver.reset();
  engine = std::make_unique<numerics::engine_under_test>(TROUPE_ENGINE_UNDER_TEST);
  EXPECT_TRUE(engine->run(prepare{{.graph = {{y, to}}}}));
  EXPECT_EQ(std::ranges::count(driver.calls(), "cuMemAllocAsync(3008)"), 3);
}

TEST_F(cudnn_vendor, plans_are_stored_for_one_gpu_and_one_workspace_limit) {
  library->engines = 1, library->execute = compute;
  EXPECT_GT(searches(), 0);
  EXPECT_EQ(searches(driver.memory), 0) << "an eighth of the GPU memory is the limit of any plan";
  EXPECT_GT(searches(1 << 20), 0);
  const std::string name = driver.name;
  driver.name = "another GPU";
  EXPECT_GT(searches(), 0);
  driver.name = name;
  EXPECT_EQ(searches(), 0);
}

TEST_F(cudnn_vendor, results_in_integers_or_bool_are_rounded_by_our_kernels_instead_of_cudnn) {
  for (const dtype t : {dtype::boolean, dtype::i32}) {
    const value y =
        convolution(given(dtype::bf16, {1, 8, 4, 4}, channels_last), given(dtype::bf16, {8, 8, 1, 1}, channels_last));
    const auto to = stored(t, {1, 8, 4, 4}, channels_last).operand<access_mode::write>();
    searches();
    library->types.clear();
    EXPECT_TRUE(engine->run(prepare{{.graph = {{y, to}}}}));
    EXPECT_TRUE(has_type(CUDNN_DATA_BFLOAT16));
    EXPECT_FALSE(has_type(CUDNN_DATA_BOOLEAN));
    EXPECT_FALSE(has_type(CUDNN_DATA_INT32));
  }
}

}  // namespace
}  // namespace troupe::dnn::cudnn
