// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <troupe/dnn/sets/set_partition.hpp>

namespace troupe::dnn::sets {
namespace {

using kind = set_kernel::operation::kind;

constexpr unsigned widest = 16;                 // bytes of the widest load
constexpr unsigned sector = 32;                 // bytes that the memory transfers at least
constexpr unsigned block_threads = 256;         // of a block with several sets
constexpr unsigned most_holding_threads = 512;  // of a set that is held: larger blocks wait more at barriers
// Enough for a large GPU; the same on all GPUs, so that results are the same.
constexpr std::int64_t enough_blocks = 1024, enough_threads = enough_blocks * block_threads;

std::int64_t divided_up(std::int64_t n, std::int64_t by) noexcept { return (n + by - 1) / by; }
unsigned power_of_two(std::int64_t at_least) noexcept {
  return static_cast<unsigned>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(at_least, 1))));
}

// Returns how many values of each element are kept at a time for a later pass over the elements than the one that
// computes them. Each reduction that depends on other ones needs another pass, and so do results.
std::size_t count_kept_values(const set_kernel& k) {
  const std::size_t count = k.operations.size();
  const std::vector<std::size_t> depth = depths_of(k);
  std::vector<std::size_t> first(count, SIZE_MAX), last(count);  // passes that use the value
  const std::size_t results = *std::ranges::max_element(depth) + 1;
  std::vector<std::size_t> kept(results + 1);  // for each pass: values from before it that it or later ones use
  for (std::size_t i = count; i-- > 0;) {
    const set_kernel::operation& o = k.operations[i];
    for (std::size_t p = first[i]; p < last[i] && !k.is_of_set[i]; ++p) ++kept[p + 1];
    if (!o.has_arguments() || (k.is_of_set[i] && o.what != kind::reduce)) continue;
    const std::size_t here = o.what == kind::reduce ? depth[i] : o.what == kind::write ? results : first[i];
    if (here == SIZE_MAX) continue;  // nothing uses it
    for (const std::uint16_t a : o.from) first[a] = std::min(first[a], here), last[a] = std::max(last[a], here);
  }
  return *std::ranges::max_element(kept);
}

class partitioner {
 public:
  explicit partitioner(set_kernel& k) : k_(k), inner_(k.inside.rank() - 1), outer_(k.outside.rank() - 1) {}

  void partition() {
    k_.partition = {}, k_.layout = {};
    k_.layout.by_columns = is_by_columns();
    k_.layout.by_columns ? partition_columns() : partition_rows();
  }

  // Divides sets into parts if there are too few blocks.
  void divide(std::int64_t most_parts) {
    set_partition& p = k_.partition;
    if (p.is_held() || most_parts < 2 || any_element_needs_a_reduction(k_)) return;
    const std::int64_t fewest_chunks = k_.layout.by_columns ? 4 : 2;
    const std::int64_t threads = blocks_of(k_) * k_.layout.block_threads;
    p.parts = std::clamp<std::int64_t>(divided_up(enough_threads, threads), 1,
                                       std::min(most_parts, std::max<std::int64_t>(p.chunks / fewest_chunks, 1)));
  }

 private:
  unsigned bytes(std::size_t operand) const noexcept {
    return static_cast<unsigned>(bytes_of(k_.operands[operand].type));
  }
  std::int64_t elements() const noexcept { return k_.count_elements(); }

  // Returns true if neighbors of the largest operand, whose order both spaces have, are in different sets.
  bool is_by_columns() const noexcept {
    const std::int64_t in = k_.inside.stride(0, inner_), out = k_.outside.stride(0, outer_);
    return k_.inside.extent(inner_) != 1 && k_.outside.extent(outer_) != 1 && out > 0 && out < in;
  }

  // Returns the bytes of the narrowest and of the widest operand whose neighbors along the axis are read together.
  std::pair<unsigned, unsigned> widths(bool along_sets) const noexcept {
    unsigned narrowest = widest, most = 1;
    for (std::size_t i = 0; i < k_.operands.size(); ++i) {
      if (!k_.operands[i].exists()) continue;
      if ((along_sets ? k_.outer_stride(i, outer_) : k_.inner_stride(i, inner_)) != 1) continue;
      narrowest = std::min(narrowest, bytes(i)), most = std::max(most, bytes(i));
    }
    return {narrowest, most};
  }

