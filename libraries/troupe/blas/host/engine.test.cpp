// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of the plug-in itself: what it serves and refuses, vectors beyond 32 bits, and several lanes in parallel.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <set>
#include <tests/numerics/compare.hpp>
#include <tests/numerics/engine_under_test.hpp>
#include <thread>
#include <troupe/blas/blas.hpp>

namespace troupe::blas {
namespace {

using namespace numerics;

// A range of addresses far larger than the machine's memory; only touched pages take memory.
class wide_space {
 public:
  explicit wide_space(std::uint64_t bytes)
      : bytes_(bytes),
        start_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  wide_space(const wide_space&) = delete;
  ~wide_space() {
    if (start_ != MAP_FAILED) ::munmap(start_, bytes_);
  }
  bool ok() const { return start_ != MAP_FAILED; }
  float* data() const { return static_cast<float*>(start_); }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(start_); }
  std::uint64_t size() const { return bytes_ / sizeof(float); }

 private:
  std::uint64_t bytes_;
  void* start_;
};

class blas_engine : public ::testing::Test {
 protected:
  // Returns the text of the engine's error, which must be `unsupported`.
  template <class R>
  std::string refusal(const R& r) {
    const auto done = engine.run(r);
    if (done) return "";
    EXPECT_EQ(done.error().reaction(), reaction::unsupported);
    EXPECT_EQ(done.error().domain(), "blas");
    return done.error().text();
  }

  engine_under_test engine{engine_of_program()};
};

TEST_F(blas_engine, serves_every_request_and_reports_the_version_of_openblas) {
  EXPECT_STREQ(engine.interface().library, "blas");
  EXPECT_STREQ(engine.interface().backend, "host");
  EXPECT_EQ(engine.interface().abi, troupe_engine_abi);
  EXPECT_EQ(std::string(engine.interface().version).substr(0, 9), "OpenBLAS ") << engine.interface().version;
  // Each request is listed once.
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < engine.interface().operation_count; ++i) {
    const troupe_engine_operation& one = engine.interface().operations[i];
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(one.lane, troupe_lane_library) << one.name;
  }
  EXPECT_EQ(names.size(), 246u);
}

TEST_F(blas_engine, coalesces_operations_on_vectors) {
  for (const std::uint64_t opcode :
       {opcode_of<axpy<float>>, opcode_of<axpy<double>>, opcode_of<axpy<complex64>>, opcode_of<axpy<complex128>>,
        opcode_of<nrm2<float>>, opcode_of<nrm2<double>>, opcode_of<nrm2<complex64>>, opcode_of<nrm2<complex128>>}) {
    const troupe_engine_operation* const one = engine.find(opcode);
    ASSERT_NE(one, nullptr);
    EXPECT_NE(one->group, nullptr) << one->name;
  }
}

TEST_F(blas_engine, reports_its_threads_and_the_processor_of_its_kernels) {
  ASSERT_NE(engine.interface().notes, nullptr);
  const std::string notes = engine.interface().notes(&engine.interface());
  int threads = 0;
  char core[64] = "";
  ASSERT_EQ(std::sscanf(notes.c_str(), "threads: %d\nkernels: %63[^,]", &threads, core), 2) << notes;
  EXPECT_GT(threads, 0);
  // OpenBLAS names the same core in its version.
  EXPECT_NE(std::string(engine.interface().version).find(core), std::string::npos) << notes;
}

