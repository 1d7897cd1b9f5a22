// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace troupe::simulation {

using word = std::uint32_t;

/// The content of a buffer according to the requests that write it, in their order, regardless of when and how they
/// end. Only answered requests count; content that was lost with a worker does not.
class model_buffer {
 public:
  enum class content : std::uint8_t {
    known,
    any,       ///< valid but unknown: fresh memory, or written by a worker that cannot be trusted
    pending,   ///< by a request that has not been answered
    doubtful,  ///< by a request whose answer was not collected: valid or not
    lost,
  };
  struct cell {
    content state = content::any;
    word value = 0;
  };

  /// The state of a seal. While sealed, the content neither changes nor is lost.
  struct sealing {
    bool possible = false;           ///< it was allocated as sealable
    bool done = false;               ///< sealed, and not asked to end
    bool by_liar = false;            ///< an untrustworthy worker has once claimed the seal, or its end
    std::uint32_t changes = 0;       ///< requests to seal and unseal
    std::uint32_t under_way = 0;     ///< those of them without an answer
    std::vector<word> content = {};  ///< since it was sealed; empty if an untrustworthy worker claimed that
  };

  model_buffer(std::uint32_t size, std::uint64_t generation) : generation(generation), size_(size) {}
  std::uint32_t size() const noexcept { return size_; }
  const std::uint64_t generation;  ///< of the device, when the buffer was allocated
  sealing seal;

  /// Request `order` will write [begin, begin + count).
  void expect(std::uint32_t order, std::uint32_t begin, std::uint32_t count);
  /// Request `order` has written: `values`, if they are known.
  void settle(std::uint32_t order, content state, const std::vector<word>& values = {});
  /// Marks all present content as lost. Pending or doubtful writes may still arrive.
  void lose();
  /// Marks all known content as possibly overwritten.
  void doubt();
  /// Returns what a request at this place of the order finds.
  cell before(std::uint32_t order, std::uint32_t index) const;
  /// Returns true if that is lost, or would be if the pending writes failed.
  bool may_be_lost(std::uint32_t order, std::uint32_t index) const;

 private:
  struct write {
    std::uint32_t order, begin, count;
    content state;
    std::vector<word> values;
  };
  std::uint32_t size_;
  content first_ = content::any;
  std::vector<write> writes_;  // by order
};

}  // namespace troupe::simulation
