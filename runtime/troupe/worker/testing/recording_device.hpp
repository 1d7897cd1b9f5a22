// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <troupe/worker/plugins/platform.hpp>
#include <troupe/worker/schedule/hazards/hazards.hpp>
#include <vector>

namespace troupe::testing_worker {

/// A device that records what is enqueued on each stream, in order, and completes nothing until the test says so.
class recording_device final : public platform {
 public:
  void* context() const noexcept override { return nullptr; }
  result<void> enter() override { return {}; }
  std::string description() const override { return ""; }
  result<void> reserve(std::uint64_t, std::uint64_t) override { return {}; }
  result<file_descriptor> make_memory(std::uint64_t) override { return file_descriptor(); }
  result<void> try_to_map(std::uint64_t, const file_descriptor&) override { return {}; }
  result<void> map(std::uint64_t, std::uint64_t, const file_descriptor&, map_access) override { return {}; }
  void unmap(std::uint64_t) noexcept override {}
  result<void> protect(std::uint64_t, std::uint64_t, map_access) override { return {}; }
  result<void> pin(std::byte*, std::uint64_t, map_access) override { return {}; }
  void unpin(std::byte*) noexcept override {}
  result<std::uint64_t> make_managed(std::uint64_t) override { return 0; }
  void free_managed(std::uint64_t) noexcept override {}
  result<std::uint64_t> free_bytes() override { return 0; }
  result<void*> make_stream(priority, std::int32_t&) override { return static_cast<void*>(&streams_[made_++]); }
  result<void> write(void* stream, std::atomic<std::uint64_t>& where, std::uint64_t value) override {
    while (driver_is_stuck) std::this_thread::yield();
    const std::scoped_lock guard(lock_);
    if (broken_) return error(reaction::context_lost, "cuda", "CUDA_ERROR_ILLEGAL_ADDRESS");
    if (immediate_ || std::find(prompt_.begin(), prompt_.end(), &where) != prompt_.end()) where.store(value);
    marks_.emplace_back(&where, value);
    enqueued_[number_of(stream)] += " marks " + number_in(value);
    return {};
  }
  result<void> wait(void* stream, std::atomic<std::uint64_t>&, std::uint64_t value) override {
    const std::scoped_lock guard(lock_);
    enqueued_[number_of(stream)] += " waits for " + number_in(value);
    return {};
  }
  result<void> check(void*) override {
    ++checks;
    while (driver_is_busy) std::this_thread::yield();
    return {};
  }
  bool has_ended_kernels(const error& why) const noexcept override { return why.code() == kernel_failed; }
  static constexpr std::int64_t kernel_failed = 700;
  std::atomic<bool> driver_is_busy{false};   ///< true: the driver answers no question
  std::atomic<bool> driver_is_stuck{false};  ///< true: no write returns
  std::atomic<int> checks{0};

  /// Makes every write fail from now on.
  void break_down() {
    const std::scoped_lock guard(lock_);
    broken_ = true;
  }
  void run(void* stream) {
    const std::scoped_lock guard(lock_);
    enqueued_[number_of(stream)] += " runs";
  }
  std::string enqueued(std::uint32_t lane) {
    const std::scoped_lock guard(lock_);
    return enqueued_[lane];
  }
  /// Carries out writes to `where` at once from now on, whatever is before them.
  void finish_at(const std::atomic<std::uint64_t>& where) {
    const std::scoped_lock guard(lock_);
    prompt_.push_back(&where);
  }
  /// Carries out the first marks, all by default. If all, later ones are carried out at once.
  void finish(std::size_t first = SIZE_MAX) {
    const std::scoped_lock guard(lock_);
    immediate_ = first == SIZE_MAX;
    for (std::size_t i = 0; i < std::min(first, marks_.size()); ++i) marks_[i].first->store(marks_[i].second);
  }

 private:
  // Returns a count of operations, or the number of a probe.
  static std::string number_in(std::uint64_t value) {
    const std::uint64_t count = checked_count::count_of(value);
    return std::to_string(count != checked_count::damaged ? count : value);
  }
  std::size_t number_of(void* stream) const { return static_cast<std::size_t>(static_cast<char*>(stream) - streams_); }
  std::mutex lock_;
  bool immediate_ = false, broken_ = false;
  char streams_[max_lanes]{};
  std::size_t made_ = 0;
  std::array<std::string, max_lanes> enqueued_;
  std::vector<std::pair<std::atomic<std::uint64_t>*, std::uint64_t>> marks_;
  std::vector<const std::atomic<std::uint64_t>*> prompt_;
};

}  // namespace troupe::testing_worker
