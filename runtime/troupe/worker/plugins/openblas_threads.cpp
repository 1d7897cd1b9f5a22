// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <troupe/base/text/cat.hpp>
#include <troupe/worker/plugins/openblas_threads.hpp>
#include <vector>

namespace troupe {
namespace {

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

std::vector<std::string> openblas_thread_settings() {
  std::vector<std::string> out;
  const auto set = [&out](const char* variable, int value) {
    if (::secure_getenv(variable) == nullptr) out.push_back(cat(variable, "=", value));
  };
  set("OPENBLAS_THREAD_TIMEOUT", 20);
  // OpenBLAS's own threads get one share of the memory; each engine gets one for the threads that call OpenBLAS.
  constexpr int shares = openblas_engines + 1;
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = std::max(1, openblas_threads_with_memory(shares * all) / shares);
  if (threads < all) set("OPENBLAS_NUM_THREADS", threads);
  return out;
}

}  // namespace troupe
