// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace troupe::simulation {

using word = std::uint32_t;

/// What a buffer holds according to the requests that write it, in their order, whatever becomes of them and when. Only
/// what has been answered counts; what a worker's death has taken does not.
class model_buffer {
 public:
  enum class content : std::uint8_t {
    known,
    any,       ///< valid, but nobody has said what: fresh memory, or written by a worker that cannot be trusted
    pending,   ///< by a request that has not been answered
    doubtful,  ///< by a request whose answer nobody took: it may be valid or not
    lost,
  };
  struct cell {
    content state = content::any;
    word value = 0;
  };

  /// No loss takes what is there while it is sealed, and nothing changes it.
  struct sealing {
    bool possible = false;           ///< it was allocated for that
    bool done = false;               ///< and not asked to end
    bool by_liar = false;            ///< a worker that cannot be trusted has once said so, or that it has ended
    std::uint32_t changes = 0;       ///< seals and ends of seals that were asked for
    std::uint32_t under_way = 0;     ///< of those, without an answer
    std::vector<word> content = {};  ///< since it was done; nothing when that was said by a worker that is not believed
  };

  model_buffer(std::uint32_t size, std::uint64_t generation) : generation(generation), size_(size) {}
  std::uint32_t size() const noexcept { return size_; }
  const std::uint64_t generation;  ///< of the device, when it was made
  sealing seal;

  /// Request `order` will write [begin, begin + count).
  void expect(std::uint32_t order, std::uint32_t begin, std::uint32_t count);
  /// It has: `values`, when they are known.
  void settle(std::uint32_t order, content state, const std::vector<word>& values = {});
  /// Everything that is there is gone. What is pending or doubtful may still come.
  void lose();
  /// Something else may have been written everywhere.
  void doubt();
  /// What a request in this place of the order finds.
  cell before(std::uint32_t order, std::uint32_t index) const;
  /// Is that lost, or would it be if what is pending came to nothing?
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
