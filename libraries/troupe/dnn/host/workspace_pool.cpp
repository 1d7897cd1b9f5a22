// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/dnn/host/workspace_pool.hpp>

namespace troupe::dnn {
namespace {

constexpr std::size_t most_free = 8;
constexpr std::align_val_t alignment{64};

}  // namespace

void workspace_pool::release::operator()(std::byte* p) const noexcept { ::operator delete(p, alignment); }

workspace_pool::block workspace_pool::take(std::uint64_t bytes) {
  {
    const std::scoped_lock guard(lock_);
    // Use the smallest block that is large enough.
    auto best = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at)
      if (at->bytes >= bytes && (best == free_.end() || at->bytes < best->bytes)) best = at;
    if (best != free_.end()) {
      block out(*this, std::move(best->memory), best->bytes);
      free_.erase(best);
      return out;
    }
    // All free blocks are too small: a new block will replace the oldest.
    if (free_.size() == most_free) free_.erase(free_.begin());
    free_.reserve(most_free);
  }
  const std::uint64_t size = round_up(std::max<std::uint64_t>(bytes, 64), 4096);
  return {*this, std::unique_ptr<std::byte, release>(static_cast<std::byte*>(::operator new(size, alignment))), size};
}

void workspace_pool::put_back(block b) noexcept {
  const std::scoped_lock guard(lock_);
  if (free_.size() < most_free && free_.size() < free_.capacity()) free_.push_back({std::move(b.memory_), b.bytes_});
  b.memory_.reset();
}

}  // namespace troupe::dnn
