// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/faults/requests.hpp>

/// Faults of the worker's process, which are the same on every engine.
namespace troupe::faults {

[[noreturn]] inline void exhaust(const exhaust_memory& r) {
  constexpr std::size_t piece = 1 << 20;
  for (std::int64_t held = 0; held < r.most_bytes.value(); held += piece) {
    void* more = std::malloc(piece);
    if (more == nullptr) break;
    std::memset(more, 0x5a, piece);
    asm volatile("" : : "g"(more) : "memory");  // keeps the compiler from removing the writes
  }
  static constexpr char words[] = "faults.exhaust_memory: out of memory\n";
  (void)!::write(STDERR_FILENO, words, sizeof words - 1);
  std::abort();
}

inline result<void> overwrite_shared_memory(const garbage& r) {
  std::mt19937_64 random(r.seed);
  std::ifstream maps("/proc/self/maps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:troupe-channel") == std::string::npos || line.find(" rw-s ") == std::string::npos) continue;
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    found = true;
    for (auto at = begin; at < end; at += sizeof(std::uint64_t))
      *reinterpret_cast<volatile std::uint64_t*>(at) = random();
  }
  if (!found) return error(reaction::unsupported, "faults", "the worker has no shared memory named troupe-channel");
  return {};
}

}  // namespace troupe::faults
