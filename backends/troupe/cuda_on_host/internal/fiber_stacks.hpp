// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace troupe::cuda_on_host {

// Stacks for the fibers of one system thread, made on demand and kept. Below each stack is a guard page: writing to it
// faults. The tops of the stacks differ modulo the page size, so that equal frames of many fibers are not in the same
// cache set.
class fiber_stacks {
 public:
  static constexpr std::size_t bytes_each = std::size_t{128} * 1024;  // address space; untouched pages take no memory

  struct stack {
    char* bottom;
    std::size_t bytes;
  };

  fiber_stacks() = default;
  ~fiber_stacks();
  fiber_stacks(const fiber_stacks&) = delete;
  fiber_stacks& operator=(const fiber_stacks&) = delete;

  // Returns false if the system has no more memory or mappings.
  bool reserve(std::size_t count) noexcept;
  stack operator[](std::size_t i) const noexcept;

 private:
  static constexpr std::size_t per_region = 32;

  std::vector<char*> regions_;
};

}  // namespace troupe::cuda_on_host
