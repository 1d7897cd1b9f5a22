// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <troupe/device/recovery/quarantine/content_hash.hpp>

namespace troupe {

/// Identifies the contents of a device's memory without reading them. Each accepted write has a *tag*, a number that
/// stands for what was written. Contents computed in the same way from the same data have the same tags.
class provenance {
 public:
  static constexpr std::size_t most_pieces = 1 << 16;

  /// Forgets all tags: current contents are then identified by their address alone.
  void forget() noexcept;
  /// Notes that a write with this tag replaces all of [begin, end).
  void write(std::uint64_t begin, std::uint64_t end, std::uint64_t tag);
  /// Adds to a hash what identifies the content of [begin, end).
  void add_content(std::uint64_t begin, std::uint64_t end, content_hash& to) const;

 private:
  struct piece {
    std::uint64_t end, written_from, tag;
  };
  void split(std::uint64_t at);

  std::map<std::uint64_t, piece> pieces_;  // by address; pieces do not overlap
  std::uint64_t forgotten_ = 0;            // number of calls of forget()
};

}  // namespace troupe
