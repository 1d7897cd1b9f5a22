// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What only the CUDA engine does. The tests run on a fake driver and a fake cuBLAS, which compute at once on the
// processor; the suites of the requests run on them too.
#include <cublas_v2.h>
#include <cuda.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <tests/numerics/compare.hpp>
#include <tests/numerics/engine_under_test.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>

namespace troupe::blas {
namespace {

using namespace numerics;

class blas_cuda : public ::testing::Test {
 protected:
  template <class R>
  void run(const R& r) {
    const auto done = engine.run(r);
    ASSERT_TRUE(done) << done.error().to_string();
  }
  template <class T>
  static scalar<T> in_memory(const T& value) {
    return scalar<T>::at(reinterpret_cast<std::uintptr_t>(&value));
  }

  engine_under_test engine{TROUPE_ENGINE_UNDER_TEST};
  cuda::testing::fake_driver& driver = cuda::testing::driver_of(TROUPE_ENGINE_UNDER_TEST);
};

template <class T, access_mode M = access_mode::read_write>
operand<T, M> all_of(const std::vector<T>& v) {
  return {reinterpret_cast<std::uintptr_t>(v.data()), v.size()};
}
template <class T>
in<T> to_read(const std::vector<T>& v) {
  return all_of<T, access_mode::read>(v);
}

TEST_F(blas_cuda, serves_every_request_on_the_lane_of_the_library) {
  EXPECT_STREQ(engine.interface().library, "blas");
  EXPECT_STREQ(engine.interface().backend, "cuda");
  EXPECT_EQ(std::string(engine.interface().version).substr(0, 7), "cuBLAS ") << engine.interface().version;
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < engine.interface().operation_count; ++i) {
    const troupe_engine_operation& one = engine.interface().operations[i];
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(one.lane, troupe_lane_library) << one.name;
  }
  EXPECT_EQ(names.size(), 246u);  // as many as the host engine
}

TEST_F(blas_cuda, invalid_pivots_make_only_their_own_solution_nan) {
  const std::vector<std::vector<float>> a{{2, 1, 1, 3}, {4, 2, 1, 5}, {1, 0, 0, 1}};
  for (const std::int32_t bad : {0, -7, 3, 1 << 30}) {
    std::vector<std::vector<float>> b{{1, 2}, {3, 4}, {5, 6}}, c(3, std::vector<float>(4, 7));
    const std::vector<std::int32_t> pivots{1, 2, bad, 2, 1, 2};
    std::vector<std::int32_t> info(3, -1);
    getrs_batched<float> solve{.a = {}, .pivots = to_read(pivots), .b = {}, .n = 2, .nrhs = 1};
    getri_batched<float> invert{
        .a = {}, .pivots = to_read(pivots), .c = {}, .info = all_of<std::int32_t, access_mode::write>(info), .n = 2};
    for (std::size_t i = 0; i < 3; ++i) {
      solve.a.push_back(to_read(a[i])), solve.b.push_back(all_of(b[i]));
      invert.a.push_back(to_read(a[i])), invert.c.push_back(all_of<float, access_mode::write>(c[i]));
    }
    run(solve);
    run(invert);
    for (const auto& wrong : {b[1], c[1]})
      for (const float v : wrong) EXPECT_TRUE(std::isnan(v)) << bad << ": " << v;
    for (const auto& right : {b[0], b[2], c[0], c[2]})
      for (const float v : right) EXPECT_TRUE(std::isfinite(v)) << bad;
    EXPECT_EQ(b[2], (std::vector<float>{5, 6}));
    EXPECT_EQ(info, (std::vector<std::int32_t>{0, -1, 0})) << bad;
  }
}

// The fake cuBLAS multiplies by a 0 that it reads from memory, as the real one may do.
TEST_F(blas_cuda, an_alpha_of_0_in_memory_keeps_nan_out_of_results) {
  constexpr std::int64_t n = 300;  // too large for the kernel of small products
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> zero{0}, two{2};
  const std::vector<float> a(n * n, nan);
  std::vector<float> c(n * n, 3);
  const gemm<float> r{.a = to_read(a),
                      .b = to_read(a),
                      .c = all_of(c),
                      .m = n,
                      .n = n,
                      .k = n,
                      .alpha = in_memory(zero[0]),
                      .beta = in_memory(two[0])};
  run(r);
  EXPECT_EQ(c, std::vector<float>(n * n, 6));
  std::vector<float> y(n, 5);
  run(gemv<float>{.a = to_read(a), .x = to_read(a), .y = all_of(y), .m = n, .n = n, .alpha = in_memory(zero[0])});
  EXPECT_EQ(y, std::vector<float>(n, 0));
}

TEST_F(blas_cuda, lists_longer_than_the_argument_memory_are_enqueued_in_parts) {
  constexpr std::size_t count = 40'000;  // one call takes at most 16384
  std::vector<float> a(count), b(count), c(count, -1);
  gemm_batched<float> r{.a = {}, .b = {}, .c = {}, .m = 1, .n = 1, .k = 1};
  const auto one = [](std::vector<float>& v, std::size_t i) { return reinterpret_cast<std::uintptr_t>(v.data() + i); };
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = static_cast<float>(i % 1000), b[i] = static_cast<float>(i % 7);
    r.a.emplace_back(one(a, i), 1), r.b.emplace_back(one(b, i), 1), r.c.emplace_back(one(c, i), 1);
  }
  // Runs several times, so that argument memory is reused.
  for (int round = 0; round < 5; ++round) run(r);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(c[i], a[i] * b[i]) << i;
}

