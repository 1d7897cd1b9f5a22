// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests which epilogues the CUDA engine fuses and which it computes in a second pass, and which operands it copies
// first. They run on a fake driver and a fake cuBLASLt, which compute at once on the processor; the suites of the
// requests run on these fakes, too.
#include <cublas_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tests/numerics/engine_under_test.hpp>
#include <troupe/base/half.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/matmul/cuda/testing/fakes.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/plan/private_folder.hpp>

namespace troupe::matmul {
namespace {

using epilogue::acc, epilogue::expression, epilogue::op, epilogue::reduction_scope, epilogue::reduction;

// Turns the disk cache off before the engine is loaded. Tests of the disk cache set a folder of their own.
[[maybe_unused]] const int without_disk_cache = ::setenv("TROUPE_CACHE", "off", 1);

class matmul_cuda : public ::testing::Test {
 protected:
  static constexpr std::int64_t m = 16, n = 48, k = 512;  // too large for the kernel of small products

  matmul_cuda() {
    driver.notes_calls = true;
    engine.emplace(TROUPE_ENGINE_UNDER_TEST);
  }
  ~matmul_cuda() override {
    driver.reset();
    driver.computes = true, driver.notes_calls = false;
  }

  // Returns memory with the alignment of device memory.
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
    static numerics::engine_under_test loaded{TROUPE_ENGINE_UNDER_TEST};  // loads the fake driver
    return cuda::testing::driver_of(TROUPE_ENGINE_UNDER_TEST);
  }();
  std::optional<numerics::engine_under_test> engine;
  std::deque<std::vector<std::byte>> memory_;
};

TEST_F(matmul_cuda, epilogues_that_cublaslt_has_are_fused) {
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
      expression::reducing(acc, reduction::sum, reduction_scope::column, operand(dtype::f32, 1, n)),
      expression::reducing(acc, reduction::absolute_maximum, reduction_scope::all, operand(dtype::f32, 1, 1)),
      silu(epilogue::acc) * 2};
  for (const expression& e : others) EXPECT_FALSE(is_fused(product(t, t, e))) << to_string(e);
}