// The engine refuses before it touches memory, so the operands have none.
TEST_F(blas_engine, refuses_sizes_beyond_32_bits_naming_the_field) {
  const std::string why =
      " is 3000000000; OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the request";
  const gemm<float> product{.a = {8, 0}, .b = {8, 0}, .c = {8, 0}, .m = 1, .n = 1, .k = 1};
  for (auto [field, name] : {std::pair{&gemm<float>::m, "m"},
                             {&gemm<float>::n, "n"},
                             {&gemm<float>::k, "k"},
                             {&gemm<float>::lda, "lda"},
                             {&gemm<float>::ldb, "ldb"},
                             {&gemm<float>::ldc, "ldc"}}) {
    gemm<float> r = product;
    r.*field = 3'000'000'000;
    EXPECT_EQ(refusal(r), std::string("blas.gemm<f32>: ") + name + why);
  }
  const gemv<double> applied{.a = {8, 0}, .x = {8, 0}, .y = {8, 0}, .m = 1, .n = 1};
  for (auto [field, name] : {std::pair{&gemv<double>::m, "m"},
                             {&gemv<double>::n, "n"},
                             {&gemv<double>::lda, "lda"},
                             {&gemv<double>::incx, "incx"},
                             {&gemv<double>::incy, "incy"}}) {
    gemv<double> r = applied;
    r.*field = 3'000'000'000;
    EXPECT_EQ(refusal(r), std::string("blas.gemv<f64>: ") + name + why);
  }
}

TEST_F(blas_engine, refuses_implied_leading_dimensions_beyond_32_bits) {
  const std::string why =
      ": lda is 2147483648; OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the request";
  constexpr std::int64_t k = INT32_MAX;
  const auto at = [](const auto& r) { return std::string(name_of<std::remove_cvref_t<decltype(r)>>()); };
  const auto refused = [&](const auto& r) { EXPECT_EQ(refusal(r), at(r) + why); };
  refused(gbmv<float>{.a = {8, 0}, .x = {8, 0}, .y = {8, 0}, .m = 1, .n = 1, .kl = k, .ku = 0});
  refused(gbmv<complex64>{.a = {8, 0}, .x = {8, 0}, .y = {8, 0}, .m = 1, .n = 1, .kl = k - 1, .ku = 1});
  refused(sbmv<double>{.a = {8, 0}, .x = {8, 0}, .y = {8, 0}, .n = 1, .k = k});
  refused(hbmv<complex64>{.a = {8, 0}, .x = {8, 0}, .y = {8, 0}, .n = 1, .k = k});
  refused(tbmv<float>{.a = {8, 0}, .x = {8, 0}, .n = 1, .k = k});
  refused(tbsv<complex128>{.a = {8, 0}, .x = {8, 0}, .n = 1, .k = k});
}

TEST_F(blas_engine, refuses_orders_of_factorizations_beyond_32_bits) {
  const std::string why =
      ": n is 3000000000; OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the request";
  constexpr std::int64_t n = 3'000'000'000;
  const out<std::int32_t> info{8, 0};
  const in<std::int32_t> pivots{8, 0};
  EXPECT_EQ(refusal(getrf_batched<float>{.a = {}, .info = info, .n = n}), "blas.getrf_batched<f32>" + why);
  EXPECT_EQ(refusal(getrs_batched<float>{.a = {}, .pivots = pivots, .b = {}, .n = n, .nrhs = 1}),
            "blas.getrs_batched<f32>" + why);
  EXPECT_EQ(refusal(getri_batched<float>{.a = {}, .pivots = pivots, .c = {}, .info = info, .n = n}),
            "blas.getri_batched<f32>" + why);
  EXPECT_EQ(refusal(matinv_batched<float>{.a = {}, .c = {}, .info = info, .n = n}), "blas.matinv_batched<f32>" + why);
  EXPECT_EQ(refusal(geqrf_batched<float>{.a = {}, .tau = {}, .m = 1, .n = n}), "blas.geqrf_batched<f32>" + why);
  EXPECT_EQ(refusal(gels_batched<float>{.a = {}, .c = {}, .info = info, .m = 1, .n = n, .nrhs = 1}),
            "blas.gels_batched<f32>" + why);
}

