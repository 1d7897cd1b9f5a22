// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels nobody has written: random declarations, loops, branches, barriers, casts, pointers and structs. With each
// piece of text goes a function that does in C++ what the text says for one thread, so that what a kernel must compute
// is known without any of the code under test.
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::cuda_on_host::testing {

inline constexpr unsigned threads = 48, blocks = 3;

// The memory of a thread: each variable has a place, an array has several, and a pointer holds the place it points to.
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
// What an expression or statement may look at.
struct view {
  own_block& block;
  own_thread& own;
};

struct expression {
  std::string text;
  std::function<unsigned(view)> value;
};
using action = std::function<void(view)>;      // what a statement without a barrier does in one thread
using step = std::function<void(own_block&)>;  // what a statement between barriers does in all of them
using steps = std::shared_ptr<std::vector<step>>;

inline void run_all(const steps& what, own_block& b) {
  for (const step& s : *what) s(b);
}
// Of a thread that is left: conditions around barriers are the same for all.
inline bool holds(const expression& condition, own_block& b) {
  for (own_thread& t : b.all)
    if (t.is_alive) return condition.value({b, t}) != 0;
  return false;
}

enum class style { loop, simple, odd };

}  // namespace troupe::cuda_on_host::testing
