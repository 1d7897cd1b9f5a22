// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tests/numerics/engine_under_test.hpp>
#include <troupe/cutlass/cutlass.hpp>

namespace troupe::cutlass::testing {

/// Skips a test of CUTLASS's kernels on the host engine, and if the plug-in was not built. For SetUp.
inline void skip_without_cutlass_library(const numerics::engine_under_test& engine) {
  constexpr std::int64_t side = 64;
  alignas(256) static std::byte memory[3][side * side * 2]{};
  const auto matrix = [](int i, bool by_rows) {
    tensor_shape s{.rank = 2};
    s.extents = {side, side}, s.strides = {by_rows ? side : 1, by_rows ? 1 : side};
    return in_any{{{}, reinterpret_cast<std::uint64_t>(memory[i]), sizeof memory[i]}, s, dtype::bf16};
  };
  const in_any d = matrix(2, true);
  const gemm product{.a = matrix(0, true),
                     .b = matrix(1, false),
                     .d = out_any(d.range(), d.shape(), d.type()),
                     .options = {.plan = {.family = family::vendor}}};
  const auto info = engine.run(prepare{product});
  if (info) return;
  const std::string reason = info.error().text();
  EXPECT_NE(reason.find(engine.is_cuda() ? "the CUTLASS plug-in cannot be loaded" : "the host engine has no choices"),
            std::string::npos)
      << "the plug-in is loaded, but cannot be used: " << reason;
  GTEST_SKIP() << reason;
}

}  // namespace troupe::cutlass::testing
