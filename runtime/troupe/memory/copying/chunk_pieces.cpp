// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/memory/copying/chunk_pieces.hpp>

namespace troupe {
namespace {

constexpr std::uint64_t parts(std::uint64_t bytes, std::uint64_t piece_bytes) noexcept {
  return (bytes + piece_bytes - 1) / piece_bytes;
}

}  // namespace

chunk_pieces::chunk_pieces(const staging_plan& plan, std::uint64_t piece_bytes) noexcept
    : plan_(plan),
      piece_bytes_(piece_bytes),
      per_chunk_(parts(plan.chunk_bytes, piece_bytes)),
      total_((plan.count() - 1) * per_chunk_ + parts(plan.size(plan.count() - 1), piece_bytes)) {}

std::optional<chunk_piece> chunk_pieces::take(std::uint64_t chunks) noexcept {
  const std::uint64_t n = next();
  if (n >= pieces_of(std::min(chunks, complete_ + plan_.chunks))) return {};
  const std::uint64_t chunk = n / per_chunk_, offset = n % per_chunk_ * piece_bytes_, size = plan_.size(chunk);
  if (offset == 0) left_[chunk % plan_.chunks] = parts(size, piece_bytes_);
  next_.store(n + 1, std::memory_order_relaxed);
  ++in_hand_;
  return chunk_piece{chunk, offset, std::min(piece_bytes_, size - offset)};
}

void chunk_pieces::finish(const chunk_piece& piece) noexcept {
  --in_hand_;
  --left_[piece.chunk % plan_.chunks];
  while (complete_ < begun() && left_[complete_ % plan_.chunks] == 0) ++complete_;
}

void chunk_pieces::restart() noexcept {
  next_.store(0, std::memory_order_relaxed);
  complete_ = 0;
}

}  // namespace troupe
