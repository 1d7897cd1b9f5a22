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
#include <troupe/jit/cache/private_folder.hpp>

namespace troupe::jit {

/// Headers that NVRTC has read before, in this process: no other one can use them. NVRTC goes by the text of the
/// #include lines and does not see that a header has changed since. So all that headers may be made from is a key here,
/// with a folder of its own for what NVRTC keeps. Thread safe.
class precompiled {
  // A std::timed_mutex, but for the thread sanitizer of g++ 12, which does not see when one of these was locked.
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
  /// One compile at a time: all share one heap.
  class turn {
   public:
    const std::string& folder() const noexcept { return folder_; }
    /// After the compile, with its log: takes NVRTC's words on the matter out of that and answers ours.
    std::string ended(nvrtcProgram program, std::string& log) const;

   private:
    friend precompiled;
    turn(precompiled& of, std::unique_lock<timed_lock> held, std::string folder)
        : of_(of), held_(std::move(held)), folder_(std::move(folder)) {}
    precompiled& of_;
    std::unique_lock<timed_lock> held_;
    std::string folder_;
  };
  /// Nothing when the deadline comes first.
  result<std::optional<turn>> begin(std::string key, const compile_deadline& how_long);

 private:
  // Of tens of megabytes each, on disk.
  static constexpr std::size_t most_kept = 8;
  struct kept {
    std::string key, folder;
  };
  void forget(std::size_t all_but);
  std::string grow(std::size_t bytes);

  timed_lock lock_;
  std::optional<private_folder> room_;
  std::list<kept> kept_;  // last used first
  std::uint64_t made_ = 0;
};

}  // namespace troupe::jit