TEST_F(matmul_cuda, scales_of_8_bit_floats_are_fused) {
  const auto scale = [&] { return read(op::load_number, dtype::f32, 1, 1); };
  const auto largest = [&](const expression& x) {
    return expression::reducing(x, reduction::absolute_maximum, reduction_scope::all, operand(dtype::f32, 1, 1));
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

TEST_F(matmul_cuda, if_fusion_is_required_the_error_names_the_operation_that_cannot_be_fused) {
  multiplication r = product(dtype::f16, dtype::f16, silu(acc));
  r.options.fusion = fusion::required;
  EXPECT_NE(refusal(r).find("cuBLASLt cannot fuse this epilogue: it has silu"), std::string::npos) << refusal(r);
  r = product(dtype::f16, dtype::i32, acc);
  r.options.fusion = fusion::required;
  EXPECT_NE(refusal(r).find("stored as i32"), std::string::npos) << refusal(r);
  EXPECT_NE(refusal(r).find("set fusion to allowed"), std::string::npos);
}

TEST_F(matmul_cuda, the_workspace_limit_is_respected) {
  multiplication r = product(dtype::f16, dtype::f16, silu(acc));
  r.options.workspace = 1024;
  EXPECT_NE(refusal(r).find("workspace is 1024 bytes; this product needs at least 3072"), std::string::npos)
      << refusal(r);
  r.options.workspace = 3072;
  EXPECT_EQ(refusal(r), "");
  r.epilogue = relu(acc);
  r.options.workspace = 0;
  EXPECT_EQ(refusal(r), "");
}

TEST_F(matmul_cuda, requests_that_differ_in_numbers_only_share_a_search) {
  const auto make = [&](double alpha) { return product(dtype::f32, dtype::f32, alpha * acc); };
  EXPECT_TRUE(is_fused(make(2)));
  const std::size_t before = searches();
  EXPECT_TRUE(is_fused(make(3)));
  EXPECT_EQ(searches(), before);
  multiplication r = make(2);
  r.options.workspace = 12345;
  EXPECT_TRUE(is_fused(r));
  EXPECT_GT(searches(), before) << "a limit is part of a plan's key";
}

TEST_F(matmul_cuda, every_option_is_passed_to_cublaslt) {
  const auto asked = [&](dtype t, auto&& change) {
    multiplication r = product(t, t == dtype::f8e4m3 ? dtype::bf16 : t, acc);
    change(r);
    EXPECT_TRUE(is_fused(r));
    const auto calls = driver.calls();
    return *std::find_if(calls.rbegin(), calls.rend(),
                         [](const std::string& c) { return c.starts_with("cublasLtMatmulAlgoGetHeuristic"); });
  };
  const std::string usual = asked(dtype::f32, [](auto&) {});
  for (const precision p : {precision::tf32, precision::bf16, precision::f16, precision::bf16x9})
    EXPECT_NE(asked(dtype::f32, [p](auto& r) { r.options.precision = p; }), usual) << to_string(p);
  EXPECT_NE(asked(dtype::f32, [](auto& r) { r.options.repeatability = repeatability::between_processes; }), usual);
  EXPECT_NE(asked(dtype::f32, [](auto& r) { r.options.multiprocessors = 64; }), usual);
  EXPECT_NE(asked(dtype::f32, [](auto& r) { r.options.workspace = 1 << 20; }), usual);
  EXPECT_NE(asked(dtype::f8e4m3, [](auto& r) { r.options.accumulation = accumulation::fast; }),
            asked(dtype::f8e4m3, [](auto&) {}));
}

TEST_F(matmul_cuda, a_small_product_and_a_batch_of_one_share_a_plan_whichever_is_first) {
  const auto as_batch = [](const auto& o) {
    tensor_shape s = o.shape();
    s.rank = 3, s.extents = {1, s.extents[0], s.extents[1]}, s.strides = {256, s.strides[0], s.strides[1]};
    return std::remove_cvref_t<decltype(o)>(o.range(), s, o.type());
  };
  for (const bool batch_first : {false, true}) {
    const dtype t = batch_first ? dtype::f32 : dtype::bf16;  // the second order must not find the plan of the first
    multiplication r{.a = field<access_mode::read>(t, 16, 16, true),
                     .b = field<access_mode::read>(t, 16, 16, false),
                     .d = field<access_mode::write>(t, 16, 16, true),
                     .epilogue = relu(acc)};
    multiplication batch = r;
    batch.a = as_batch(r.a), batch.b = as_batch(r.b), batch.d = as_batch(r.d);
    const std::size_t searches_before = searches(), launches_before = launches();
    EXPECT_TRUE(is_fused(batch_first ? batch : r));
    EXPECT_TRUE(is_fused(batch_first ? r : batch));
    EXPECT_EQ(searches(), searches_before);
    EXPECT_EQ(launches(), launches_before + 2);
    EXPECT_EQ(engine->run(read_statistics{})->plans, batch_first ? 2u : 1u);
  }
}

TEST_F(matmul_cuda, the_fastest_of_the_measured_algorithms_is_used) {
  const auto push_times = [&](float first, float second, float third) {
    for (const float ms : {first, second, third})
      for (int i = 0; i < 3; ++i) driver.elapsed_ms.push_back(ms);  // to warm up, to estimate, and to measure
  };
  for (int i = 0; i < 4; ++i) push_times(9, 7, 8);
  const multiplication r = product(dtype::f16, dtype::f16, relu(acc));
  const auto info = engine->run(prepare{r, 3});
  ASSERT_TRUE(info) << info.error().to_string();
  EXPECT_EQ(info->measured, 3);
  EXPECT_EQ(info->algorithm, 1);
  EXPECT_EQ(info->source, plan_source::measured);
  EXPECT_LT(info->microseconds, info->first_microseconds);
  driver.elapsed_ms.clear();
  for (int i = 0; i < 4; ++i) push_times(9, 8.95f, 9);
  EXPECT_EQ(engine->run(prepare{r, 3})->algorithm, 0) << "another algorithm is faster only by chance";
}

// Sets a folder for the disk cache of the engines that the tests open.
class matmul_disk_cache : public matmul_cuda {
 protected:
  matmul_disk_cache() {
    ::setenv("TROUPE_CACHE", path_.c_str(), 1);
    open();
  }
  ~matmul_disk_cache() override { ::setenv("TROUPE_CACHE", "off", 1); }
  void open() { engine.emplace(TROUPE_ENGINE_UNDER_TEST); }
  template <class F>
  void each_entry(F&& f) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      if (entry.is_regular_file() && entry.file_size() > 0) f(entry.path()), ++count;
    EXPECT_GE(count, 1u);
  }
  void expect_one_remark(std::string_view part) {
    ASSERT_EQ(engine->remarks().size(), 1u);
    const std::string& said = engine->remarks().front();
    EXPECT_TRUE(said.starts_with("matmul: ") && said.find(part) != said.npos) << said;
  }
  std::size_t searches_of(const multiplication& r) {
    const std::size_t before = searches();
    EXPECT_TRUE(is_fused(r));
    return searches() - before;
  }
  const plan::private_folder folder_ = plan::private_folder::make().value();
  const std::filesystem::path path_ = folder_.path() + "/cache";
};

TEST_F(matmul_disk_cache, plans_of_earlier_processes_are_found) {
  const multiplication r = product(dtype::f16, dtype::f16, relu(acc));
  EXPECT_EQ(searches_of(r), 1u);
  open();
  EXPECT_EQ(searches_of(r), 0u);
  EXPECT_EQ(engine->run(prepare{r})->source, plan_source::stored);
  const auto counted = engine->run(read_statistics{});
  EXPECT_EQ(counted->plans, 1u);
}

TEST_F(matmul_disk_cache, plans_of_another_kind_of_gpu_are_not_used) {
  const multiplication r = product(dtype::f16, dtype::f16, relu(acc));
  EXPECT_EQ(searches_of(r), 1u);
  const std::string name = driver.name;
  const std::size_t memory = driver.memory;
  driver.name = "another GPU";
  open();
  EXPECT_EQ(searches_of(r), 1u);
  driver.name = name, driver.memory = 2 * memory;
  open();
  EXPECT_EQ(searches_of(r), 1u);
  driver.memory = memory;
  open();
  EXPECT_EQ(searches_of(r), 0u);
}

TEST_F(matmul_disk_cache, measured_plans_are_not_used_if_results_must_repeat_between_processes) {
  for (int i = 0; i < 4; ++i)
    for (const float ms : {9, 9, 9, 7, 7, 7}) driver.elapsed_ms.push_back(ms);
  multiplication r = product(dtype::f16, dtype::f16, relu(acc));
  EXPECT_EQ(engine->run(prepare{r, 2})->algorithm, 1);
  open();
  EXPECT_EQ(engine->run(prepare{r})->algorithm, 1);
  r.options.repeatability = repeatability::between_processes;
  EXPECT_EQ(engine->run(prepare{r})->algorithm, 0);
}

TEST_F(matmul_disk_cache, plans_given_by_a_request_are_stored) {
  const multiplication r = product(dtype::f16, dtype::f16, relu(acc));
  std::vector<std::uint64_t> words(choice::size);
  auto p = prepare{r};
  p.options.chosen = out<std::uint64_t>(reinterpret_cast<std::uint64_t>(words.data()), words.size());
  EXPECT_TRUE(engine->run(p));
  words[1] = 2;  // another algorithm of the fake
  p = prepare{r};
  p.options.choice = choice(words);
  EXPECT_EQ(engine->run(p)->algorithm, 2);
  open();
  EXPECT_EQ(engine->run(prepare{r})->algorithm, 2);
}

TEST_F(matmul_cuda, a_choice_is_refused_if_an_operand_is_less_aligned_than_it_needs) {
  multiplication r = product(dtype::f16, dtype::f16, relu(acc));
  std::vector<std::uint64_t> words(choice::size);
  auto p = prepare{r};
  p.options.chosen = out<std::uint64_t>(reinterpret_cast<std::uint64_t>(words.data()), words.size());
  EXPECT_TRUE(engine->run(p));
  words[1] = matmul::testing::aligned_algorithm;
  p = prepare{r};
  p.options.choice = choice(words);
  EXPECT_TRUE(engine->run(p));
  auto range = p.request.a.range();
  range.address += sizeof(half);
  p.request.a = any_operand<access_mode::read>(range, p.request.a.shape(), p.request.a.type());
  EXPECT_FALSE(engine->run(p)) << "the operand's address is a multiple of 2 only";
}

TEST_F(matmul_disk_cache, damaged_and_foreign_files_are_ignored_and_rewritten) {
  const multiplication r = product(dtype::f16, dtype::f16, relu(acc));
  EXPECT_EQ(searches_of(r), 1u);
  const auto damage = [&](std::size_t from_end, char with) {
    each_entry([&](const std::filesystem::path& file) {
      std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
      f.seekp(-static_cast<std::streamoff>(from_end), std::ios::end);
      f.put(with);
    });
  };
  for (const std::size_t from_end : {std::size_t{1}, std::size_t{40}, std::size_t{80}, std::size_t{120}}) {
    damage(from_end, '\x5a');
    open();
    EXPECT_EQ(searches_of(r), 1u) << "a byte was changed, " << from_end << " from the end";
    expect_one_remark("it is damaged");
    open();
    EXPECT_EQ(searches_of(r), 0u) << "the damaged file was not rewritten";
    EXPECT_TRUE(engine->remarks().empty());
  }
  each_entry([](const std::filesystem::path& file) { std::filesystem::resize_file(file, 10); });
  open();
  EXPECT_EQ(searches_of(r), 1u);
  driver.fail("cublasLtMatmulAlgoCheck", CUBLAS_STATUS_NOT_SUPPORTED);
  open();
  EXPECT_EQ(searches_of(r), 1u) << "the library does not accept the algorithm";
  expect_one_remark(": cuBLASLt does not accept it");
}

TEST_F(matmul_disk_cache, a_folder_that_cannot_be_written_is_reported_once) {
  std::ofstream(path_) << "not a folder";
  open();
  EXPECT_TRUE(is_fused(product(dtype::f16, dtype::f16, relu(acc))));
  EXPECT_TRUE(is_fused(product(dtype::bf16, dtype::bf16, relu(acc))));
  expect_one_remark("cannot open the folder");
}

TEST_F(matmul_cuda, float8_factors_are_widened_if_sums_are_stored_as_f64) {
  const auto workspace_of = [&](dtype d, accumulation how) {
    multiplication r = product(dtype::f8e4m3, d, acc);
    r.b = any_operand<access_mode::read>(r.b.range(), r.b.shape(), dtype::f8e5m2);
    r.options.accumulation = how;
    EXPECT_FALSE(is_fused(r) && d == dtype::f64);
    return engine->run(prepare{r})->workspace;
  };
  // Bytes of the copies of both factors, 2 for each element, and of the sums, 4 for each.
  constexpr std::uint64_t factors = 2 * (m * k + n * k), sums = 4 * m * n;
  EXPECT_EQ(workspace_of(dtype::f64, accumulation::fast), sums);
  EXPECT_EQ(workspace_of(dtype::f64, accumulation::precise), factors + sums);
  EXPECT_EQ(workspace_of(dtype::f32, accumulation::precise), 0u);
}

TEST_F(matmul_cuda, operands_that_tensor_cores_cannot_read_are_copied) {
  multiplication r = product(dtype::f8e4m3, dtype::bf16, acc);
  EXPECT_TRUE(is_fused(r));
  EXPECT_EQ(launches(), 0u);
  r.b = field<access_mode::read>(dtype::f8e4m3, k, n, true);
  EXPECT_TRUE(is_fused(r));
  EXPECT_EQ(launches(), 1u);
}

}  // namespace
}  // namespace troupe::matmul
