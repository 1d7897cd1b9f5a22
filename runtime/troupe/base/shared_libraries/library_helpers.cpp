// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <unistd.h>

#include <cstddef>
#include <mutex>
#include <new>
#include <troupe/base/shared_libraries/library_helpers.hpp>
#include <troupe/base/threads/helper_places.hpp>
#include <troupe/base/threads/start_thread.hpp>

namespace troupe {
namespace {

struct known_helpers {
  std::mutex lock;
  std::vector<pid_t> threads;
  helper_places places;
};

// They belong to the process. Never destroyed, because threads may compute until it ends; not on the heap, because an
// engine that has its own copy (built with sanitizers) would leak it when it is unloaded.
known_helpers& helpers() {
  alignas(known_helpers) static std::byte memory[sizeof(known_helpers)];
  static auto& all = *new (memory) known_helpers;
  return all;
}

// Returns 0 if the system has no room for another thread.
pid_t number_of_a_new_thread() noexcept try {
  pid_t out = 0;
  start_thread([&out] { out = ::gettid(); }).join();
  return out;
} catch (...) {
  return 0;
}

void note_between(pid_t before, pid_t after) {
  // Numbers begin again at some time; many other processes may have started meanwhile.
  constexpr pid_t most = 10'000;
  if (before == 0 || after - before > most) return;
  const std::scoped_lock guard(helpers().lock);
  std::erase_if(helpers().threads, [](pid_t id) { return !are_of_this_process({&id, 1}); });
  for (pid_t id = before + 1; id < after; ++id)
    if (are_of_this_process({&id, 1})) helpers().threads.push_back(id);
}

}  // namespace

notes_helpers::notes_helpers() noexcept : before_(number_of_a_new_thread()) {
  if (::prctl(PR_GET_NAME, name_before_.data()) == 0) (void)::prctl(PR_SET_NAME, "library-helper");
}

notes_helpers::~notes_helpers() {
  if (name_before_.front() != '\0') (void)::prctl(PR_SET_NAME, name_before_.data());
  try {
    note_between(before_, number_of_a_new_thread());
  } catch (...) {
    // The helpers stay unknown: slower, but correct.
  }
}

std::vector<pid_t> library_helpers() {
  const std::scoped_lock guard(helpers().lock);
  return helpers().threads;
}

void keep_helpers_away(std::size_t count) noexcept try {
  if (count == 0) return;
  const std::scoped_lock guard(helpers().lock);
  if (helpers().threads.size() == count) helpers().places.place(helpers().threads);
} catch (...) {
  // The helpers stay where they are: slower, but correct.
}

}  // namespace troupe
