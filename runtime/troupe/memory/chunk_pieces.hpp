// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <troupe/memory/staging.hpp>

namespace troupe {

/// A part of a chunk, small enough that several threads can share a chunk.
struct chunk_piece {
  std::uint64_t chunk;   ///< its number in the transfer
  std::uint64_t offset;  ///< of the piece in the chunk
  std::uint64_t bytes;
};

/// Hands out the pieces of a transfer's chunks in order, to threads that copy at the same time, and counts the chunks
/// that are complete. Not thread-safe, except for `next`.
class chunk_pieces {
 public:
  chunk_pieces(const staging_plan& plan, std::uint64_t piece_bytes) noexcept;

  /// Takes the next piece, if it belongs to the first `chunks` chunks. Refuses a chunk whose place in the staging block
  /// an incomplete chunk has.
  std::optional<chunk_piece> take(std::uint64_t chunks) noexcept;
  /// Notes that the piece was copied.
  void put(const chunk_piece& piece) noexcept;
  /// Begins with the first piece again. Precondition: no piece is in hand.
  void restart() noexcept;

  /// Returns how many chunks are complete, from the first on without a gap.
  std::uint64_t complete() const noexcept { return complete_; }
  /// Returns of how many chunks pieces were taken.
  std::uint64_t begun() const noexcept { return (next() + per_chunk_ - 1) / per_chunk_; }
  /// Returns how many pieces were taken and not put back.
  std::size_t in_hand() const noexcept { return in_hand_; }

  /// Returns the number of the piece that is taken next. Thread-safe.
  std::uint64_t next() const noexcept { return next_.load(std::memory_order_relaxed); }
  /// Returns how many pieces the first `chunks` chunks have.
  std::uint64_t pieces_of(std::uint64_t chunks) const noexcept {
    return chunks >= plan_.count() ? total_ : chunks * per_chunk_;
  }
  std::uint64_t total() const noexcept { return total_; }

 private:
  const staging_plan plan_;
  const std::uint64_t piece_bytes_, per_chunk_, total_;
  std::atomic<std::uint64_t> next_{0};
  std::uint64_t complete_ = 0;
  std::size_t in_hand_ = 0;
  // For each place of the staging block: pieces of its chunk that are not copied.
  std::array<std::uint64_t, staging_sizes::limit_of_chunks> left_{};
};

}  // namespace troupe
