// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests of jit beyond the contract: how sources are compiled, with this machine's compiler.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "jit_source.hpp"

namespace troupe::whole::jit_tests {

namespace fs = std::filesystem;

class a_program : public testing::Test {
 protected:
  // Returns what a kernel "k(float* out)" writes, run by one thread.
  std::vector<float> output_of(const jit::program& p, std::size_t count = 1) const {
    auto out = gpu_.alloc<float>(count, {.zeroed = true});
    gpu_.tell(jit::launch{.kernel = p.kernel("k"), .grid = 1, .block = 1, .arguments = {inout(out)}});
    auto got = gpu_.download(out).get();
    EXPECT_OK(got);
    return got ? *got : std::vector<float>(count, -1);
  }
  static std::string kernel_that_writes(const std::string& value) {
    return "__global__ void k(float* out) { out[0] = " + value + "; }\n";
  }
  float value_of(const std::string& expression, jit::recipe r = {}) const {
    r.source += kernel_that_writes(expression);
    return output_of(jit::compile(gpu_, std::move(r)))[0];
  }
  void expect_serving() const { EXPECT_EQ(value_of("7"), 7); }

  runtime runtime_;
  device gpu_ = runtime_.open_device(with_test_engines());
};

}  // namespace troupe::whole::jit_tests
