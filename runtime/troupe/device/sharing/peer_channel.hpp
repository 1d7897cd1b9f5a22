// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/device/asked.hpp>
#include <troupe/device/peer_info.hpp>
#include <troupe/memory/device_memory.hpp>
#include <troupe/memory/staging.hpp>

namespace troupe {

/// Where the halves of a copy meet: memory that the application and the workers of both devices see.
struct meeting {
  staging_header* header = nullptr;
  std::uint64_t at_source = 0, at_target = 0;  ///< the same for either's workers
  arena::node* place = nullptr;
};

/// What copies from one device to another need, kept by the target: memory to meet in, which is for these two devices
/// alone, and the source's memory where the target's workers see it. Thread safe.
class peer_channel {
 public:
  peer_channel(std::weak_ptr<const void> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}

  bool is_from(const std::shared_ptr<const void>& source) const noexcept { return source_.lock() == source; }
  bool source_is_gone() const noexcept { return source_.expired(); }

  /// A place with a fresh header and `bytes` in all. retry_later when copies that are under way have taken all there
  /// may be.
  result<meeting> take(device_memory& source, device_memory& target, std::uint64_t bytes);
  void give_back(const meeting& m) noexcept;
  /// Returns to the system what no copy uses; returns the bytes.
  std::uint64_t trim();

  /// Where the target's workers see the source's memory `file`; empty when they do not yet.
  block_ref seen(const std::shared_ptr<const memory_file>& file) const;
  void now_seen(const std::shared_ptr<const memory_file>& file, block_ref where);
  /// The source gives the memory back.
  void hide(const memory_file* file) noexcept;
  void hide_all() noexcept;

  /// The target's workers turned out not to see the source's memory.
  void goes_through_host() noexcept { staged_.store(true); }
  bool is_staged() const noexcept { return staged_.load(); }
  void count(std::uint64_t bytes) noexcept;
  peer_statistics statistics() const;

 private:
  struct room {
    mapping here;
    block_ref at_source, at_target;
  };
  result<void> add_room(device_memory& source, device_memory& target, std::uint64_t bytes);

  const std::weak_ptr<const void> source_;
  const std::string name_;
  mutable std::mutex lock_;
  arena places_;
  std::vector<room> rooms_;  // a segment of `places_` is its index here
  struct sight {
    std::weak_ptr<const memory_file> of;  // what is hidden before it is noted here is not found again
    block_ref where;
  };
  std::map<const memory_file*, sight> seen_;
  std::atomic<bool> staged_{false};
  std::atomic<std::uint64_t> copies_{0}, bytes_{0};
};

/// A copy between two devices on its way. Both its requests hold it until they are retired.
class peer_copy {
 public:
  peer_copy(std::shared_ptr<peer_channel> through, const meeting& at, staging_plan plan, block_ref source,
            block_ref mapped) noexcept
      : through_(std::move(through)), at_(at), plan_(plan), source_(std::move(source)), mapped_(std::move(mapped)) {}
  ~peer_copy() { through_->give_back(at_); }
  peer_copy(const peer_copy&) = delete;

  const meeting& at() const noexcept { return at_; }
  /// Has this half something to do now? Otherwise it waits for the other one, and is not to blame.
  bool is_turn_of(bool source) const noexcept;
  /// The source's half has failed: so will the target's, with this cause.
  void source_failed(const error& why);
  std::optional<error> cause() const;
  /// The other half need not wait any more.
  void break_off() noexcept { at_.header->break_off(); }
  peer_channel& through() const noexcept { return *through_; }

 private:
  const std::shared_ptr<peer_channel> through_;
  const meeting at_;
  const staging_plan plan_;
  const block_ref source_, mapped_;  // neither goes before the target's half has ended
  mutable std::mutex lock_;
  std::optional<error> cause_;
};

/// What the caller of a copy waits for: the target's half. `link` is its, `source` the other's.
struct peer_answer final : detail::asked<void> {
  using asked::asked;
  void cancel() noexcept override {
    link.cancel();
    source.cancel();
  }
  request_link source;
};

}  // namespace troupe
