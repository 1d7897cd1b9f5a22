// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What the CUDA engine computes together with a product, what in a second pass, and what it copies first. The tests run
// on a fake driver and a fake cuBLASLt that compute at once on the processor; the suites of the requests run on them
// too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <optional>
#include <tests/numerics/engine_under_test.hpp>
#include <troupe/base/half.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/matmul/matmul.hpp>

namespace troupe::matmul {
namespace {

using epilogue::acc, epilogue::expression, epilogue::op, epilogue::span_of, epilogue::reduction;

// Before the engine is loaded. Tests of the disk cache have a folder of their own.
[[maybe_unused]] const int without_disk_cache = ::setenv("TROUPE_CACHE", "off", 1);

class matmul_cuda : public ::testing::Test {
 protected:
  static constexpr std::int64_t m = 16, n = 48, k = 512;  // beyond what is small

  matmul_cuda() {
    driver.notes_calls = true;
    engine.emplace(TROUPE_ENGINE_UNDER_TEST);
  }
  ~matmul_cuda() override {
    driver.reset();
    driver.computes = true, driver.notes_calls = false;
  }

  // Memory that is aligned as a device's.
  std::uint64_t memory(std::size_t bytes) {
    auto& all = memory_.emplace_back(bytes + 256);
    return (reinterpret_cast<std::uint64_t>(all.data()) + 255) / 256 * 256;
  }
  expression::memory_operand operand(dtype type, std::int64_t rows, std::int64_t columns, bool by_rows = true) {
    return {.range = {{},
                      memory(static_cast<std::size_t>(rows * columns) * bytes_of(type)),
                      static_cast<std::uint64_t>(rows * columns) * bytes_of(type)},
            .shape = by_rows ? matrix_shape{rows, columns, columns, 1} : matrix_shape{rows, columns, 1, rows},
            .type = type};
  }
  expression read(op what, dtype type, std::int64_t rows, std::int64_t columns, bool by_rows = true) {
    return expression::reading(what, operand(type, rows, columns, by_rows));
  }
  template <access_mode M>
  any_operand<M> field(dtype type, std::int64_t rows, std::int64_t columns, bool by_rows) {
    const auto o = operand(type, rows, columns, by_rows);
    tensor_shape s{.rank = 2};
    s.extents = {rows, columns}, s.strides = {o.shape.row_stride, o.shape.column_stride};
    return {o.range, s, type};
  }
  multiplication product(dtype factors, dtype d, const expression& e) {
    return {.a = field<access_mode::read>(factors, m, k, true),
            .b = field<access_mode::read>(factors, k, n, false),
            .d = field<access_mode::write>(d, m, n, true),
            .epilogue = e};
  }
  bool is_fused(const multiplication& r) {
    const auto done = engine->run(r);
    EXPECT_TRUE(done) << done.error().to_string();
    return done && done->fused;
  }
  std::string refusal(const multiplication& r) {
    const auto done = engine->run(r);
    return done ? "" : done.error().to_string();
  }
  std::size_t searches() const { return driver.count("cublasLtMatmulAlgoGetHeuristic"); }
  std::size_t launches() const { return driver.count("cuLaunchKernel"); }

