// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random kernels: random declarations, loops, branches, barriers, casts, pointers and structs. Each piece of text has a
// function that does the same in C++ for one thread, so that the expected result does not depend on the code under
// test.
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::cuda_on_host::testing {

inline constexpr unsigned threads = 48, blocks = 3;

// The memory of a thread: each variable has a place, an array has several, and a pointer holds the place that it points
// to.
struct own_thread {
  std::vector<unsigned> memory;
  unsigned t = 0;
  bool is_alive = true;
};
struct own_block {
  std::vector<own_thread> all;
  std::vector<unsigned> shared, buffers[2];
  unsigned index = 0;
};
// The data that an expression or statement may access.
struct view {
  own_block& block;
  own_thread& own;
};

struct expression {
  std::string text;
  std::function<unsigned(view)> value;
};
using action = std::function<void(view)>;      // the effect of a statement without a barrier in one thread
using step = std::function<void(own_block&)>;  // the effect of a statement between barriers in all threads
using steps = std::shared_ptr<std::vector<step>>;

inline void run_all(const steps& what, own_block& b) {
  for (const step& s : *what) s(b);
}
// Returns the condition of any remaining thread: conditions around barriers are the same for all.
inline bool holds(const expression& condition, own_block& b) {
  for (own_thread& t : b.all)
    if (t.is_alive) return condition.value({b, t}) != 0;
  return false;
}

enum class style { loop, simple, odd };

}  // namespace troupe::cuda_on_host::testing
