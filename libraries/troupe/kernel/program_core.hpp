// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <troupe/device/device.hpp>
#include <troupe/kernel/program_block.hpp>

namespace troupe::kernel {

/// The state that all handles of a program share, in the application.
class program_core {
 public:
  /// Writes the recipe to memory that workers can only read. `drop` is called when the last handle is destroyed, unless
  /// the program was unloaded before.
  program_core(const device& gpu, std::string name, std::string_view recipe, std::uint64_t log_bytes,
               void (*drop)(const program_core&));
  /// Makes a program that can never be used: every request for it is refused with `why`.
  program_core(const device& gpu, std::string name, error why);
  program_core(const program_core&) = delete;
  program_core& operator=(const program_core&) = delete;
  ~program_core();

  const device& gpu() const noexcept { return gpu_; }
  const std::string& name() const noexcept { return name_; }
  /// The parts of the program's memory, as operands: see program_root.
  const memory_range& root() const noexcept { return root_; }
  const memory_range& state() const noexcept { return state_; }
  const memory_range& state_and_log() const noexcept { return state_and_log_; }
  const memory_range& recipe() const noexcept { return recipe_; }

  bool unloaded() const noexcept { return unloaded_.load(std::memory_order_acquire); }
  /// Marks the program as being unloaded. Returns false if it was unloaded already.
  bool claim_unload() noexcept { return !unloaded_.exchange(true, std::memory_order_acq_rel); }
  void cancel_unload() noexcept { unloaded_.store(false, std::memory_order_release); }

  /// Tells workers never to build this program again.
  void mark_unloaded() noexcept;
  /// Tells the worker that is building the program to stop. Has no effect if a worker has built it already.
  void cancel_build() noexcept;
  /// Call before the program's global variables are written: from then on, the worker has state that no other worker
  /// has.
  void note_global_write() const noexcept {
    if (root_.address != 0) root_.owner->at_fault.store(fate::lost, std::memory_order_relaxed);
  }

  /// Returns the compiler's messages that the worker has written until now. They are complete when the build request
  /// has completed.
  std::string log() const;
  /// Returns `why`, with the log appended if it is not empty.
  error with_log(const error& why) const;
  build_summary summary() const noexcept;

 private:
  device gpu_;
  std::string name_;
  memory_range root_, state_, state_and_log_, recipe_;
  void (*drop_)(const program_core&) = nullptr;
  std::atomic<bool> unloaded_{false};
};

}  // namespace troupe::kernel
