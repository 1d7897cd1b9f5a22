// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <troupe/worker/plugins/openblas_memory.hpp>

namespace troupe {
namespace {

// Limits the memory of this process and prints how many threads have memory, and the setting.
[[noreturn]] void say_with_limit(std::uint64_t mib) {
  const rlimit limit{mib << 20, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) std::_Exit(3);
  std::fprintf(stderr, "%d of 100, '%s'", openblas_threads_with_memory(100), openblas_threads_setting().c_str());
  std::_Exit(0);
}

class openblas_memory : public testing::Test {
 protected:
  // Each case restarts this program, because the limit stays.
  openblas_memory() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(openblas_memory, is_there_for_all_threads_without_a_limit) {
  EXPECT_EQ(openblas_threads_with_memory(100), 100);
  EXPECT_EQ(openblas_threads_setting(), "");
}
TEST_F(openblas_memory, is_there_for_few_threads_under_a_limit) {
  const std::string one = std::thread::hardware_concurrency() > 1 ? "'OPENBLAS_NUM_THREADS=1'" : "''";
  EXPECT_EXIT(say_with_limit(100), testing::ExitedWithCode(0), "^0 of 100, " + one);
  EXPECT_EXIT(say_with_limit(128 * 4 + 64), testing::ExitedWithCode(0), "^4 of 100, " + one);
}
TEST_F(openblas_memory, the_users_number_of_threads_is_kept) {
  ::setenv("OPENBLAS_NUM_THREADS", "3", 1);
  EXPECT_EXIT(say_with_limit(100), testing::ExitedWithCode(0), "''");
  ::unsetenv("OPENBLAS_NUM_THREADS");
}

}  // namespace
}  // namespace troupe
