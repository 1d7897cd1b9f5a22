// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <troupe/device/recovery/content_hash.hpp>

namespace troupe {

/// What lies in a device's memory, known without looking at it: each accepted write has a *tag*, a number that stands
/// for what was written. What was made in the same way from the same data has the same tags.
class provenance {
 public:
  static constexpr std::size_t most_pieces = 1 << 16;

  /// What lies anywhere now is known by its place only.
  void forget() noexcept;
  /// [begin, end) is replaced as a whole.
  void write(std::uint64_t begin, std::uint64_t end, std::uint64_t tag);
  /// Adds what stands for the content of [begin, end).
  void add_content(std::uint64_t begin, std::uint64_t end, content_hash& to) const;

 private:
  struct piece {
    std::uint64_t end, written_from, tag;
  };
  void split(std::uint64_t at);

  std::map<std::uint64_t, piece> pieces_;  // by their beginnings; they do not overlap
  std::uint64_t forgotten_ = 0;            // how often
};

}  // namespace troupe
