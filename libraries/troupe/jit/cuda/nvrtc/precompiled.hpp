// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nvrtc.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/jit/cache/compile_deadline.hpp>
#include <troupe/plan/private_folder.hpp>

namespace troupe::jit {

/// Precompiled headers, which only the process that made them can use. NVRTC identifies them by the text of the
/// #include lines and does not notice that a header has changed. Here, the key therefore includes everything that the
/// headers are made from, and each key has its own folder for NVRTC's files. Thread-safe.
class precompiled {
  // Replaces std::timed_mutex, because the thread sanitizer of g++ 12 does not see timed locks.
  class timed_lock {
   public:
    bool try_lock_for(std::chrono::milliseconds most);
    void unlock();

   private:
    std::mutex guard_;
    std::condition_variable freed_;
    bool held_ = false;
  };

 public:
  /// Grants one compile at a time the use of precompiled headers, because all compiles share one heap.
  class turn {
   public:
    const std::string& folder() const noexcept { return folder_; }
    /// Call after the compile, with its log: removes NVRTC's messages about precompiled headers, and returns a note of
    /// ours.
    std::string ended(nvrtcProgram program, std::string& log) const;

   private:
    friend precompiled;
    turn(precompiled& of, std::unique_lock<timed_lock> held, std::string folder)
        : of_(of), held_(std::move(held)), folder_(std::move(folder)) {}
    precompiled& of_;
    std::unique_lock<timed_lock> held_;
    std::string folder_;
  };
  /// Returns nullopt if the deadline passes first.
  result<std::optional<turn>> begin(std::string key, const compile_deadline& how_long);

 private:
  // Each set of precompiled headers takes tens of megabytes on disk.
  static constexpr std::size_t most_kept = 8;
  struct kept {
    std::string key, folder;
  };
  void forget(std::size_t all_but);
  std::string grow(std::size_t bytes);

  timed_lock lock_;
  std::optional<plan::private_folder> folder_;
  std::list<kept> kept_;  // most recently used first
  std::uint64_t made_ = 0;
};

}  // namespace troupe::jit
