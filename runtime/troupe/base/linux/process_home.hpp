// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/base/error.hpp>

namespace troupe {

/// Remembers which process made the object that contains it. A child made by fork() has copies of its parent's objects,
/// but not the parent's threads; it shares the parent's files and some of its memory, and copied locks may stay locked
/// forever. So such an object refuses every use in a child, and its destructor does nothing there.
class process_home {
 public:
  process_home() noexcept : forks_(forks_of_this_process_.load(std::memory_order_relaxed)) {}
  /// Returns true if this process is a child of the one that made the object.
  bool left() const noexcept { return forks_ != forks_of_this_process_.load(std::memory_order_relaxed); }
  /// Returns the error with which an object refuses every use in a child.
  static error refusal();

  /// Returns true in a child made by fork(), which may have inherited objects.
  static bool is_child() noexcept { return forks_of_this_process_.load(std::memory_order_relaxed) != 0; }
  /// Keeps a reference to an object that is never destroyed, so that leak checkers do not report it.
  static void keep(const void* object);

 private:
  static int count_forks() noexcept;
  static std::atomic<std::uint32_t> forks_of_this_process_;  // forks since the first process, where it is 0
  static const int counts_forks_;
  std::uint32_t forks_;
};

/// An object of which each process has its own. A child gets a new one, because the parent's may be in use by a thread
/// that does not exist in the child. Never destroyed.
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
