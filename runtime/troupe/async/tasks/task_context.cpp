// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/async/tasks/task_outcome.hpp>
#include <utility>

// `drive` cannot reset `next_` at its end, because the context may be destroyed by then; nothing reads `next_` after
// that.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif

namespace troupe::detail {

void task_context::drive(step first) noexcept {
  step now = first;
  next_ = &now;
  for (;;) {
    if (now.resume) {
      std::exchange(now.resume, nullptr).resume();
    } else if (now.ended) {
      task_parent* const parent = std::exchange(now.ended, nullptr)->parent();
      if (!parent) return root_ended();
      parent->child_ended();
    } else {
      return;
    }
  }
}

}  // namespace troupe::detail
