// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {

/// A copy that several threads carry out at the same time, piece by piece.
class shared_copy {
 public:
  /// Copies a piece. Returns false if none waits at the moment. Thread-safe.
  virtual bool copy_piece() noexcept = 0;
  /// Returns the number of pieces that can be copied now. It is a hint. Thread-safe.
  virtual std::size_t waiting_pieces() const noexcept = 0;

 protected:
  ~shared_copy() = default;
};

/// Threads that help with copies, because one processor core copies less than a GPU can take. They start when they are
/// first called, take pieces without waiting for each other, and sleep when no piece waits.
class copy_threads {
 public:
  /// Makes a team of `helpers` threads; with 0, the thread that calls for a copy carries it out alone.
  explicit copy_threads(std::size_t helpers) noexcept : helpers_(helpers) {}
  ~copy_threads();
  copy_threads(const copy_threads&) = delete;

  /// Returns the number of helpers that pays off with this number of usable cores. The other cores are for the thread
  /// that waits for the copy, and for the worker.
  static std::size_t helpers_for(std::size_t cores) noexcept {
    return std::min<std::size_t>((std::max<std::size_t>(cores, 1) - 1) / 2, 8);
  }

  /// Lets helpers take part in a copy.
  void add(shared_copy& copy);
  /// Returns when no helper takes part in the copy any more.
  void remove(shared_copy& copy) noexcept;
  /// Wakes sleeping helpers if pieces wait in addition to the one that the caller copies next.
  void call_help(std::size_t waiting_pieces) noexcept {
    if (helpers_ != 0 && waiting_pieces > 1) wake(waiting_pieces - 1);
  }

  /// Adds a copy, and removes it at the end of the scope.
  class sharing {
   public:
    [[nodiscard]] sharing(copy_threads& with, shared_copy& copy) : with_(with), copy_(copy) { with_.add(copy_); }
    ~sharing() { with_.remove(copy_); }
    sharing(const sharing&) = delete;

   private:
    copy_threads& with_;
    shared_copy& copy_;
  };

 private:
  struct entry {
    shared_copy* copy;
    std::size_t inside = 0;  // helpers that take part in the copy
    bool ends = false;
  };
  struct visit {
    shared_copy* copy = nullptr;
    std::uint32_t removals = 0;  // value of `removals_` at the beginning; the visit ends when it changes
  };
  void wake(std::size_t most) noexcept;
  void start_helpers() noexcept;
  visit enter() noexcept;
  void leave(const shared_copy& copy) noexcept;
  bool take_part(const visit& v) const noexcept;
  void help() noexcept;

  const std::size_t helpers_;
  std::mutex lock_;
  std::condition_variable left_;
  std::vector<entry> copies_;
  std::size_t turn_ = 0;  // index of the copy at which the next helper begins its search
  std::vector<std::thread> threads_;
  std::atomic<bool> started_{false}, ending_{false};
  alignas(64) std::atomic<std::uint32_t> calls_{0};  // the word that helpers sleep on
  std::atomic<std::uint32_t> asleep_{0};
  alignas(64) std::atomic<std::uint32_t> removals_{0};  // changes when helpers must leave a copy
};

}  // namespace troupe
