// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <troupe/base/text/cat.hpp>
#include <troupe/worker/plugins/openblas_memory.hpp>
#include <vector>

namespace troupe {
namespace {

constexpr const char* threads_variable = "OPENBLAS_NUM_THREADS";
constexpr std::size_t bytes_for_a_thread = std::size_t{128} << 20;

bool memory_is_limited() {
  for (const auto what : {RLIMIT_AS, RLIMIT_DATA})
    if (rlimit limit{}; ::getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return true;
  return false;
}

}  // namespace

int openblas_threads_with_memory(int most) {
  if (!memory_is_limited()) return most;
  std::vector<void*> mapped;
  while (static_cast<int>(mapped.size()) < most) {
    void* const at =
        ::mmap(nullptr, bytes_for_a_thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) break;
    mapped.push_back(at);
  }
  for (void* const at : mapped) ::munmap(at, bytes_for_a_thread);
  return static_cast<int>(mapped.size());
}

// OpenBLAS's own threads get one share of the memory; each engine gets one for the threads that call OpenBLAS.
std::string openblas_threads_setting() {
  if (::secure_getenv(threads_variable) != nullptr) return {};
  constexpr int shares = openblas_engines + 1;
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = std::max(1, openblas_threads_with_memory(shares * all) / shares);
  return threads < all ? cat(threads_variable, "=", threads) : std::string();
}

}  // namespace troupe
