// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Images in each format that a GPU's driver takes, from the application through the worker to the first GPU.
#include <cstring>
#include <numeric>
#include <tests/support/devices.hpp>
#include <troupe/cuda/embedded.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/module/module.hpp>

TROUPE_EMBEDDED(troupe_test_fatbin, TROUPE_KERNELS);

namespace troupe {
namespace {

using namespace whole;

constexpr int count = 1000;

std::vector<std::byte> fatbin() {
  std::uint32_t magic = 0;
  std::uint64_t rest = 0;  // the bytes after the header of 16
  std::memcpy(&magic, troupe_test_fatbin, sizeof magic);
  std::memcpy(&rest, troupe_test_fatbin + 8, sizeof rest);
  EXPECT_EQ(magic, 0xba55ed50u);
  const auto* const first = reinterpret_cast<const std::byte*>(troupe_test_fatbin);
  return {first, first + 16 + rest};
}

class images_on_a_gpu : public testing::Test {
 protected:
  // Launches `kernel`, which multiplies by 3 and adds 1 to the global `calls`.
  void expect_to_run(const module::image& image, const char* kernel, const char* calls, int calls_before) {
    std::vector<int> numbers(count), want(count);
    std::iota(numbers.begin(), numbers.end(), -7);
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = 3 * numbers[i];
    const auto in_buffer = gpu_.upload(numbers), result = gpu_.alloc<int>(count), called = gpu_.alloc<int>(1);
    gpu_.tell(module::launch{.kernel = image.kernel(kernel),
                             .grid = kernel::blocks_for(count, 128),
                             .block = 128,
                             .arguments = {in_buffer, out(result), count},
                             .writes_globals = true});
    gpu_.tell(module::read_global{.global = image.global(calls), .target = called.as<std::byte>()});
    const auto got = gpu_.download(result).get();
    ASSERT_TRUE(got) << got.error().to_string();
    EXPECT_EQ(*got, want);
    const auto times = gpu_.download(called).get();
    ASSERT_TRUE(times) << times.error().to_string();
    EXPECT_EQ(times->front(), calls_before + 1);
  }

  runtime runtime_;
  device gpu_ = runtime_.open_device({.engine = "cuda"});
};

TEST_F(images_on_a_gpu, a_fatbin_of_nvcc_runs) {
  const module::image image = module::load(gpu_, fatbin(), {.name = "formats.fatbin"});
  expect_to_run(image, "formats::triple<int>", "formats::calls", 40);
}

TEST_F(images_on_a_gpu, a_truncated_fatbin_is_refused) {
  std::vector<std::byte> bytes = fatbin();
  bytes.resize(bytes.size() - 8);
  const auto ready = module::load(gpu_, bytes, {.name = "formats.fatbin"}).ready().get();
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().reaction(), reaction::caller_bug) << ready.error().to_string();
  EXPECT_TRUE(gpu_.sync().get());
}

TEST_F(images_on_a_gpu, ptx_and_machine_code_of_jit_run) {
  for (const char* architecture : {"compute_80", ""}) {
    const jit::program program = jit::compile(gpu_, {.source = R"(
__device__ int calls = 7;
__global__ void triple(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3 * in[i];
  if (i == 0) ++calls;
})",
                                                     .globals = {"calls"},
                                                     .architecture = architecture});
    const auto bytes = program.image().get();
    ASSERT_TRUE(bytes) << bytes.error().to_string();
    const bool is_ptx = std::memcmp(bytes->data(),
                                    "\x7f"
                                    "ELF",
                                    4) != 0;
    EXPECT_EQ(is_ptx, *architecture != '\0');
    expect_to_run(module::load(gpu_, *bytes, {.name = "triple"}), "triple", "calls", 7);
  }
}

}  // namespace
}  // namespace troupe
