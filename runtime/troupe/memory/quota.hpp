// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <troupe/base/containers/placed.hpp>

namespace troupe {

class device_memory;
struct owned_block;

/// A limit of device memory for all allocations that name it, for example those of a tenant, a model or a client. A
/// handle: copies share the limit; an empty one limits nothing.
class memory_quota {
 public:
  memory_quota() = default;
  explicit memory_quota(std::uint64_t limit_bytes) : state_(std::make_shared<state>(limit_bytes)) {}

  std::uint64_t limit() const noexcept { return *state_ ? (*state_)->limit : UINT64_MAX; }
  std::uint64_t used() const noexcept { return *state_ ? (*state_)->used.load(std::memory_order_relaxed) : 0; }

 private:
  friend class device_memory;
  friend struct owned_block;
  struct state {
    explicit state(std::uint64_t l) noexcept : limit(l) {}
    const std::uint64_t limit;
    std::atomic<std::uint64_t> used{0};  // atomic, because one quota may serve several devices
    bool take(std::uint64_t bytes) noexcept;
    void give(std::uint64_t bytes) noexcept;
  };
  placed<std::shared_ptr<state>> state_;
};

}  // namespace troupe
