// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <troupe/base/compiler/sanitizers.hpp>
#include <troupe/worker/plugins/openblas_threads.hpp>

namespace troupe {
namespace {

std::string settings() {
  std::string out;
  for (const std::string& one : openblas_thread_settings()) out += one + ' ';
  return out;
}

// Limits the memory of this process and prints how many threads have memory, and the settings.
[[noreturn]] void say_with_limit(std::uint64_t mib) {
  const rlimit limit{mib << 20, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) std::_Exit(3);
  std::fprintf(stderr, "%d of 100, '%s'", openblas_threads_with_memory(100), settings().c_str());
  std::_Exit(0);
}

class openblas_threads : public testing::Test {
 protected:
  // Each case restarts this program, because the limit stays.
  openblas_threads() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(openblas_threads, have_memory_without_a_limit_and_sleep_soon) {
  EXPECT_EQ(openblas_threads_with_memory(100), 100);
  EXPECT_EQ(settings(), "OPENBLAS_THREAD_TIMEOUT=20 ");
}
TEST_F(openblas_threads, are_few_under_a_limit) {
  const std::string one = std::thread::hardware_concurrency() > 1 ? "OPENBLAS_NUM_THREADS=1 '" : "'";
  EXPECT_EXIT(say_with_limit(100), testing::ExitedWithCode(0), "^0 of 100, 'OPENBLAS_THREAD_TIMEOUT=20 " + one);
  if (TROUPE_ADDRESS_SANITIZER || TROUPE_THREAD_SANITIZER) return;  // their own memory counts
  EXPECT_EXIT(say_with_limit(128 * 4 + 64), testing::ExitedWithCode(0),
              "^4 of 100, 'OPENBLAS_THREAD_TIMEOUT=20 " + one);
}
TEST_F(openblas_threads, are_as_the_user_has_set) {
  ::setenv("OPENBLAS_NUM_THREADS", "3", 1);
  ::setenv("OPENBLAS_THREAD_TIMEOUT", "26", 1);
  EXPECT_EXIT(say_with_limit(100), testing::ExitedWithCode(0), "''");
  ::unsetenv("OPENBLAS_NUM_THREADS");
  ::unsetenv("OPENBLAS_THREAD_TIMEOUT");
}

}  // namespace
}  // namespace troupe
