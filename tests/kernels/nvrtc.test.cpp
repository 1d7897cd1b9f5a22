// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <nvrtc.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

TEST(nvrtc, takes_the_same_files_for_a_gpu) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TROUPE_TEST_CUDA_SOURCES)) {
    if (entry.path().extension() != ".cu") continue;
    ++files;
    std::ifstream in(entry.path());
    const std::string source{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    nvrtcProgram program = nullptr;
    ASSERT_EQ(nvrtcCreateProgram(&program, source.c_str(), entry.path().c_str(), 0, nullptr, nullptr), NVRTC_SUCCESS);
    const char* options[] = {"--gpu-architecture=sm_90", "--include-path=" TROUPE_NVRTC_INCLUDE,
                             "--include-path=" TROUPE_NVRTC_INCLUDE "/cccl"};
    const nvrtcResult status = nvrtcCompileProgram(program, 3, options);
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, ' ');
    nvrtcGetProgramLog(program, log.data());
    EXPECT_EQ(status, NVRTC_SUCCESS) << entry.path() << "\n" << log;
    nvrtcDestroyProgram(&program);
  }
  EXPECT_GE(files, 15u);
}
