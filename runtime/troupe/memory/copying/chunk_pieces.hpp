// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <troupe/memory/copying/staging.hpp>

namespace troupe {

/// A piece of a chunk: small enough that several threads can copy one chunk together.
struct chunk_piece {
  std::uint64_t chunk;   ///< number of the chunk in the transfer
  std::uint64_t offset;  ///< offset of the piece in the chunk
  std::uint64_t bytes;
};

/// Hands out the pieces of a transfer's chunks, in order, to threads that copy at the same time, and counts complete
/// chunks. Not thread-safe, except for `next`.
class chunk_pieces {
 public:
  chunk_pieces(const staging_plan& plan, std::uint64_t piece_bytes) noexcept;

  /// Takes the next piece. Returns nullopt if it does not belong to the first `chunks` chunks, or if its chunk's place
  /// in the staging block holds a chunk that is not complete.
  std::optional<chunk_piece> take(std::uint64_t chunks) noexcept;
  /// Notes that the piece was copied.
  void finish(const chunk_piece& piece) noexcept;
  /// Begins with the first piece again. Precondition: every piece that was taken is copied.
  void restart() noexcept;

  /// Returns the number of complete chunks, counted from the first one up to the first incomplete one.
  std::uint64_t complete() const noexcept { return complete_; }
  /// Returns the number of chunks of which at least one piece was taken.
  std::uint64_t begun() const noexcept { return (next() + per_chunk_ - 1) / per_chunk_; }
  /// Returns the number of pieces that were taken and are not yet copied.
  std::size_t in_hand() const noexcept { return in_hand_; }

  /// Returns the number of the piece that is taken next. Thread-safe.
  std::uint64_t next() const noexcept { return next_.load(std::memory_order_relaxed); }
  /// Returns the number of pieces in the first `chunks` chunks.
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
  // For each place of the staging block: the number of pieces of its chunk that are not copied.
  std::array<std::uint64_t, staging_sizes::limit_of_chunks> left_{};
};

}  // namespace troupe