  // Chooses how many elements of a chunk a thread has, as measured on an H200: the fewer, the more registers each of
  // them takes, for values that are kept, and for what is read at a time, `together` neighbors in a load. What all sets
  // share is read when it is needed.
  void choose_elements(unsigned together) {
    const auto kept = static_cast<unsigned>(count_kept_values(k_));
    unsigned bytes_of_element = kept * 4;
    for (const set_kernel::operation& o : k_.operations)
      if (o.what == kind::read && k_.differs_among_sets(o.operand))
        bytes_of_element += differs_inside(o.operand) ? bytes(o.operand) : 0;
    elements_of_thread_ = k_.layout.by_columns                           ? 8
                          : bytes_of_element <= (together == 1 ? 16 : 8) ? 32
                          : bytes_of_element <= 16                       ? 16
                                                                         : 8;
  }
  bool differs_inside(std::size_t operand) const noexcept {
    return (k_.layout.by_columns ? k_.outer_stride(operand, outer_) : k_.inner_stride(operand, inner_)) != 0;
  }

  void partition_rows() {
    set_partition& p = k_.partition;
    const std::int64_t n = elements();
    p.width = std::min(widest / widths(false).first, widest / 2);
    while (k_.inside.extent(inner_) % p.width != 0) p.width /= 2;
    choose_elements(p.width);
    const std::int64_t vectors = divided_up(n, p.width);
    const auto vectors_of_thread = [&](unsigned threads) { return divided_up(vectors, threads); };
    p.threads = power_of_two(vectors_of_thread(std::max(elements_of_thread_ / p.width, 1u)));
    // Few neighbors that are read one by one are shared among more threads.
    if (p.width == 1) p.threads = std::max(p.threads, std::min(32u, power_of_two(n)));
    p.threads = std::min(p.threads, most_holding_threads);
    if (vectors_of_thread(p.threads) * p.width <= elements_of_thread_) {
      p.vectors = static_cast<unsigned>(vectors_of_thread(p.threads));
    } else {
      p.threads = elements_of_thread_ == 32 && n <= 65'536 ? 256 : 512;
      p.vectors = std::max(elements_of_thread_ / p.width, 1u);
      p.chunks = divided_up(vectors, std::int64_t{p.threads} * p.vectors);
    }
    k_.layout.block_threads = std::max(p.threads, block_threads);
  }

  void partition_columns() {
    set_partition& p = k_.partition;
    set_layout& l = k_.layout;
    const std::int64_t n = elements(), neighbors = k_.outside.extent(outer_);
    const unsigned most = widths(true).second;
    l.sets = std::min(4u, widest / most);
    while (neighbors % l.sets != 0) l.sets /= 2;
    choose_elements(l.sets);
    const unsigned most_vectors = elements_of_thread_ / l.sets, of_line = power_of_two(divided_up(neighbors, l.sets)),
                   holding_all = power_of_two(divided_up(n, most_vectors));
    l.lanes = std::min(32u, of_line);
    p.threads = std::min(block_threads / l.lanes, power_of_two(n));
    // If there are enough sets, each has no more threads than hold all its elements.
    if (k_.count_sets() / l.sets * std::min(p.threads, holding_all) >= enough_blocks * block_threads / 4) {
      p.threads = std::min(p.threads, holding_all);
      l.lanes = std::min(block_threads / p.threads, of_line);
    }
    if (any_element_needs_a_reduction(k_)) {
      // A block reads its sets several times. So it has fewer, as long as their neighbors fill a sector of the memory
      // and there are too few blocks, and more threads.
      while (l.lanes * l.sets * most >= 2 * sector && blocks_of(k_) < enough_blocks / 4) l.lanes /= 2;
      p.threads = std::max(p.threads, std::min({holding_all, most_threads / l.lanes, power_of_two(n)}));
    }
    if (divided_up(n, p.threads) <= most_vectors) {
      p.vectors = static_cast<unsigned>(divided_up(n, p.threads));
    } else {
      p.vectors = elements_of_thread_ / l.sets;
      p.chunks = divided_up(n, std::int64_t{p.threads} * p.vectors);
    }
    l.lines = std::min(std::max(block_threads / (l.lanes * p.threads), 1u), power_of_two(k_.outside.lines()));
    l.block_threads = l.lanes * p.threads * l.lines;
  }

