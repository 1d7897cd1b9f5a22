// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/device/asked.hpp>
#include <troupe/device/peer_info.hpp>
#include <troupe/memory/blocks/device_memory.hpp>
#include <troupe/memory/copying/staging.hpp>

namespace troupe {

/// The staging memory of a copy between devices, which the application and the workers of both devices map.
struct staging_place {
  staging_header* header = nullptr;
  std::uint64_t at_source = 0, at_target = 0;  ///< addresses of `header` in the source's and the target's workers
  arena::node* place = nullptr;
};

/// What copies from one device to another need, kept by the target: staging memory for these two devices alone, and the
/// source's memory that the target's workers have mapped. Thread-safe.
class peer_channel {
 public:
  peer_channel(std::weak_ptr<const void> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}

  bool is_from(const std::shared_ptr<const void>& source) const noexcept { return source_.lock() == source; }
  bool source_is_gone() const noexcept { return source_.expired(); }

  /// Allocates staging memory of `bytes`, including a new header. Fails with retry_later if the copies in flight use
  /// all memory allowed for them.
  result<staging_place> take(device_memory& source, device_memory& target, std::uint64_t bytes);
  void give_back(const staging_place& m) noexcept;
  /// Releases unused staging memory. Returns the number of bytes.
  std::uint64_t trim();

  /// Returns the block at which the target's workers have mapped the source's memory `file`; empty if they have not.
  block_ref find_mapped(const std::shared_ptr<const memory_file>& file) const;
  void note_mapped(const std::shared_ptr<const memory_file>& file, block_ref where);
  /// Ends the mapping of memory that the source frees.
  void hide(const memory_file* file) noexcept;
  void hide_all() noexcept;

  /// Makes all copies go through host memory, because the target's workers cannot map the source's memory.
  void use_host_memory() noexcept { staged_.store(true); }
  bool is_staged() const noexcept { return staged_.load(); }
  void count(std::uint64_t bytes) noexcept;
  peer_statistics statistics() const;

 private:
  struct segment {
    mapping here;
    block_ref at_source, at_target;
  };
  result<void> add_segment(device_memory& source, device_memory& target, std::uint64_t bytes);

  const std::weak_ptr<const void> source_;
  const std::string name_;
  mutable std::mutex lock_;
  arena places_;
  std::vector<segment> segments_;  // their ids in `places_` are the indices here
  struct mapped_file {
    std::weak_ptr<const memory_file> of;  // expired if the source has freed the memory
    block_ref where;
  };
  std::map<const memory_file*, mapped_file> mapped_;
  std::atomic<bool> staged_{false};
  std::atomic<std::uint64_t> copies_{0}, bytes_{0};
};

/// A copy between two devices in flight. Both of its requests hold it until they are retired.
class peer_copy {
 public:
  peer_copy(std::shared_ptr<peer_channel> through, const staging_place& at, staging_plan plan, block_ref source,
            block_ref mapped) noexcept
      : through_(std::move(through)), at_(at), plan_(plan), source_(std::move(source)), mapped_(std::move(mapped)) {}
  ~peer_copy() { through_->give_back(at_); }
  peer_copy(const peer_copy&) = delete;

  const staging_place& at() const noexcept { return at_; }
  /// Returns true if this half has something to do now, or neither half has; otherwise it waits for the other half.
  bool is_turn_of(bool source) const noexcept;
  /// Notes why the source's half failed, so that the target's half fails with this cause.
  void source_failed(const error& why);
  std::optional<error> cause() const;
  /// Makes the other half stop waiting.
  void break_off() noexcept { at_.header->break_off(); }
  peer_channel& through() const noexcept { return *through_; }

 private:
  const std::shared_ptr<peer_channel> through_;
  const staging_place at_;
  const staging_plan plan_;
  const block_ref source_, mapped_;  // kept until the target's half has ended
  mutable std::mutex lock_;
  std::optional<error> cause_;
};

/// The state of the pending of a copy between devices. `link` refers to the target's half, whose answer it is; `source`
/// to the source's half.
struct peer_answer final : detail::asked<void> {
  using asked::asked;
  void cancel() noexcept override {
    link.cancel();
    source.cancel();
  }
  request_link source;
};

}  // namespace troupe
