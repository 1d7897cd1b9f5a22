// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/base/error.hpp>

namespace troupe {

/// Remembers which process made the object that has it. A child made by fork() has copies of its parent's objects, but
/// not their threads, and it shares their files and some of their memory. Locks may be held for ever. So an object that
/// needs any of these refuses each use in a child, and its destructor does nothing there.
class process_home {
 public:
  process_home() noexcept : forks_(forks_of_this_process_.load(std::memory_order_relaxed)) {}
  /// Returns true in a child of the process that made the object.
  bool left() const noexcept { return forks_ != forks_of_this_process_.load(std::memory_order_relaxed); }
  /// Returns the error of every use in a child.
  static error refusal();

  /// Returns true in a child, which may have inherited objects.
  static bool is_child() noexcept { return forks_of_this_process_.load(std::memory_order_relaxed) != 0; }
  /// Keeps an object that is never destroyed reachable, so that it does not look like a leak.
  static void keep(const void* object);

 private:
  static int count_forks() noexcept;
  static std::atomic<std::uint32_t> forks_of_this_process_;  // since the first process, which counts none
  static const int counts_forks_;
  std::uint32_t forks_;
};

/// An object of which each process has its own. A child gets a new one: its parent's may be in use by a thread that the
/// child does not have. Never destroyed.
template <class T>
class per_process {
 public:
  T& operator*() {
    home* now = now_.load(std::memory_order_acquire);
    if (!now->of.left()) return now->object;
    auto* const made = new home;
    if (now_.compare_exchange_strong(now, made, std::memory_order_acq_rel)) return made->object;
    delete made;  // another thread was faster
    return now->object;
  }

 private:
  struct home {
    process_home of;
    T object;
  };
  std::atomic<home*> now_{new home};
};

}  // namespace troupe
