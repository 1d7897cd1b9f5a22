// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of what devices promise about faults and run limits. They run on a GPU with TROUPE_TEST_ENGINE=cuda.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <troupe/faults/requests.hpp>
#include <troupe/jit/jit.hpp>

#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

class faults_and_limits : public testing::Test {
 protected:
  device open(device_options o = {}) {
    o = with_test_engines(std::move(o));
    o.restarts = 10;
    device d = rt.open_device(o);
    EXPECT_OK(d.started().get());
    return d;
  }
  runtime rt;
};

// On a GPU, all launches are enqueued at once, and the download waits there for the last of them. Faults of other
// programs may stop the GPU for longer than the limit; that time does not count.
TEST_F(faults_and_limits, a_time_limit_applies_to_each_request_alone) {
  constexpr int launches = 100;
  const device gpu = open();
  const auto p =
      jit::compile(gpu, {.source = "__global__ void k(float* out) {\n"
                                   "  for (const long long begin = clock64(); clock64() - begin < 50000000;) {}\n"
                                   "  out[0] += 1;\n}\n"});
  ASSERT_OK(p.ready().get());
  const auto out = gpu.alloc<float>(1, {.zeroed = true});
  const call_options limited{.run_timeout = 1s};
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i)
    gpu.tell(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out)}}, limited);
  const auto got = gpu.download(out, limited).get();
  ASSERT_OK(got);
  EXPECT_EQ((*got)[0], launches);
  EXPECT_EQ(gpu.statistics().faults, 0u);
  EXPECT_GT(std::chrono::steady_clock::now() - begun, 1s)
      << "together, the launches must take longer than the limit of one";
}

TEST_F(faults_and_limits, the_state_of_a_gpu_is_written_to_the_record_folder) {
  const std::string folder = testing::TempDir() + "gpu_core_" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  if (engine_under_test() == "host") {
    EXPECT_TRUE(is_error(error_of(rt.open_device(with_test_engines({.gpu_core_folder = folder})).started()),
                         reaction::unsupported, {"gpu_core_folder", "\"host\" has no GPU", "core_dumps"}));
  } else {
    const device gpu = open({.name = "gpu/1", .gpu_core_folder = folder});
    EXPECT_TRUE(is_error(error_of(gpu.ask(faults::segmentation_fault{})), reaction::context_lost,
                         {"SIGABRT", "the GPU had a fault", folder.c_str()}));
    ASSERT_TRUE(gpu.last_fault());
    const std::string core = gpu.last_fault()->gpu_core;
    EXPECT_EQ(core, folder + "/gpu-1-worker-" + std::to_string(gpu.last_fault()->worker_pid) + ".gpucore");
    EXPECT_NE(gpu.last_fault()->text().find("target cudacore " + core), std::string::npos);
    std::ifstream file(core, std::ios::binary);
    std::string begin(4, '\0');
    EXPECT_TRUE(file.read(begin.data(), 4));
    EXPECT_EQ(begin,
              "\x7f"
              "ELF");
    EXPECT_LT(std::filesystem::file_size(core), std::uintmax_t{64} << 20);
    EXPECT_EQ(gpu.ping(4).get().value(), 4u);
    // A fault outside of the GPU leaves no such file.
    EXPECT_TRUE(is_error(error_of(gpu.ask(faults::abort{})), reaction::context_lost, {"SIGABRT"}));
    EXPECT_EQ(gpu.last_fault()->gpu_core, "");
  }
  std::filesystem::remove_all(folder);
  for (const std::string& bad : {folder, folder + "/%h"})
    EXPECT_TRUE(is_error(error_of(rt.open_device({.gpu_core_folder = bad}).started()), reaction::caller_bug,
                         {"gpu_core_folder", bad.c_str(), "without %"}));
  EXPECT_TRUE(is_error(error_of(rt.open_device({.isolation = isolation::thread, .gpu_core_folder = "/tmp"}).started()),
                       reaction::caller_bug, {"gpu_core_folder", "isolation::thread"}));
}

}  // namespace
}  // namespace troupe::whole
