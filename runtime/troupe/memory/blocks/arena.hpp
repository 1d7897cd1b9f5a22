// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe {

/// The state of an arena at one moment.
struct arena_statistics {
  std::uint64_t segments = 0;
  std::uint64_t reserved_bytes = 0;    ///< in all segments
  std::uint64_t used_bytes = 0;        ///< in allocated ranges, rounded up to the granule
  std::uint64_t high_water_bytes = 0;  ///< highest value that `used_bytes` has had
  std::uint64_t live_ranges = 0;       ///< number of ranges that are allocated and not freed
  std::uint64_t free_ranges = 0;       ///< number of free ranges; no two of them are neighbors
  std::uint64_t largest_free_bytes = 0;

  std::uint64_t free_bytes() const noexcept { return reserved_bytes - used_bytes; }
  /// Returns 0 if all free memory is one range, and nearly 1 if it consists of many small ranges.
  double fragmentation() const noexcept {
    return free_bytes() == 0 ? 0.0 : 1.0 - static_cast<double>(largest_free_bytes) / static_cast<double>(free_bytes());
  }
};

/// Allocates ranges of addresses from given segments. Never touches the memory behind the addresses, which may belong
/// to another device or not be mapped: all bookkeeping is in separate nodes.
///
/// Two-level segregated fit (Masmano, Ripoll, Crespo, Real; 2004): `allocate` and `free` take constant time, and a
/// freed range is merged with free neighbors at once. Free ranges are listed by size class, 32 classes per power of
/// two, and an allocation takes the first range of the first class whose ranges are all large enough. That bounds
/// fragmentation:
/// - inside a range: rounding loses less than one granule;
/// - between ranges: `allocate` fails only if every free range is smaller than 33/32 of the request (for an alignment
///   above the granule: of request + alignment - granule). The rest of a range stays free and is found again. No
///   allocator that cannot move ranges can guarantee for every sequence that reserved / used stays below about
///   log2(largest / smallest request) / 2 (Robson, 1974). With 10^5 live ranges of 256 B to 1 MiB, freed in random
///   order, it is below 1.15, which the tests check.
///
/// Not thread-safe: the owner must lock.
class arena {
 public:
  using segment_id = std::uint16_t;

  enum class misuse : std::uint8_t {
    by_build,  ///< report if NDEBUG is defined, otherwise abort
    abort,     ///< print the misuse to stderr and abort
    report,    ///< change nothing and return the misuse
  };

  struct options {
    std::uint64_t granule = 256;    ///< of addresses and sizes: a power of two, at least 16
    std::size_t payload_bytes = 0;  ///< bytes of the owner's data with each node, at most 65536
    std::size_t payload_align = 1;  ///< a power of two, at most 64
    misuse on_misuse = misuse::by_build;
  };

  /// An allocated range. `free` takes its node, whose address in host memory is stable. Nodes are allocated from slabs
  /// and reused.
  class node {
   public:
    std::uint64_t address() const noexcept { return address_; }
    std::uint64_t bytes() const noexcept { return word_ >> 16 & ~std::uint64_t{15}; }
    segment_id segment() const noexcept { return static_cast<segment_id>(word_ >> 4); }

   private:
    friend class arena;
    enum class state : std::uint8_t { spare, free, used };
    state in() const noexcept { return static_cast<state>(word_ & 15); }
    void set(std::uint64_t bytes, segment_id segment, state s) noexcept {
      word_ = bytes << 16 | std::uint64_t{segment} << 4 | static_cast<std::uint64_t>(s);
    }
    void set(state s) noexcept { word_ = (word_ & ~std::uint64_t{15}) | static_cast<std::uint64_t>(s); }

    // 32 bytes, so that 10^5 nodes stay in the cache; links are numbers of nodes. Node 0 is not a range: it ends lists
    // and, permanently in use, stands at both ends of every segment.
    std::uint64_t address_;
    std::uint64_t word_;    // bytes (a multiple of 16, below 2^48), segment, state
    std::uint32_t before_;  // neighbors by address within the segment
    std::uint32_t after_;
    std::uint32_t previous_;  // if free: in the list of its size class; if used: the node's own number
    std::uint32_t next_;      // if free: in the list of its size class; if spare: the next spare node
  };

  enum class freed : std::uint8_t {
    yes,
    not_live,  ///< freed already
    foreign,   ///< null, or of another arena
  };

  /// Aborts if an option is outside its documented range, because options are constants of the program.
  explicit arena(const options& o);
  arena() : arena(options{}) {}
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  /// Frees the bookkeeping. Ranges may still be live.
  ~arena();