TEST_F(blas_cuda, argument_memory_is_reused_only_after_the_gpu_has_read_it) {
  // Claims several times the argument memory, while the GPU defers all work that it can. With an alpha of 0, only our
  // own kernel runs.
  constexpr std::size_t calls = 40, each = 16 * 1024;
  std::vector<float> c(calls * each, 3);
  driver.hold_back();
  for (std::size_t call = 0; call < calls; ++call) {
    gemm_batched<float> r{.a = {}, .b = {}, .c = {}, .m = 1, .n = 1, .k = 1, .alpha = 0, .beta = 2};
    for (std::size_t i = call * each; i < (call + 1) * each; ++i) {
      const auto at = reinterpret_cast<std::uintptr_t>(&c[i]);
      r.a.emplace_back(at, 1), r.b.emplace_back(at, 1), r.c.emplace_back(at, 1);
    }
    run(r);
  }
  EXPECT_EQ(c.back(), 3) << "no work was deferred";
  driver.go_on();
  for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], 6) << i;
}

// Memory that a recording has requested. It lives until the process ends.
struct asked {
  cuda::testing::fake_driver* driver;
  std::uint64_t scratch = 0, constants = 0;
  void* pinned(std::uint64_t bytes) const {
    void* out = nullptr;
    EXPECT_EQ(driver->allocate(true, &out, bytes), CUDA_SUCCESS);
    return out;
  }
};
template <std::uint64_t asked::* Kind>
void* give(void* state, std::uint64_t bytes, troupe_engine_failure*) {
  auto& of = *static_cast<asked*>(state);
  of.*Kind += bytes;
  return of.pinned(bytes);
}

