// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <troupe/base/linux/die.hpp>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/memory/blocks/arena.hpp>
#include <utility>

namespace troupe {
namespace {

constexpr std::uint64_t size_limit = std::uint64_t{1} << 48;  // because a node's word has 48 bits for the size
// The number of ranges of each class that find_tight tries: a constant, so that find_tight takes constant time.
constexpr unsigned tight_looks = 16;
constexpr std::align_val_t slab_align{64};

[[noreturn]] void misused(const char* what, const void* where) noexcept { die("troupe::arena: %s (%p)", what, where); }

// Returns the highest address in [begin, begin + size) at which `bytes` fit; 0, where no range begins, if they do not
// fit.
std::uint64_t place(std::uint64_t begin, std::uint64_t size, std::uint64_t bytes, std::uint64_t alignment) noexcept {
  if (size < bytes) return 0;
  const std::uint64_t at = (begin + (size - bytes)) & ~(alignment - 1);
  return at >= begin ? at : 0;
}

error refused(arena::segment_id id, const char* why) {
  return error(reaction::caller_bug, "memory", cat("arena: segment ", id, why));
}

}  // namespace

arena::arena(const options& o)
    : shift_(static_cast<unsigned>(std::countr_zero(o.granule))),
      abort_on_misuse_(o.on_misuse == misuse::abort),
      granule_(o.granule) {
  static_assert(sizeof(node) == 32);
#ifndef NDEBUG
  if (o.on_misuse == misuse::by_build) abort_on_misuse_ = true;
#endif
  if (!std::has_single_bit(o.granule) || o.granule < 16 || o.granule >= size_limit)
    misused("the granule must be a power of two, at least 16", this);
  if (!std::has_single_bit(o.payload_align) || o.payload_align > 64 || o.payload_bytes > 65536)
    misused("a payload's alignment must be a power of two, at most 64; its size at most 65536", this);
  if (o.payload_bytes != 0) {
    const std::size_t align = std::max(o.payload_align, alignof(node*));
    payload_offset_ = align;
    payload_stride_ = round_up(o.payload_bytes + sizeof(node*), align);
  }
}

arena::~arena() {
  for (const slab& s : slabs_) {
    ::operator delete(s.nodes, slab_align);
    if (s.payloads) ::operator delete(s.payloads - payload_offset_, slab_align);
  }
}

// Each size below 2 * second_count granules has its own class. Above, second_count classes divide each power of two.
unsigned arena::class_of(std::uint64_t granules) noexcept {
  if (granules < second_count) return static_cast<unsigned>(granules);
  const unsigned scale = 63u - static_cast<unsigned>(std::countl_zero(granules)) - second_bits;
  return (scale << second_bits) + static_cast<unsigned>(granules >> scale);
}

// Returns the first nonempty class that is at least `from`, or no_class.
unsigned arena::next_class(unsigned from) const noexcept {
  if (from >= no_class) return no_class;
  unsigned first = from >> second_bits;
  std::uint32_t second = second_map_[first] & (~0u << (from & (second_count - 1)));
  if (second == 0) {
    const std::uint64_t above = first_map_ & (~std::uint64_t{1} << first);
    if (above == 0) return no_class;
    first = static_cast<unsigned>(std::countr_zero(above));
    second = second_map_[first];
  }
  return (first << second_bits) + static_cast<unsigned>(std::countr_zero(second));
}

// Returns the first range of the first class whose ranges are all large enough, at any address.
std::uint32_t arena::find_fast(std::uint64_t bytes, std::uint64_t alignment) const noexcept {
  std::uint64_t granules;
  if (__builtin_add_overflow(bytes, alignment - granule_, &granules)) return 0;
  granules >>= shift_;
  if (granules >= second_count) {
    const unsigned scale = 63u - static_cast<unsigned>(std::countl_zero(granules)) - second_bits;
    granules += (std::uint64_t{1} << scale) - 1;
  }
  const unsigned c = next_class(class_of(granules));
  return c == no_class ? 0 : heads_[c];
}

// Tries the first ranges of each class that may contain one that fits. A new segment is the first range of its class,
// so it is tried.
std::uint32_t arena::find_tight(std::uint64_t bytes, std::uint64_t alignment) const noexcept {
  for (unsigned c = next_class(class_of(bytes >> shift_)); c != no_class; c = next_class(c + 1)) {
    std::uint32_t number = heads_[c];
    for (unsigned looks = 0; number != 0 && looks < tight_looks; ++looks) {
      const node& n = at(number);
      if (place(n.address_, n.bytes(), bytes, alignment) != 0) return number;
      number = n.next_;
    }
  }
  return 0;
}

arena::node* arena::allocate(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  if (bytes == 0 || !std::has_single_bit(alignment)) return nullptr;
  if (bytes > std::numeric_limits<std::uint64_t>::max() - (granule_ - 1)) return nullptr;
  bytes = (bytes + (granule_ - 1)) & ~(granule_ - 1);
  alignment = std::max(alignment, granule_);
  std::uint32_t range = find_fast(bytes, alignment);
  if (range == 0) [[unlikely]]
    range = find_tight(bytes, alignment);
  if (range == 0) return nullptr;
  const std::uint32_t number = carve(range, bytes, alignment);
  if (number == 0) [[unlikely]]
    return nullptr;
  ++counters_.live_ranges;
  counters_.used_bytes += bytes;
  counters_.high_water_bytes = std::max(counters_.high_water_bytes, counters_.used_bytes);
  return &at(number);
}

// Takes the bytes from the high end, so that a segment's lowest node stays its lowest, and a large range often stays in
// its class.
std::uint32_t arena::carve(std::uint32_t range_number, std::uint64_t bytes, std::uint64_t alignment) noexcept {
  node& range = at(range_number);
  const std::uint64_t size = range.bytes();
  const std::uint64_t address = place(range.address_, size, bytes, alignment);
  const std::uint64_t head = address - range.address_;
  const std::uint64_t tail = size - head - bytes;
  const std::uint32_t number = head != 0 ? take_node() : range_number;
  const std::uint32_t rest_number = tail != 0 ? take_node() : 0;
  if (number == 0 || (tail != 0 && rest_number == 0)) [[unlikely]] {
    if (number != 0 && head != 0) retire(number, at(number));
    if (rest_number != 0) retire(rest_number, at(rest_number));
    return 0;
  }
  node& n = at(number);
  const segment_id segment = range.segment();
  if (head != 0) {
    resize(range_number, range, head);
    put_after(range_number, range, number, n, address);
  } else {
    unlink(range);
    --counters_.free_ranges;
  }
  n.set(bytes, segment, node::state::used);
  n.previous_ = number;
  if (tail != 0) {
    node& rest = at(rest_number);
    put_after(number, n, rest_number, rest, address + bytes);
    link(rest_number, rest, tail, segment);
    ++counters_.free_ranges;
  }
  return number;
}

arena::freed arena::free(node* n) noexcept {
  if (!n || !live(n)) [[unlikely]]
    return refuse(n);
  std::uint64_t bytes = n->bytes();
  --counters_.live_ranges;
  counters_.used_bytes -= bytes;
  std::uint32_t number = n->previous_;
  const std::uint32_t before_number = n->before_;
  std::uint32_t after_number = n->after_;
  node& before = at(before_number);
  node* after = &at(after_number);
  const segment_id segment = n->segment();
  if (after->in() == node::state::free) {
    unlink(*after);
    --counters_.free_ranges;
    bytes += after->bytes();
    const std::uint32_t next = after->after_;
    retire(after_number, *after);
    after_number = next;
    after = &at(next);
  }
  if (before.in() == node::state::free) {
    retire(number, *n);
    number = before_number;
    n = &before;
    resize(number, before, before.bytes() + bytes);
  } else {
    link(number, *n, bytes, segment);
    ++counters_.free_ranges;
  }
  n->after_ = after_number;
  after->before_ = number;
  return freed::yes;
}

arena::freed arena::refuse(const node* n) const noexcept {
  // For an address below the slab's first node, the difference wraps around to a large number.
  const auto place_of = [](const node* x) { return reinterpret_cast<std::uintptr_t>(x); };
  const bool foreign = std::none_of(slabs_.begin(), slabs_.end(), [&](const slab& s) {
    return place_of(n) - place_of(s.nodes) < slab_nodes * sizeof(node);
  });
  if (abort_on_misuse_)
    misused(foreign ? "free of a node that does not belong to this arena" : "free of a node that was freed before", n);
  return foreign ? freed::foreign : freed::not_live;
}

result<void> arena::add_segment(segment_id id, std::uint64_t address, std::uint64_t bytes) {
  if (address == 0 || bytes == 0 || ((address | bytes) & (granule_ - 1)) != 0)
    return refused(id, " has an address or a size that is 0 or no multiple of the granule");
  if (bytes >= size_limit) return refused(id, " is too large: sizes are below 2^48");
  if (bytes > std::numeric_limits<std::uint64_t>::max() - address) return refused(id, " ends above 2^64");
  for (const segment& s : segments_) {
    if (s.id == id) return refused(id, " was added before");
    if (address < s.address + s.bytes && s.address < address + bytes) return refused(id, " overlaps another segment");
  }
  const std::uint32_t number = take_node();
  if (number == 0)
    return error::retry_later("memory", ENOMEM,
                              "arena: the host has no memory for bookkeeping; free some and try again");
  segments_.push_back({id, number, address, bytes});
  node& n = at(number);
  n.address_ = address;
  n.before_ = n.after_ = 0;
  link(number, n, bytes, id);
  ++counters_.segments;
  ++counters_.free_ranges;
  counters_.reserved_bytes += bytes;
  return {};
}

const arena::node* arena::find(std::uint64_t address) const noexcept {
  for (const segment& s : segments_) {
    if (address < s.address || address - s.address >= s.bytes) continue;
    std::uint32_t number = s.first;
    while (address - at(number).address_ >= at(number).bytes()) number = at(number).after_;
    return at(number).in() == node::state::used ? &at(number) : nullptr;
  }
  return nullptr;
}

bool arena::idle(const segment& s) const noexcept {
  const node& n = at(s.first);
  return n.in() == node::state::free && n.bytes() == s.bytes;
}

bool arena::remove_segment(segment_id id) noexcept {
  const auto s = std::find_if(segments_.begin(), segments_.end(), [id](const segment& x) { return x.id == id; });
  if (s == segments_.end() || !idle(*s)) return false;
  unlink(at(s->first));
  retire(s->first, at(s->first));
  --counters_.segments;
  --counters_.free_ranges;
  counters_.reserved_bytes -= s->bytes;
  *s = segments_.back();
  segments_.pop_back();
  return true;
}

std::vector<arena::segment_id> arena::idle_segments() const {
  std::vector<segment_id> ids;
  for (const segment& s : segments_)
    if (idle(s)) ids.push_back(s.id);
  return ids;
}

arena_statistics arena::statistics() const noexcept {
  arena_statistics all = counters_;
  if (first_map_ == 0) return all;
  const unsigned first = 63u - static_cast<unsigned>(std::countl_zero(first_map_));
  const unsigned second = 31u - static_cast<unsigned>(std::countl_zero(second_map_[first]));
  for (std::uint32_t number = heads_[first * second_count + second]; number != 0; number = at(number).next_)
    all.largest_free_bytes = std::max(all.largest_free_bytes, at(number).bytes());
  return all;
}

// Nodes
// ------------------------------------------------------------------------------------------------------------------

// A node that belongs to another arena, or that is not in use, does not hold its own number.
bool arena::live(const node* n) const noexcept {
  return n->in() == node::state::used && n->previous_ >> slab_bits < slabs_.size() && &at(n->previous_) == n;
}

// Returns a node that is in no list; 0 if the host has no memory for one.
std::uint32_t arena::take_node() noexcept {
  if (spare_ != 0) return std::exchange(spare_, at(spare_).next_);
  if (fresh_ == fresh_end_ && !add_slab()) [[unlikely]]
    return 0;
  return fresh_node();
}

std::uint32_t arena::fresh_node() noexcept {
  const std::uint32_t number = fresh_++;
  const slab& s = slabs_.back();
  const std::uint32_t i = number & (slab_nodes - 1);
  node* n = new (s.nodes + i) node{};
  if (s.payloads) {
    std::byte* payload = s.payloads + i * payload_stride_;
    std::memcpy(payload - sizeof(n), &n, sizeof(n));
    std::memset(payload, 0, payload_stride_ - sizeof(n));
  }
  return number;
}

bool arena::add_slab() noexcept try {
  const std::uint64_t number = slabs_.size() * slab_nodes;
  if (number > std::numeric_limits<std::uint32_t>::max() - slab_nodes) return false;
  slabs_.reserve(std::max(slabs_.capacity(), std::bit_ceil(slabs_.size() + 1)));
  void* payloads = nullptr;
  if (payload_stride_ != 0) {
    payloads = ::operator new(payload_offset_ + slab_nodes * payload_stride_, slab_align, std::nothrow);
    if (!payloads) return false;
  }
  void* nodes = ::operator new(slab_nodes * sizeof(node), slab_align, std::nothrow);
  if (!nodes) {
    ::operator delete(payloads, slab_align);
    return false;
  }
  slabs_.push_back(
      {static_cast<node*>(nodes), payloads ? static_cast<std::byte*>(payloads) + payload_offset_ : nullptr});
  fresh_ = static_cast<std::uint32_t>(number);
  fresh_end_ = fresh_ + slab_nodes;
  if (number == 0) at(fresh_node()).set(node::state::used);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void arena::retire(std::uint32_t number, node& n) noexcept {
  n.set(node::state::spare);
  n.next_ = std::exchange(spare_, number);
}

// Makes n a free range and puts it into the list of its class.
void arena::link(std::uint32_t number, node& n, std::uint64_t bytes, segment_id segment) noexcept {
  const unsigned c = class_of(bytes >> shift_);
  const std::uint32_t head = heads_[c];
  n.set(bytes, segment, node::state::free);
  n.previous_ = 0;
  n.next_ = head;
  heads_[c] = number;
  if (head != 0) {
    at(head).previous_ = number;
  } else {
    second_map_[c >> second_bits] |= 1u << (c & (second_count - 1));
    first_map_ |= std::uint64_t{1} << (c >> second_bits);
  }
}

void arena::unlink(node& n) noexcept {
  if (n.next_ != 0) at(n.next_).previous_ = n.previous_;
  if (n.previous_ != 0) {
    at(n.previous_).next_ = n.next_;
    return;
  }
  const unsigned c = class_of(n.bytes() >> shift_);
  heads_[c] = n.next_;
  if (n.next_ != 0) return;
  if ((second_map_[c >> second_bits] &= ~(1u << (c & (second_count - 1)))) == 0)
    first_map_ &= ~(std::uint64_t{1} << (c >> second_bits));
}

// Changes the size of a free range.
void arena::resize(std::uint32_t number, node& n, std::uint64_t bytes) noexcept {
  if (class_of(bytes >> shift_) == class_of(n.bytes() >> shift_)) return n.set(bytes, n.segment(), node::state::free);
  unlink(n);
  link(number, n, bytes, n.segment());
}

// Inserts `added` after n in the order of addresses.
void arena::put_after(std::uint32_t number, node& n, std::uint32_t added_number, node& added,
                      std::uint64_t address) noexcept {
  added.address_ = address;
  added.before_ = number;
  added.after_ = n.after_;
  at(n.after_).before_ = added_number;
  n.after_ = added_number;
}

}  // namespace troupe
