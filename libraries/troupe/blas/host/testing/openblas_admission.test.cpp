// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Each case runs in a process of its own: OpenBLAS keeps its memory, and a limit stays.
#include <cblas.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <troupe/blas/host/openblas_admission.hpp>
#include <vector>

namespace troupe::blas {
namespace {

// Returns the bytes of memory that count against RLIMIT_DATA.
std::uint64_t data_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmData:") {
      std::uint64_t kib = 0;
      status >> kib;
      return kib << 10;
    }
  return 0;
}
void leave_room_for(std::uint64_t mib) {
  const rlimit limit{data_bytes() + (mib << 20), RLIM_INFINITY};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) std::_Exit(3);
}

// Computes a product; ends the process if OpenBLAS does not return.
void compute(const openblas_admission& admission) {
  constexpr int n = 300;
  const auto turn = admission.enter();
  const std::vector<double> a(std::size_t{n} * n, 1);
  std::vector<double> c(a.size());
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a.data(), n, a.data(), n, 0, c.data(), n);
  if (c.back() != n) std::_Exit(4);
}

// Makes an admission where so much memory is left, and then computes on `callers` threads at once.
[[noreturn]] void make_and_compute(std::uint64_t mib, int callers) {
  ::alarm(60);
  std::atomic<const openblas_admission*> made = nullptr;
  std::vector<std::jthread> all;  // before the limit, because their stacks take memory
  for (int i = 0; i < callers; ++i)
    all.emplace_back([&made] {
      made.wait(nullptr);
      compute(*made);
    });
  leave_room_for(mib);
  const auto admission = openblas_admission::make("blas", 4);
  if (!admission) {
    std::fprintf(stderr, "%s", admission.error().text().c_str());
    std::_Exit(2);
  }
  made = &*admission;
  made.notify_all();
  all.clear();
  std::fprintf(stderr, "%s, %s", admission->threads_text().c_str(),
               admission->is_limited() ? "limited" : "not limited");
  std::_Exit(0);
}

class openblas_memory : public testing::Test {
 protected:
  // Each case restarts this program. OpenBLAS then has no threads of its own, which take memory when they please.
  openblas_memory() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  }
  ~openblas_memory() override { ::unsetenv("OPENBLAS_NUM_THREADS"); }
};

TEST_F(openblas_memory, an_engine_without_room_for_one_thread_does_not_open) {
  for (const std::uint64_t mib : {16, 100})
    EXPECT_EXIT(make_and_compute(mib, 1), testing::ExitedWithCode(2), "128 MiB.*worker_memory_limit.*ulimit -v");
}
TEST_F(openblas_memory, requests_compute_one_after_another_where_there_is_room_for_few) {
  for (const std::uint64_t mib : {150, 300, 600})
    EXPECT_EXIT(make_and_compute(mib, 6), testing::ExitedWithCode(0), "one request at a time.*, limited");
}
TEST_F(openblas_memory, a_large_limit_changes_nothing) {
  EXPECT_EXIT(make_and_compute(1 << 20, 6), testing::ExitedWithCode(0), "threads: 1, not limited");
}
TEST_F(openblas_memory, without_a_limit_all_may_enter_at_once) {
  const auto admission = openblas_admission::make("blas", 4);
  ASSERT_TRUE(admission) << admission.error().text();
  EXPECT_FALSE(admission->is_limited());
  const auto first = admission->enter(), second = admission->enter();
  EXPECT_FALSE(first.owns_lock() || second.owns_lock());
}

}  // namespace
}  // namespace troupe::blas
