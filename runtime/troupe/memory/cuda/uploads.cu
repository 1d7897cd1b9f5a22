// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Copies many small pieces of the host's memory. Each thread reads once, so that all reads are in flight on the bus at
// the same time.
#include "upload_arguments.hpp"

using namespace troupe::memory::upload_arguments;

namespace {

template <class Word>
__device__ void copy_words(char* to, const char* from, unsigned bytes) {
  const unsigned words = bytes / sizeof(Word);
  for (unsigned i = threadIdx.x; i < words; i += threads)
    reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
  for (unsigned i = words * sizeof(Word) + threadIdx.x; i < bytes; i += threads) to[i] = from[i];
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads) troupe_memory_uploads(const __grid_constant__ uploads a) {
  const one_upload& one = a.all[blockIdx.y];
  const std::uint64_t first = std::uint64_t{blockIdx.x} * bytes_in_block;
  if (first >= one.bytes) return;
  char* const to = static_cast<char*>(one.target) + first;
  const char* const from = static_cast<const char*>(one.source) + first;
  const unsigned bytes = one.bytes - first < bytes_in_block ? static_cast<unsigned>(one.bytes - first) : bytes_in_block;
  const auto alignment = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if (alignment % sizeof(uint4) == 0)
    copy_words<uint4>(to, from, bytes);
  else if (alignment % sizeof(unsigned) == 0)
    copy_words<unsigned>(to, from, bytes);
  else
    copy_words<char>(to, from, bytes);
}