  set_kernel& k_;
  const std::size_t inner_, outer_;  // the last axes
  unsigned elements_of_thread_ = 0;
};

}  // namespace

std::vector<std::size_t> depths_of(const set_kernel& k) {
  std::vector<std::size_t> out(k.operations.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const set_kernel::operation& o = k.operations[i];
    if (o.what == kind::reduce && o.form == set_kernel::operation::reducing::squares) {
      out[i] = out[o.from[1]];  // computed together with the mean
      continue;
    }
    if (o.has_arguments())
      for (const std::uint16_t a : o.from) out[i] = std::max(out[i], out[a]);
    out[i] += o.what == kind::reduce ? 1 : 0;
  }
  return out;
}

bool any_element_needs_a_reduction(const set_kernel& k) {
  const std::vector<std::size_t> depth = depths_of(k);
  for (std::size_t i = 0; i < depth.size(); ++i)
    if (k.operations[i].what == kind::reduce ? depth[i] > 1 : depth[i] > 0 && !k.is_of_set[i]) return true;
  return false;
}

std::size_t count_reductions(const set_kernel& k) noexcept {
  return static_cast<std::size_t>(std::ranges::count(k.operations, kind::reduce, &set_kernel::operation::what));
}

std::int64_t blocks_of(const set_kernel& k) noexcept {
  const set_layout& l = k.layout;
  if (!l.by_columns) return divided_up(k.count_sets(), l.block_threads / k.partition.threads);
  return divided_up(k.outside.lines(), l.lines) * divided_up(k.outside.length(), std::int64_t{l.lanes} * l.sets);
}

void partition(set_kernel& k, const tensor_shape& of, std::int64_t over, std::uint64_t workspace) {
  tensor_shape sets = of, elements = of;
  for (std::size_t i = 0; i < of.rank; ++i) ((over >> i & 1) != 0 ? sets : elements).extents[i] = 1;
  // The spaces have the order of the operand with the most bytes.
  const auto bytes = [](const location& l) {
    return l.exists() ? static_cast<std::uint64_t>(elements_of(l.shape)) * bytes_of(l.type) : 0;
  };
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(k.operands, {}, bytes) - k.operands.begin());
  std::vector<axis_values> strides;
  k.operand_in_space.assign(k.operands.size(), 0);
  const auto take = [&](std::size_t i) {
    k.operand_in_space[i] = strides.size();
    strides.push_back(broadcast_strides(k.operands[i].shape, of.rank, of.extents));
  };
  take(largest);
  for (std::size_t i = 0; i < k.operands.size(); ++i)
    if (i != largest) take(i);
  k.outside = iteration_space(of.rank, sets.extents, strides, true);
  k.inside = iteration_space(of.rank, elements.extents, std::move(strides), true);
  partitioner p(k);
  p.partition();
  const std::uint64_t bytes_of_part =
      count_reductions(k) * sizeof(double) * static_cast<std::uint64_t>(std::max<std::int64_t>(k.count_sets(), 1));
  if (bytes_of_part != 0)
    p.divide(static_cast<std::int64_t>(std::min<std::uint64_t>(workspace / bytes_of_part, INT32_MAX)));
}

std::uint64_t partial_bytes_of(const set_kernel& k) noexcept {
  if (k.partition.parts == 1) return 0;
  return static_cast<std::uint64_t>(k.partition.parts * k.count_sets()) * count_reductions(k) * sizeof(double);
}

}  // namespace troupe::dnn::sets
