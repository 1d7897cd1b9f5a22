// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/core/actor_origin.hpp>
#include <troupe/base/linux/futex.hpp>

namespace troupe {

void object_count::leave() noexcept {
  const auto keep = ref<object_count>::share(this);
  if (count_.fetch_sub(1) == 1) futex_wake(count_, futex_scope::process);
}

void object_count::wait_for_none() const noexcept {
  while (const std::uint32_t seen = count_.load()) futex_wait(count_, seen, futex_scope::process);
}

error detail::closed_stage() {
  return error(reaction::stopped, "actor",
               "the stage was closed before the actor was spawned, so it has no object: spawn it on an open stage");
}

}  // namespace troupe
