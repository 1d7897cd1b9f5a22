// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <troupe/cuda/errors.hpp>

namespace troupe::graph {
namespace {

constexpr std::uint64_t align = 256, constants_bytes = std::uint64_t{64} << 10;
constexpr std::uint64_t aligned(std::uint64_t bytes) noexcept { return (bytes + align - 1) / align * align; }

}  // namespace

result<void*> recorded_memory::constants(std::uint64_t bytes) {
  constexpr std::uint64_t small = 16;
  bytes = (std::max<std::uint64_t>(bytes, 1) + small - 1) / small * small;
  if (bytes > left_) {
    const std::uint64_t all = std::max(bytes, constants_bytes);
    void* made = nullptr;
    if (auto ok = cuda::done(::cuMemHostAlloc(&made, all, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                             "cuMemHostAlloc");
        !ok)
      return ok.error();
    constants_.emplace_back(static_cast<std::byte*>(made));
    next_ = static_cast<std::byte*>(made);
    left_ = all;
  }
  void* const out = next_;
  next_ += bytes;
  left_ -= bytes;
  return out;
}

// From the piece in use, or from the first of the next ones that is large enough, or from a new one.
result<void*> recorded_memory::scratch::take(std::uint64_t bytes) {
  bytes = aligned(std::max<std::uint64_t>(bytes, 1));
  const auto at = [](const piece& p, std::uint64_t offset) { return reinterpret_cast<void*>(p.memory.get() + offset); };
  if (taken_ > 0 && bytes <= pieces_[taken_ - 1].bytes - used_) {
    void* const out = at(pieces_[taken_ - 1], used_);
    used_ += bytes;
    return out;
  }
  while (taken_ < pieces_.size() && pieces_[taken_].bytes < bytes) ++taken_;
  if (taken_ == pieces_.size()) {
    CUdeviceptr made = 0;
    if (auto ok = cuda::done(::cuMemAlloc(&made, bytes), "cuMemAlloc of memory for a graph"); !ok) return ok.error();
    pieces_.push_back({cuda::device_memory(made), bytes});
  }
  used_ = bytes;
  return at(pieces_[taken_++], 0);
}

}  // namespace troupe::graph