  cuda::testing::fake_driver& driver = []() -> cuda::testing::fake_driver& {
    static numerics::engine_under_test loaded{TROUPE_ENGINE_UNDER_TEST};  // so that the driver exists
    return cuda::testing::driver_of(TROUPE_ENGINE_UNDER_TEST);
  }();
  std::optional<numerics::engine_under_test> engine;
  std::deque<std::vector<std::byte>> memory_;
};

TEST_F(matmul_cuda, fuses_what_cublaslt_has) {
  const auto bias = [&](dtype t) { return read(op::load_row, t, 1, n); };
  const auto matrix = [&](dtype t) { return read(op::load, t, m, n); };
  const dtype t = dtype::bf16;
  const expression fused[] = {acc,
                              0.5 * acc,
                              acc + matrix(t),
                              0.5 * acc - 2 * matrix(t),
                              -acc,
                              read(op::load_number, dtype::f32, 1, 1) * acc,
                              read(op::load_number, dtype::f32, 1, 1) * acc + 3 * matrix(t),
                              acc + read(op::load_number, dtype::f32, 1, 1) * matrix(t),
                              acc + bias(t),
                              bias(t) + acc + matrix(t),
                              relu(acc + bias(t)),
                              relu(acc),
                              gelu_tanh(0.1 * acc + bias(t)),
                              gelu_tanh(expression::writing(acc + bias(t), operand(t, m, n))),
                              acc * d_gelu_tanh(matrix(t)),
                              0.5 * d_gelu_tanh(matrix(t)) * acc,
                              expression::converted(relu(acc), t)};
  for (const expression& e : fused) EXPECT_TRUE(is_fused(product(t, t, e))) << to_string(e);
  EXPECT_EQ(launches(), 0u);
  const expression others[] = {
      gelu(acc),
      silu(acc),
      acc + 1,
      acc + read(op::load_column, t, m, 1),
      acc * bias(t),
      2 * bias(t) + acc,
      acc + matrix(dtype::f32),
      acc + read(op::load, t, m, n, false),
      read(op::load_number, dtype::f64, 1, 1) * acc,
      2 * read(op::load_number, dtype::f32, 1, 1) * acc,
      read(op::load_number, dtype::f32, 1, 1) * read(op::load_number, dtype::f32, 1, 1) * acc,
      acc * matrix(t),
      acc + acc * acc,
      relu(acc) + bias(t),
      relu(expression::writing(acc, operand(t, m, n))),
      gelu_tanh(expression::writing(acc, operand(dtype::f32, m, n))),
      acc * d_gelu(matrix(t)),
      expression::reducing(acc, reduction::sum, span_of::column, operand(dtype::f32, 1, n)),
      expression::reducing(acc, reduction::absolute_maximum, span_of::all, operand(dtype::f32, 1, 1)),
      silu(epilogue::acc) * 2};
  for (const expression& e : others) EXPECT_FALSE(is_fused(product(t, t, e))) << to_string(e);
}

TEST_F(matmul_cuda, fuses_the_scales_of_narrow_floats) {
  const auto scale = [&] { return read(op::load_number, dtype::f32, 1, 1); };
  const auto largest = [&](const expression& x) {
    return expression::reducing(x, reduction::absolute_maximum, span_of::all, operand(dtype::f32, 1, 1));
  };
  const dtype t = dtype::f8e4m3;
  for (const expression& e : {scale() * acc, scale() * scale() * acc, 0.5 * (scale() * (scale() * acc)),
                              read(op::load_column, dtype::f32, m, 1) * acc * read(op::load_row, dtype::f32, 1, n)})
    EXPECT_TRUE(is_fused(product(t, dtype::bf16, e))) << to_string(e);
  const expression bias = read(op::load_row, dtype::bf16, 1, n);
  for (const expression& e : {scale() * scale() * scale() * acc, scale() * relu(scale() * acc + bias),
                              scale() * largest(gelu_tanh(scale() * scale() * acc)),
                              expression::converted(scale() * largest(relu(acc)), dtype::f8e4m3)})
    EXPECT_TRUE(is_fused(product(t, t, e))) << to_string(e);
  for (const expression& e : {largest(scale() * scale() * scale() * acc), scale() * silu(acc), largest(acc) + bias})
    EXPECT_FALSE(is_fused(product(t, t, e))) << to_string(e);
  EXPECT_FALSE(is_fused(product(t, dtype::bf16, read(op::load_column, dtype::f32, m, 1) * acc)));
}

TEST_F(matmul_cuda, refuses_what_must_be_fused_and_cannot_by_the_name_of_the_node) {
  multiplication r = product(dtype::f16, dtype::f16, silu(acc));
  r.fusion = fusion::required;
  EXPECT_NE(refusal(r).find("cuBLASLt does not compute silu together with a product"), std::string::npos) << refusal(r);
  r = product(dtype::f16, dtype::i32, acc);
  r.fusion = fusion::required;
  EXPECT_NE(refusal(r).find("stored as i32"), std::string::npos) << refusal(r);
  EXPECT_NE(refusal(r).find("fusion::allowed"), std::string::npos);
}

TEST_F(matmul_cuda, respects_the_limit_of_memory) {
  multiplication r = product(dtype::f16, dtype::f16, silu(acc));
  r.workspace = 1024;
  EXPECT_NE(refusal(r).find("workspace is 1024; this product needs at least 3072 bytes"), std::string::npos)
      << refusal(r);
  r.workspace = 3072;
  EXPECT_EQ(refusal(r), "");
  r.epilogue = relu(acc);
  r.workspace = 0;
  EXPECT_EQ(refusal(r), "");
}

TEST_F(matmul_cuda, searches_once_for_requests_of_one_structure) {
  const auto make = [&](double alpha) { return product(dtype::f32, dtype::f32, alpha * acc); };
  EXPECT_TRUE(is_fused(make(2)));
  const std::size_t before = searches();
  EXPECT_TRUE(is_fused(make(3)));
  EXPECT_EQ(searches(), before);
  multiplication r = make(2);
  r.workspace = 12345;
  EXPECT_TRUE(is_fused(r));
  EXPECT_GT(searches(), before) << "a limit is part of a plan's key";
}

TEST_F(matmul_cuda, copies_operands_that_tensor_cores_do_not_take) {
  multiplication r = product(dtype::f8e4m3, dtype::bf16, acc);
  EXPECT_TRUE(is_fused(r));
  EXPECT_EQ(launches(), 0u);
  r.b = field<access_mode::read>(dtype::f8e4m3, k, n, true);
  EXPECT_TRUE(is_fused(r));
  EXPECT_EQ(launches(), 1u);
}

}  // namespace
}  // namespace troupe::matmul
