// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/async/answers/abandoned.hpp>
#include <troupe/async/answers/pending_core.hpp>
#include <troupe/base/linux/process_home.hpp>

#include <utility>

namespace troupe::detail {

static thread_local constinit bool abandoned = false;

bool is_abandoned(const waiter* w) noexcept {
  if (!process_home::is_child()) return false;
  const auto* const of = dynamic_cast<const process_home*>(w);
  if (of == nullptr || !of->left()) return false;
  return abandoned = true;
}

bool was_abandoned() noexcept { return std::exchange(abandoned, false); }

}  // namespace troupe::detail
