// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <troupe/base/linux/process_home.hpp>

namespace troupe {

constinit std::atomic<std::uint32_t> process_home::forks_of_this_process_{0};

error process_home::refusal() {
  return error(reaction::stopped, "device",
               "this device belongs to the parent process; a child of fork() must open its own runtime and device, or "
               "exec another program");
}

void process_home::keep(const void* object) {
  struct kept {
    const void* object;
    kept* next;
  };
  static constinit std::atomic<kept*> all{nullptr};
  auto* const mine = new kept{object, all.load()};
  while (!all.compare_exchange_weak(mine->next, mine)) {
  }
}

// Not called if a program makes a child with the kernel's fork or clone directly; such a program is responsible for its
// child. Nor for vfork and posix_spawn, whose child runs in the parent's memory.
int process_home::count_forks() noexcept {
  return ::pthread_atfork(nullptr, nullptr, [] { forks_of_this_process_.fetch_add(1); });
}
const int process_home::counts_forks_ = process_home::count_forks();

}  // namespace troupe
