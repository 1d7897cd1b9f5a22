// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/handles.hpp>
#include <vector>

namespace troupe::graph {

/// Memory in pieces that keep their addresses. After `begin`, the same memory is returned again. `Kind` allocates the
/// pieces.
template <class Kind>
class reused_memory {
 public:
  /// Marks all pieces as free again.
  void begin() noexcept { taken_ = 0, used_ = 0; }
  /// Returns memory from the current piece; if it does not fit, from the next piece that is large enough; if there is
  /// none, from a new piece.
  result<void*> take(std::uint64_t bytes) {
    bytes = (std::max<std::uint64_t>(bytes, 1) + Kind::align - 1) / Kind::align * Kind::align;
    if (taken_ > 0 && bytes <= pieces_[taken_ - 1].bytes - used_) {
      void* const out = at(pieces_[taken_ - 1], used_);
      used_ += bytes;
      return out;
    }
    while (taken_ < pieces_.size() && pieces_[taken_].bytes < bytes) ++taken_;
    if (taken_ == pieces_.size()) {
      const std::uint64_t all = std::max(bytes, Kind::least_bytes);
      auto made = TROUPE_TRY(Kind::make(all));
      pieces_.push_back({std::move(made), all, false});
    }
    used_ = bytes;
    pieces_[taken_].wanted = true;
    return at(pieces_[taken_++], 0);
  }

  /// Marks all pieces as unwanted. `take` clears the mark of the pieces that it uses, and `take_unwanted` returns the
  /// rest.
  void mark_unwanted() noexcept {
    begin();
    for (piece& p : pieces_) p.wanted = false;
  }
  void take_unwanted(std::vector<typename Kind::handle>& into) {
    begin();
    for (piece& p : pieces_)
      if (!p.wanted) into.push_back(std::move(p.memory));
    std::erase_if(pieces_, [](const piece& p) { return !p.wanted; });
  }

 private:
  struct piece {
    typename Kind::handle memory;
    std::uint64_t bytes;
    bool wanted;
  };
  static void* at(const piece& p, std::uint64_t offset) noexcept {
    return reinterpret_cast<void*>(p.memory.get() + offset);
  }

  std::vector<piece> pieces_;
  std::size_t taken_ = 0;   // number of pieces in use
  std::uint64_t used_ = 0;  // bytes used of the last piece in use
};

struct device_pieces {
  using handle = cuda::device_memory;
  static constexpr std::uint64_t align = 256, least_bytes = 0;
  static result<handle> make(std::uint64_t bytes);
};
struct pinned_pieces {
  using handle = cuda::pinned_memory;
  static constexpr std::uint64_t align = 16, least_bytes = std::uint64_t{64} << 10;
  static result<handle> make(std::uint64_t bytes);
};

/// Host memory that the GPU reads and writes: what operations store there is valid as long as the recording.
using recorded_constants = reused_memory<pinned_pieces>;
/// Device memory that operations use one after the other; each operation can use all of it.
using recorded_scratch = reused_memory<device_pieces>;

/// The scratch memories of a graph, in the order of recording: one for the graph, and one for each body of a condition.
class all_scratch {
 public:
  /// Begins another recording of the graph, which gets the same memories in the same order.
  void begin() noexcept {
    next_ = 0;
    for (const auto& one : all_) one->mark_unwanted();
  }
  recorded_scratch& next() {
    if (next_ == all_.size()) all_.push_back(std::make_unique<recorded_scratch>());
    return *all_[next_++];
  }
  /// Returns the pieces that the recording did not use.
  std::vector<cuda::device_memory> take_unwanted() {
    std::vector<cuda::device_memory> out;
    for (const auto& one : all_) one->take_unwanted(out);
    return out;
  }

 private:
  std::vector<std::unique_ptr<recorded_scratch>> all_;
  std::size_t next_ = 0;
};

}  // namespace troupe::graph