TEST_F(blas_engine, refuses_sizes_of_groups_beyond_32_bits_naming_the_group) {
  gemm_grouped<float> r{.a = {}, .b = {}, .c = {}, .groups = {{.m = 1, .n = 1, .k = 1}, {.m = 1, .n = 1, .k = 1}}};
  r.groups[1].ldb = 3'000'000'000;
  EXPECT_EQ(
      refusal(r),
      "blas.gemm_grouped<f32>: ldb of groups[1] is 3000000000; OpenBLAS counts in 32 bits, so the host engine takes "
      "at most 2147483647: split the request");
}

TEST_F(blas_engine, accepts_strides_beyond_32_bits) {
  const std::int64_t stride = std::int64_t{1} << 32;
  const wide_space space((static_cast<std::uint64_t>(stride) + 1) * sizeof(float));
  ASSERT_TRUE(space.ok());
  space.data()[0] = 2, space.data()[stride] = 3;
  float c[2];
  const in<float> all(space.address(), space.size());
  ASSERT_TRUE(engine.run(gemm_strided_batched<float>{.a = all,
                                                     .b = all,
                                                     .c = {reinterpret_cast<std::uintptr_t>(c), 2},
                                                     .m = 1,
                                                     .n = 1,
                                                     .k = 1,
                                                     .batch = 2,
                                                     .stride_a = stride,
                                                     .stride_b = stride}));
  EXPECT_EQ(c[0], 4);
  EXPECT_EQ(c[1], 9);
  float y[2];
  gemv_strided_batched<float> v{.a = all,
                                .x = all,
                                .y = {reinterpret_cast<std::uintptr_t>(y), 2},
                                .m = 1,
                                .n = 1,
                                .batch = 2,
                                .stride_a = stride,
                                .stride_x = stride};
  ASSERT_TRUE(engine.run(v));
  EXPECT_EQ(y[0], 4);
  EXPECT_EQ(y[1], 9);
  // Values that are passed to OpenBLAS are still refused by name, and only those.
  v.lda = 3'000'000'000, v.batch = 3'000'000'000;
  EXPECT_NE(refusal(v).find(": lda is 3000000000; OpenBLAS counts in 32 bits"), std::string::npos) << refusal(v);
}

