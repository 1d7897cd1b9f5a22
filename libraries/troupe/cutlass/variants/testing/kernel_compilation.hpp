// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <tests/support/sample.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/recipe.hpp>
#include <troupe/cutlass/variants/testing/assembler_report.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc_builder.hpp>
#include <troupe/jit/recipe_codec.hpp>

namespace troupe::cutlass::testing {

/// Compiles kernels and reads the assembler's report.
class kernel_compilation : public ::testing::Test {
 protected:
  void SetUp() override { compile_for(90); }
  void compile_for(jit::capability gpu) {
    auto found = jit::nvrtc::find();
    ASSERT_TRUE(found) << found.error().text();
    builder_.reset();
    builder_.emplace(std::move(*found), gpu);
  }
  void TearDown() override {
    if (tried_ > 0) std::cout << "compiled " << compiled_ << " of " << tried_ << " kernels\n";
  }
  /// Compiles the source as `expect_clean_always` does, if it is the first of the test or in the sample: a third of all
  /// kernels, which changes with the templates.
  void expect_clean(const std::string& source, const std::string& name, int known_stack_bytes = 0) {
    ++tried_;
    if (compiled_ > 0 && !troupe::testing::is_in_sample(source, 3, version_of_templates())) return;
    ++compiled_;
    expect_clean_always(source, name, known_stack_bytes);
  }
  /// Compiles the source, and expects the kernels that the engine looks up and no remark of the assembler on them.
  /// `known_stack_bytes` is the largest allowed stack frame of a kernel that is known to spill.
  void expect_clean_always(const std::string& source, const std::string& name, int known_stack_bytes = 0) {
    SCOPED_TRACE(name);
    jit::recipe r = recipe_of(source, name);
    r.options = {"--ptxas-options=-v"};
    r.cache = jit::cache_use::none;
    const std::string encoded = jit::encode(r);
    const auto decoded = jit::decode(encoded);
    ASSERT_TRUE(decoded);
    const auto begun = std::chrono::steady_clock::now();
    const jit::build made = builder_->images().make(*decoded);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    ASSERT_FALSE(made.failed) << made.failed->text() << "\n" << made.log;
    const std::set<std::string> kernels = functions_of(*made.image);
    EXPECT_TRUE(kernels.contains(variant_kernel)) << "the image has no kernel of this name";
    EXPECT_EQ(kernels.contains(combining_kernel), has_reductions(source)) << "the combining kernel";
    EXPECT_NE(made.log.find("Used "), std::string::npos) << "no report: " << made.log;
    EXPECT_EQ(why_not_clean(made.log, kernels, known_stack_bytes), "") << made.log;
    slowest_ = std::max(slowest_, seconds);
    RecordProperty("slowest", std::to_string(slowest_));
  }
  /// Returns the PTX of the source for an architecture such as compute_80, or the error's text.
  std::string ptx_of(const std::string& source, const std::string& architecture) {
    jit::recipe r = recipe_of(source, "a variant");
    r.architecture = architecture;
    r.cache = jit::cache_use::none;
    const std::string encoded = jit::encode(r);
    const jit::build made = builder_->images().make(*jit::decode(encoded));
    return made.failed ? made.failed->text() : std::string(*made.image);
  }
  static std::string plain_epilogue() {
    const epilogue::node n[] = {{.what = epilogue::op::accumulator}};
    return epilogue_source(n, {}, 0, dtype::f32, false);
  }
  static std::string gated_epilogue() {
    using epilogue::node, epilogue::op;
    node silu{.what = op::silu}, product{.what = op::multiply};
    product.arguments[0] = 2, product.arguments[1] = 1;
    const node n[] = {{.what = op::left}, {.what = op::right}, silu, product};
    return epilogue_source(n, {}, 0, dtype::f32, false);
  }
  static std::string reducing_epilogue() {
    using epilogue::node, epilogue::op;
    const node n[] = {{.what = op::accumulator}, {.what = op::reduce}};
    const memory_kind to{.type = dtype::f32, .access = 1};
    return epilogue_source(n, {&to, 1}, 0, dtype::f32, false);
  }
  /// Returns an epilogue that adds a matrix, and sums rows of the result if `reduces`.
  static std::string loading_epilogue(dtype t, bool reduces) {
    using epilogue::node, epilogue::op;
    node sum{.what = op::add}, reduction{.what = op::reduce, .operand = 1};
    sum.arguments[0] = 0, sum.arguments[1] = 1;
    reduction.arguments[0] = 2, reduction.over = epilogue::reduction_scope::row;
    const node n[] = {{.what = op::accumulator}, {.what = op::load}, sum, reduction};
    const memory_kind memory[] = {{.type = t, .access = 16}, {.type = dtype::f32, .access = 1}};
    return reduces ? epilogue_source(n, memory, 0, dtype::f32, false)
                   : epilogue_source(std::span(n).first(3), std::span(memory).first(1), 0, dtype::f32, false);
  }

 private:
  std::optional<jit::nvrtc_builder> builder_;
  int tried_ = 0, compiled_ = 0;
  double slowest_ = 0;
};

}  // namespace troupe::cutlass::testing
