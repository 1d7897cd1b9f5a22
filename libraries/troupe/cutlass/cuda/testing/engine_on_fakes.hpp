// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <tests/numerics/engine_under_test.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/templates/arguments.hpp>
#include <vector>

namespace troupe::cutlass::testing {

// Turns off the cache on disk and CUTLASS's plug-in before an engine is opened.
[[maybe_unused]] inline const int without_files =
    ::setenv("TROUPE_CACHE", "off", 1) + ::setenv("TROUPE_CUTLASS", "/none", 1);

/// A fixture with an engine on a fake driver that records calls, without a cache on disk and without CUTLASS's kernels.
class engine_on_fakes : public ::testing::Test {
 protected:
  engine_on_fakes() {
    driver.reset();
    driver.attributes = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                         {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                         {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                         {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
                         {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
                         {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120}};
    driver.computes = true;
    set_layout(sizeof(kernels::fixed_arguments) + 64);
    open();
  }
  ~engine_on_fakes() override {
    driver.reset();
    driver.attributes.clear();
    driver.computes = true, driver.notes_calls = false;
  }
  void open() {
    engine.emplace(TROUPE_ENGINE_UNDER_TEST);
    driver.reset();
    driver.computes = true;  // so that the engine can read the sizes that kernels report
  }
  // Sets the size of the parameters that kernels report.
  void set_layout(std::size_t bytes) {
    const unsigned layout[6] = {
        static_cast<unsigned>(bytes), sizeof(kernels::fixed_arguments), sizeof(kernels::matrix), 200000, 16, 256};
    auto& to = driver.globals["troupe_layout"];
    to.resize(sizeof layout);
    std::memcpy(to.data(), layout, sizeof layout);
  }

  template <class R>
  bool run(const R& r) {
    const auto done = engine->run(r);
    failure = done ? "" : done.error().to_string();
    return static_cast<bool>(done);
  }

  // Returns a matrix whose memory is only an address.
  template <access_mode M>
  static any_operand<M> matrix_at(std::uint64_t address, dtype t, std::int64_t rows, std::int64_t columns,
                                  bool by_rows = true) {
    tensor_shape s{.rank = 2};
    s.extents = {rows, columns}, s.strides = {by_rows ? columns : 1, by_rows ? 1 : rows};
    return {{{}, address, static_cast<std::uint64_t>(rows * columns) * bytes_of(t)}, s, t};
  }
  static gemm product(std::int64_t m, const epilogue::expression& e = epilogue::acc, dtype t = dtype::bf16) {
    return {.a = matrix_at<access_mode::read>(1 << 20, t, m, 4096),
            .b = matrix_at<access_mode::read>(1 << 28, t, 4096, 4096, false),
            .d = matrix_at<access_mode::write>(1 << 29, t, m, 4096),
            .epilogue = e};
  }
  std::size_t loads() const { return driver.count("cuLibraryLoadData"); }
  std::size_t launches() const { return driver.count("cuLaunchKernel"); }

  cuda::testing::fake_driver& driver = []() -> cuda::testing::fake_driver& {
    static numerics::engine_under_test loaded{TROUPE_ENGINE_UNDER_TEST};  // loads the fake driver
    return cuda::testing::driver_of(TROUPE_ENGINE_UNDER_TEST);
  }();
  std::optional<numerics::engine_under_test> engine;
  std::string failure;
};

}  // namespace troupe::cutlass::testing