// Recorded work runs later, when the memory of its lane holds other data.
TEST_F(blas_cuda, recorded_work_uses_only_memory_of_the_recording) {
  asked of{&driver};
  const troupe_engine_recording recording{
      .state = &of, .scratch = &give<&asked::scratch>, .constants = &give<&asked::constants>};
  const auto record = [&]<class R>(const R& r) {
    const troupe_engine_operation* const operation = engine.find(opcode_of<R>);
    EXPECT_NE(operation->recordable, 0u);
    alignas(16) std::byte payload[payload_bytes<R>];
    std::vector<std::byte> blob(blob_bytes(r) + 16);
    encode(r, payload, {blob.data(), reinterpret_cast<std::uintptr_t>(blob.data())});
    const troupe_engine_call call{nullptr, 0, 0, 1, of.pinned(64), [](void*) {}, nullptr, &recording};
    troupe_engine_failure failure{};
    EXPECT_TRUE(operation->run(engine.interface().state, payload, &call, &failure)) << failure.text;
  };
  // With an alpha of 0, only our own kernel runs, which reads its list at the recorded address.
  constexpr std::size_t count = 1000, calls = 200;
  std::vector<float> c(count, 3), others(count, 1);
  const auto scaling = [](std::vector<float>& v) {
    gemm_batched<float> r{.a = {}, .b = {}, .c = {}, .m = 1, .n = 1, .k = 1, .alpha = 0, .beta = 2};
    for (float& one : v) {
      const auto at = reinterpret_cast<std::uintptr_t>(&one);
      r.a.emplace_back(at, 1), r.b.emplace_back(at, 1), r.c.emplace_back(at, 1);
    }
    return r;
  };
  driver.hold_back();
  record(scaling(c));
  EXPECT_GE(of.scratch, std::uint64_t{32} << 20);
  EXPECT_GE(of.constants, count * sizeof(void*));
  driver.go_on();
  for (std::size_t i = 0; i < calls; ++i) run(scaling(others));  // overwrites all argument memory of the lane
  EXPECT_EQ(c, std::vector<float>(count, 6));
  const asked before = of;
  std::vector<float> y(4, 2);
  run(scal<float>{.x = all_of(y), .n = 4, .alpha = 2});
  EXPECT_EQ(of.scratch, before.scratch) << "requests that are not recorded use none";
  EXPECT_EQ(y, std::vector<float>(4, 4));
  // Memory that one kernel passes to the next must also belong to the recording.
  const std::vector<float> zero{0}, nan(300 * 300, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> kept(300 * 300, 3);
  record(gemm<float>{.a = to_read(nan),
                     .b = to_read(nan),
                     .c = all_of(kept),
                     .m = 300,
                     .n = 300,
                     .k = 300,
                     .alpha = in_memory(zero[0]),
                     .beta = 2});
  EXPECT_EQ(kept, std::vector<float>(300 * 300, 6));
  EXPECT_GE(of.scratch, before.scratch + (std::uint64_t{32} << 20) + 300 * 300 * sizeof(float));
}

TEST_F(blas_cuda, products_that_cublas_does_not_support_are_computed) {
  // Matrices of int8 that are not aligned, factors of integer products, and a mode that this GPU does not have.
  constexpr std::int64_t n = 131, ld = 133;
  std::vector<std::int8_t> a(ld * n + 1), b(ld * n + 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<std::int8_t>(i % 13), b[i] = static_cast<std::int8_t>(i % 5);
  std::vector<std::int32_t> c(n * n, 1);
  const auto odd = [](const std::vector<std::int8_t>& v) {
    return in<std::int8_t>(reinterpret_cast<std::uintptr_t>(v.data() + 1), v.size() - 1);
  };
  run(gemm<std::int8_t, std::int32_t>{
      .a = odd(a), .b = odd(b), .c = all_of(c), .m = n, .n = n, .k = n, .alpha = 3, .beta = -2, .lda = ld, .ldb = ld});
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      std::int32_t sum = 0;
      for (std::int64_t l = 0; l < n; ++l)
        sum += a[static_cast<std::size_t>(1 + i + l * ld)] * b[static_cast<std::size_t>(1 + l + j * ld)];
      ASSERT_EQ(c[static_cast<std::size_t>(i + j * n)], 3 * sum - 2) << i << ", " << j;
    }
  const std::vector<float> ones(n * n, 1);
  std::vector<float> sums(n * n);
  run(gemm<float>{
      .a = to_read(ones), .b = to_read(ones), .c = all_of(sums), .m = n, .n = n, .k = n, .math = math_mode::bf16x9});
  EXPECT_EQ(sums, std::vector<float>(n * n, n));
}

TEST_F(blas_cuda, a_product_has_the_same_bits_alone_and_among_products_of_other_shapes) {
  std::vector<std::vector<float>> a, b, alone, together;
  std::vector<gemm<float>> requests;
  for (std::int64_t i = 1; i <= 20; ++i) {
    const std::int64_t m = 3 * i, n = 64 - 3 * i, k = 100 - 4 * i;
    const auto some = [i](std::int64_t count, float by) {
      std::vector<float> out;
      for (std::int64_t l = 0; l < count; ++l) out.push_back(std::sin(static_cast<float>(l * i) * by));
      return out;
    };
    a.push_back(some(m * k, 0.37f)), b.push_back(some(k * n, 0.91f));
    alone.emplace_back(static_cast<std::size_t>(m * n)), together.emplace_back(static_cast<std::size_t>(m * n));
    const gemm<float> r{
        .a = to_read(a.back()), .b = to_read(b.back()), .c = all_of(alone.back()), .m = m, .n = n, .k = k};
    run(r);
    requests.push_back(r);
    requests.back().c = all_of(together.back());
  }
  ASSERT_EQ(engine.run_together(requests).size(), requests.size());
  for (std::size_t i = 0; i < alone.size(); ++i)
    EXPECT_EQ(std::memcmp(alone[i].data(), together[i].data(), alone[i].size() * sizeof(float)), 0) << i;
}

TEST_F(blas_cuda, each_lane_has_exactly_one_handle_of_its_own) {
  std::vector<float> x(4, 1);
  const scal<float> r{.x = all_of(x), .n = 4, .alpha = 2};
  for (const std::uint32_t lane : {0u, 3u, 1u, 3u}) ASSERT_TRUE(engine.run(r, lane));
  EXPECT_EQ(x, std::vector<float>(4, 16));
  const auto refused = engine.run(r, 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reaction(), reaction::fatal);
}

TEST_F(blas_cuda, each_status_of_cublas_becomes_the_right_reaction) {
  const auto answer = [this](int cublas, int stream) {
    driver.fail("cublasScopy_64", cublas, 1);
    driver.fail("cuStreamQuery", stream);
    if (stream != CUDA_ERROR_NOT_READY) driver.fail("cuStreamIsCapturing", stream);
  };
  const std::vector<float> x(4, 1);
  std::vector<float> y(4, 2);
  const copy<float> r{.x = to_read(x), .y = all_of<float, access_mode::write>(y), .n = 4};
  alignas(16) std::byte payload[payload_bytes<copy<float>>];
  alignas(64) std::byte reply[max_reply_bytes]{};
  encode(r, payload, {nullptr, 0});
  const troupe_engine_operation* const operation = engine.find(opcode_of<copy<float>>);
  ASSERT_NE(operation, nullptr);
  struct {
    int cublas, stream;
    reaction wanted;
    bool restarts;
    const char* text;
  } const cases[] = {
      {CUBLAS_STATUS_NOT_SUPPORTED, 0, reaction::unsupported, false, "cuBLAS cannot do this"},
      {CUBLAS_STATUS_ARCH_MISMATCH, 0, reaction::unsupported, false, "cuBLAS cannot do this"},
      {CUBLAS_STATUS_ALLOC_FAILED, 0, reaction::retry_later, false, "memory is full"},
      {CUBLAS_STATUS_INVALID_VALUE, 0, reaction::fatal, false, "blas.copy<f32>{"},
      {CUBLAS_STATUS_NOT_INITIALIZED, 0, reaction::fatal, true, "reopened"},
      {CUBLAS_STATUS_INTERNAL_ERROR, CUDA_ERROR_NOT_READY, reaction::fatal, true, "reopened"},
      {CUBLAS_STATUS_NOT_SUPPORTED, CUDA_ERROR_ASSERT, reaction::context_lost, false, "CUDA_ERROR"},
      {CUBLAS_STATUS_ALLOC_FAILED, CUDA_ERROR_LAUNCH_FAILED, reaction::context_lost, false, "CUDA_ERROR"},
      {CUBLAS_STATUS_EXECUTION_FAILED, CUDA_ERROR_ILLEGAL_ADDRESS, reaction::context_lost, false, "CUDA_ERROR"}};
  for (const auto& c : cases) {
    answer(c.cublas, c.stream);
    const troupe_engine_call call{nullptr, 0, 0, 1, reply, [](void*) {}, nullptr};
    troupe_engine_failure failure{};
    EXPECT_FALSE(operation->run(engine.interface().state, payload, &call, &failure)) << c.cublas;
    EXPECT_EQ(static_cast<reaction>(failure.reaction), c.wanted) << failure.text;
    EXPECT_EQ(failure.restart_library != 0, c.restarts) << failure.text;
    EXPECT_STREQ(failure.domain, "blas");
    EXPECT_NE(std::string(failure.text).find("cublasScopy_64 returned "), std::string::npos) << failure.text;
    EXPECT_NE(std::string(failure.text).find(c.text), std::string::npos) << failure.text;
  }
  // A stream that is recording must not be queried, and an invalidated recording is not a fault of the library.
  constexpr auto active = CU_STREAM_CAPTURE_STATUS_ACTIVE, invalidated = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  struct {
    int cublas, stream;
    CUstreamCaptureStatus captures;
    reaction wanted;
    bool restarts;
  } const recorded[] = {
      {CUBLAS_STATUS_INTERNAL_ERROR, 0, active, reaction::fatal, true},
      {CUBLAS_STATUS_INTERNAL_ERROR, 0, invalidated, reaction::unsupported, false},
      {CUBLAS_STATUS_EXECUTION_FAILED, CUDA_ERROR_ILLEGAL_ADDRESS, active, reaction::context_lost, false}};
  for (const auto& c : recorded) {
    answer(c.cublas, c.stream);
    driver.capture.status = c.captures;
    const troupe_engine_call call{nullptr, 0, 0, 1, reply, [](void*) {}, nullptr};
    troupe_engine_failure failure{};
    EXPECT_FALSE(operation->run(engine.interface().state, payload, &call, &failure)) << c.cublas;
    EXPECT_EQ(driver.capture.status, c.captures) << failure.text;
    driver.capture.status = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_EQ(static_cast<reaction>(failure.reaction), c.wanted) << failure.text;
    EXPECT_EQ(failure.restart_library != 0, c.restarts) << failure.text;
  }
  answer(CUBLAS_STATUS_SUCCESS, CUDA_SUCCESS);
  run(r);
  EXPECT_EQ(y, x);
}

TEST_F(blas_cuda, factorizations_beyond_32_bits_are_unsupported) {
  const std::vector<std::int32_t> info(1);
  const auto refused = engine.run(
      getrf_batched<float>{.a = {}, .info = all_of<std::int32_t, access_mode::write>(info), .n = 3'000'000'000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reaction(), reaction::unsupported);
  EXPECT_EQ(
      refused.error().text(),
      "blas.getrf_batched<f32>: n is 3000000000; expected at most 2147483647, because cuBLAS counts in 32 bits here");
}

}  // namespace
}  // namespace troupe::blas