TEST_F(blas_engine, coalesces_small_requests_only) {
  const auto key = [this](std::int64_t n) {
    const gemm<float> r{.a = {8, 0}, .b = {8, 0}, .c = {8, 0}, .m = n, .n = n, .k = n};
    alignas(16) std::byte payload[payload_bytes<gemm<float>>];
    encode(r, payload);
    return engine.find(opcode_of<gemm<float>>)->group(payload);
  };
  EXPECT_NE(key(16), 0u);
  EXPECT_EQ(key(16), key(24)) << "on a processor their shapes may differ";
  EXPECT_NE(key(64), 0u);
  EXPECT_NE(key(64), key(16)) << "these are worth all cores";
  EXPECT_EQ(key(500), 0u);
  EXPECT_EQ(key(3'000'000'000), 0u);
}

TEST_F(blas_engine, refuses_backward_vectors_beyond_32_bits) {
  gemv<float> r{.a = {8, 0}, .x = {8, 0}, .y = {8, 0}, .m = 2, .n = 3, .incx = -1'500'000'000};
  const std::string limit =
      "; OpenBLAS counts in 32 bits, so with a negative increment a vector may span at most 2147483647 elements on the "
      "host engine: use a positive increment";
  EXPECT_EQ(refusal(r), "blas.gemv<f32>: incx is -1500000000" + limit);
  r.incx = 1;
  r.trans = op::transpose;
  r.incy = -1'500'000'000;
  EXPECT_EQ(refusal(r), "blas.gemv<f32>: incy is -1500000000" + limit);
}

TEST_F(blas_engine, accepts_increments_beyond_32_bits) {
  for (const std::int64_t inc : {std::int64_t{1} << 29, std::int64_t{INT32_MAX}, std::int64_t{3'000'000'000}})
    for (const int sign : {1, -1}) {
      constexpr std::int64_t n = 5;
      SCOPED_TRACE("increment " + std::to_string(inc * sign));
      const layout shape = vector_of(n, inc * sign);
      const wide_space space(static_cast<std::uint64_t>(shape.span) * sizeof(float));
      ASSERT_TRUE(space.ok());
      const auto x = [&](std::int64_t i) -> float& { return space.data()[shape.place(i, 0)]; };
      float y[n];
      for (int i = 0; i < n; ++i) x(i) = static_cast<float>(i + 1), y[i] = static_cast<float>(10 * i);
      const auto address = reinterpret_cast<std::uintptr_t>(y);

      const auto sum =
          engine.run(dot<float>{.x = {space.address(), space.size()}, .y = {address, n}, .n = n, .incx = inc * sign});
      ASSERT_TRUE(sum) << sum.error().to_string();
      EXPECT_EQ(*sum, 10 * (2 * 1 + 3 * 2 + 4 * 3 + 5 * 4));

      ASSERT_TRUE(engine.run(axpy<float>{.x = {space.address(), space.size()},
                                         .y = {address, n},
                                         .n = n,
                                         .alpha = 2,
                                         .incx = inc * sign,
                                         .incy = -1}));
      for (int i = 0; i < n; ++i) EXPECT_EQ(y[n - 1 - i], 10 * (n - 1 - i) + 2 * (i + 1)) << i;

      ASSERT_TRUE(
          engine.run(scal<float>{.x = {space.address(), space.size()}, .n = n, .alpha = 3, .incx = inc * sign}));
      for (int i = 0; i < n; ++i) EXPECT_EQ(x(i), 3 * (i + 1)) << i;
    }
}

TEST_F(blas_engine, accepts_vectors_longer_than_32_bits) {
  const std::int64_t n = std::int64_t{INT32_MAX} + 1000;
  const wide_space space(static_cast<std::uint64_t>(n) * sizeof(float));
  ASSERT_TRUE(space.ok());
  (void)::madvise(space.data(), space.size() * sizeof(float), MADV_HUGEPAGE);
  // Only the few pages with a nonzero element take memory; all others are the shared zero page.
  const std::int64_t places[] = {0, 1, 77, INT32_MAX - 1, INT32_MAX, std::int64_t{INT32_MAX} + 1, n - 1};
  float want = 0, next = 1;
  for (const std::int64_t i : places) {
    space.data()[i] = next;
    want += next * next;
    next += 1;
  }
  const auto got =
      engine.run(dot<float>{.x = {space.address(), space.size()}, .y = {space.address(), space.size()}, .n = n});
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_EQ(*got, want);
  // With negative increments, the same elements are paired in the opposite order.
  const auto back = engine.run(dot<float>{
      .x = {space.address(), space.size()}, .y = {space.address(), space.size()}, .n = n, .incx = -1, .incy = -1});
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, want);
}

TEST_F(blas_engine, computes_correctly_when_several_lanes_call_it_in_parallel) {
  constexpr int lanes = 4;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([this, lane, &wrong] {
      random_source random(seed() + lane);
      for (int i = 0; i < 25; ++i) {
        const std::int64_t m = random.between(1, 150), n = random.between(1, 150), k = random.between(1, 150);
        stored<double> a(general(m, k, m)), b(general(k, n, k)), c(general(m, n, m)), x(vector_of(k, 1)),
            y(vector_of(m, 1));
        a.fill(random), b.fill(random), x.fill(random);
        const bool ran = engine.run(gemm<double>{.a = a, .b = b, .c = c, .m = m, .n = n, .k = k}, lane) &&
                         engine.run(gemv<double>{.a = a, .x = x, .y = y, .m = m, .n = k}, lane);
        const auto norm = engine.run(dot<double>{.x = y, .y = y, .n = m}, lane);
        if (!ran || !norm || !all_agree(c, reference::product(a.now(), b.now())) ||
            !all_agree(y, reference::product(a.now(), x.now())) ||
            !agrees(*norm, reference::product(y.now().transposed(), y.now())(0)))
          ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0) << how_to_repeat();
}

}  // namespace
}  // namespace troupe::blas