  /// Adds memory. The address and the size must be multiples of the granule and not 0, the size below 2^48, the end
  /// below 2^64. Segments must not overlap. An allocation that fits into a new segment succeeds, even if it fills it.
  result<void> add_segment(segment_id id, std::uint64_t address, std::uint64_t bytes);
  /// Removes a segment. Returns false, and changes nothing, if one of its ranges is live or no segment has this id.
  bool remove_segment(segment_id id) noexcept;
  /// Returns the segments that `remove_segment` would remove.
  std::vector<segment_id> idle_segments() const;

  /// Allocates `bytes`, rounded up to the granule, at a multiple of `alignment`; an alignment below the granule counts
  /// as the granule. Returns null if no range fits (add a segment and retry), for 0 bytes, for a size that does not fit
  /// 64 bits, for an alignment that is not a power of two, and if the host has no memory for nodes.
  [[nodiscard]] node* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) noexcept;
  /// Returns the live range at this address, or null. Searches the ranges of one segment.
  const node* find(std::uint64_t address) const noexcept;
  /// Frees a range. Detects that the node is not live, unless the node has been reused.
  freed free(node* n) noexcept;

  std::uint64_t reserved_bytes() const noexcept { return counters_.reserved_bytes; }
  std::uint64_t used_bytes() const noexcept { return counters_.used_bytes; }
  std::uint64_t live_ranges() const noexcept { return counters_.live_ranges; }
  /// Returns the current figures. Searches one size class for the largest free range.
  arena_statistics statistics() const noexcept;
  double fragmentation() const noexcept { return statistics().fragmentation(); }

  /// Returns the owner's data with a live node. Precondition: `payload_bytes` is not 0. The data are zero at first; the
  /// arena never changes them, so they survive until the node is reused. Their address is stable.
  void* payload(const node* n) const noexcept {
    return slabs_[n->previous_ >> slab_bits].payloads + (n->previous_ & (slab_nodes - 1)) * payload_stride_;
  }
  /// Returns the node of a payload.
  static node* node_of(void* payload) noexcept { return static_cast<node**>(payload)[-1]; }

 private:
  static constexpr unsigned second_bits = 5;
  static constexpr unsigned second_count = 1u << second_bits;
  static constexpr unsigned first_count = 48 - 4 - second_bits + 1;  // sizes have at most 44 bits, in granules
  static constexpr unsigned no_class = first_count * second_count;
  static constexpr unsigned slab_bits = 12;
  static constexpr std::uint32_t slab_nodes = 1u << slab_bits;

  struct slab {
    node* nodes;
    std::byte* payloads;  // one payload every payload_stride_ bytes, each after a pointer to its node
  };
  struct segment {
    segment_id id;
    std::uint32_t first;  // the segment's lowest node, which never changes
    std::uint64_t address, bytes;
  };

  static unsigned class_of(std::uint64_t granules) noexcept;
  node& at(std::uint32_t number) const noexcept { return slabs_[number >> slab_bits].nodes[number & (slab_nodes - 1)]; }
  bool live(const node* n) const noexcept;
  bool idle(const segment& s) const noexcept;
  unsigned next_class(unsigned from) const noexcept;
  std::uint32_t find_fast(std::uint64_t bytes, std::uint64_t alignment) const noexcept;
  std::uint32_t find_tight(std::uint64_t bytes, std::uint64_t alignment) const noexcept;
  std::uint32_t carve(std::uint32_t range, std::uint64_t bytes, std::uint64_t alignment) noexcept;
  std::uint32_t take_node() noexcept;
  bool add_slab() noexcept;
  std::uint32_t fresh_node() noexcept;
  void retire(std::uint32_t number, node& n) noexcept;
  void link(std::uint32_t number, node& n, std::uint64_t bytes, segment_id segment) noexcept;
  void unlink(node& n) noexcept;
  void resize(std::uint32_t number, node& n, std::uint64_t bytes) noexcept;
  void put_after(std::uint32_t number, node& n, std::uint32_t added_number, node& added,
                 std::uint64_t address) noexcept;
  freed refuse(const node* n) const noexcept;

  std::uint64_t first_map_ = 0;  // bit i: second_map_[i] is not 0
  std::vector<slab> slabs_;
  std::uint32_t spare_ = 0;
  std::uint32_t fresh_ = 0, fresh_end_ = 0;  // numbers of the nodes in the newest slab that were never used
  unsigned shift_;
  bool abort_on_misuse_;
  std::uint64_t granule_;
  std::size_t payload_offset_ = 0;  // offset of the first payload in its slab
  std::size_t payload_stride_ = 0;
  arena_statistics counters_;
  std::vector<segment> segments_;
  std::array<std::uint32_t, first_count> second_map_{};
  std::array<std::uint32_t, no_class> heads_{};
};

}  // namespace troupe
