// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace troupe::cuda_on_host {

// Stacks for the fibers of one thread of the system, each with a guard below that faults when it is written. Made as
// they are needed and kept. Their tops differ modulo the page, so that the same frame of many fibers does not fall into
// one set of the cache.
class fiber_stacks {
 public:
  static constexpr std::size_t bytes_each =
      std::size_t{128} * 1024;  // of address space; what is not used takes no memory

  struct stack {
    char* bottom;
    std::size_t bytes;
  };

  fiber_stacks() = default;
  ~fiber_stacks();
  fiber_stacks(const fiber_stacks&) = delete;
  fiber_stacks& operator=(const fiber_stacks&) = delete;

  // False when the system has no more memory, or no more mappings, to give.
  bool reserve(std::size_t count) noexcept;
  stack operator[](std::size_t i) const noexcept;

 private:
  static constexpr std::size_t per_region = 32;

  std::vector<char*> regions_;
};

}  // namespace troupe::cuda_on_host
