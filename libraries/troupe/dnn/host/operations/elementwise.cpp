// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <troupe/dnn/host/operations/elementwise.hpp>
#include <troupe/dnn/host/operations/random.hpp>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::dnn::host {
namespace {

constexpr std::int64_t piece = 512;     // most elements of a tile, so that results of operations stay in the L1 cache
constexpr std::int64_t short_run = 32;  // the same for a line of a tile, if a line's elements are not neighbors
constexpr std::int64_t part_size = 1 << 14;  // elements for which a thread of its own is worthwhile

// `count` elements from `first` on, in each of `lines` consecutive lines. The stride between the lines is constant in
// each operand.
struct tile {
  std::int64_t line, lines, first, count;
  std::int64_t elements() const noexcept { return lines * count; }
};

// The division of an elementwise kernel's lines into tiles. If the elements of a line are not neighbors in some
// operand, elements of adjacent lines may be neighbors: a tile then has few elements of many lines. A tile also
// combines short lines.
class tiles {
 public:
  explicit tiles(const elementwise_kernel& kernel)
      : lines_(kernel.over.rank() > 1 ? kernel.over.extent(kernel.over.rank() - 2) : 1),
        length_(kernel.over.length()),
        count_(std::min(length_, has_strides(kernel) ? short_run : piece)),
        lines_per_tile_(std::min(lines_, piece / count_)),
        tiles_per_line_((length_ + count_ - 1) / count_),
        line_groups_((lines_ + lines_per_tile_ - 1) / lines_per_tile_),
        all_(kernel.over.lines() / lines_ * line_groups_ * tiles_per_line_) {}

  std::int64_t size() const noexcept { return all_; }
  std::int64_t most_elements() const noexcept { return lines_per_tile_ * count_; }
  tile operator[](std::int64_t i) const noexcept {
    const std::int64_t first = i % tiles_per_line_ * count_, group = i / tiles_per_line_,
                       line = group % line_groups_ * lines_per_tile_;
    return {group / line_groups_ * lines_ + line, std::min(lines_per_tile_, lines_ - line), first,
            std::min(count_, length_ - first)};
  }

 private:
  static bool has_strides(const elementwise_kernel& kernel) noexcept {
    return std::any_of(kernel.operand_in_space.begin(), kernel.operand_in_space.end(),
                       [&](std::size_t i) { return kernel.over.line_stride(i) > 1; });
  }
  const std::int64_t lines_, length_, count_, lines_per_tile_, tiles_per_line_, line_groups_, all_;
};

// The strides of an operand in a tile: along a line, and between lines.
struct strides {
  std::int64_t along, between;
  bool are_columns(const tile& t) const noexcept { return along > 1 && between == 1 && t.lines > 1; }
  bool is_one_run(const tile& t) const noexcept { return t.lines == 1 || between == along * t.count; }
};

template <class N>
void read(dtype type, const std::byte* from, const strides& s, const tile& t, N* to) {
  const auto size = static_cast<std::int64_t>(bytes_of(type));
  if (s.is_one_run(t)) return epilogue::host::read(type, from, s.along, to, t.elements());
  if (s.between == 0) {
    epilogue::host::read(type, from, s.along, to, t.count);
    for (std::int64_t l = 1; l < t.lines; ++l) std::copy_n(to, t.count, to + l * t.count);
    return;
  }
  if (!s.are_columns(t)) {
    for (std::int64_t l = 0; l < t.lines; ++l)
      epilogue::host::read(type, from + l * s.between * size, s.along, to + l * t.count, t.count);
    return;
  }
  // Elements of different lines are neighbors in memory: read a column of the tile at a time, and store a line at a
  // time.
  const auto store = [&](const N* columns, std::int64_t along) {
    for (std::int64_t l = 0; l < t.lines; ++l)
      for (std::int64_t i = 0; i < t.count; ++i) to[l * t.count + i] = columns[i * along + l];
  };
  if (type == dtype_of<N>) return store(reinterpret_cast<const N*>(from), s.along);
  std::array<N, piece> columns;
  for (std::int64_t i = 0; i < t.count; ++i)
    epilogue::host::read(type, from + i * s.along * size, 1, columns.data() + i * t.lines, t.lines);
  store(columns.data(), t.lines);
}
template <class N>
void write(dtype type, const N* from, std::byte* to, const strides& s, const tile& t) {
  const auto size = static_cast<std::int64_t>(bytes_of(type));
  if (s.is_one_run(t)) return epilogue::host::write(type, from, to, s.along, t.elements());
  if (!s.are_columns(t)) {
    for (std::int64_t l = 0; l < t.lines; ++l)
      epilogue::host::write(type, from + l * t.count, to + l * s.between * size, s.along, t.count);
    return;
  }
  std::array<N, piece> column;
  for (std::int64_t i = 0; i < t.count; ++i) {
    for (std::int64_t l = 0; l < t.lines; ++l) column[static_cast<std::size_t>(l)] = from[l * t.count + i];
    epilogue::host::write(type, column.data(), to + i * s.along * size, 1, t.lines);
  }
}

template <class N>
class pieces {
 public:
  pieces(const elementwise_kernel& kernel, const execution_context& on) : kernel_(kernel) {
    for (const location& l : kernel.operands) at_.push_back(l.exists() ? on.at(l) : nullptr);
    for (const elementwise_kernel::sequence& s : kernel.sequences) sequences_.emplace_back(s, on);
  }

  /// A thread's memory for the results of the operations in a tile.
  struct results {
    explicit results(const elementwise_kernel& kernel)
        : memory(new N[kernel.operations.size() * piece]), of(kernel.operations.size()) {
      for (std::size_t i = 0; i < of.size(); ++i)
        if (kernel.operations[i].what == elementwise_kernel::operation::kind::number)
          std::fill_n(memory.get() + i * piece, piece, static_cast<N>(kernel.operations[i].value));
    }
    std::unique_ptr<N[]> memory;
    std::vector<const N*> of;
  };

  void run(const tile& t, results& r) const {
    for (std::size_t i = 0; i < kernel_.operations.size(); ++i) {
      const elementwise_kernel::operation& o = kernel_.operations[i];
      N* const to = r.memory.get() + i * piece;
      r.of[i] = to;
      using enum elementwise_kernel::operation::kind;
      switch (o.what) {
        case read:
          if (const strides s = strides_of(o); type(o) == dtype_of<N> && s.along == 1 && s.is_one_run(t))
            r.of[i] = reinterpret_cast<const N*>(address(o, t));
          else
            host::read(type(o), address(o, t), s, t, to);
          break;
        case number:
          break;
        case apply:
          epilogue::host::apply(o.function, to, r.of[o.from[0]], r.of[o.from[1]], r.of[o.from[2]], t.elements());
          break;
        case round:
          epilogue::host::round(o.type, r.of[o.from[0]], to, t.elements());
          break;
        case write:
          host::write(type(o), r.of[o.from[0]], address(o, t), strides_of(o), t);
          break;
        case random:
          for (std::int64_t l = 0; l < t.lines; ++l)
            sequences_[o.from[0]].make(first_position(o, t) + l * strides_of(o).between, strides_of(o).along,
                                       to + l * t.count, t.count);
          break;
        case position:
          for (std::int64_t l = 0; l < t.lines; ++l)
            for (std::int64_t i = 0; i < t.count; ++i)
              to[l * t.count + i] =
                  static_cast<N>(first_position(o, t) + l * strides_of(o).between + i * strides_of(o).along);
          break;
        case read_at:
          read_parts(o, t, r.of[o.from[0]], to);
          break;
        case reduce:  // only set kernels have these
        case multiply_add:
          break;
      }
    }
  }

 private:
  // Reads elements at indexes along an axis of an operand: those with the same index at a time.
  void read_parts(const elementwise_kernel::operation& o, const tile& t, const N* indexes, N* to) const {
    const auto number = [&](std::size_t k) { return kernel_.operations[o.from[k]].value; };
    const auto stride = static_cast<std::int64_t>(number(2)), size = static_cast<std::int64_t>(bytes_of(type(o)));
    for (std::int64_t l = 0; l < t.lines; ++l) {
      const N *const of_line = indexes + l * t.count, *const end = of_line + t.count;
      for (const N* i = of_line; i != end;) {
        const N index = *i;
        const std::int64_t first = i - of_line;
        const auto same = std::find_if(i, end, [&](N other) { return other != index; }) - i;
        if (index >= 0 && static_cast<double>(index) < number(1)) {
          const std::int64_t at = first_position(o, t) + l * strides_of(o).between + first * strides_of(o).along +
                                  static_cast<std::int64_t>(index) * stride;
          epilogue::host::read(type(o), at_[o.operand] + at * size, strides_of(o).along, to + l * t.count + first,
                               same);
        } else {
          std::fill_n(to + l * t.count + first, same, std::numeric_limits<N>::quiet_NaN());
        }
        i += same;
      }
    }
  }
  dtype type(const elementwise_kernel::operation& o) const noexcept { return kernel_.operands[o.operand].type; }
  strides strides_of(const elementwise_kernel::operation& o) const noexcept {
    const std::size_t operand = kernel_.operand_in_space[o.operand], rank = kernel_.over.rank();
    return {kernel_.over.line_stride(operand), rank > 1 ? kernel_.over.stride(operand, rank - 2) : 0};
  }
  std::int64_t first_position(const elementwise_kernel::operation& o, const tile& t) const noexcept {
    const std::size_t operand = kernel_.operand_in_space[o.operand];
    return kernel_.over.begin(operand, t.line) + t.first * kernel_.over.line_stride(operand);
  }
  std::byte* address(const elementwise_kernel::operation& o, const tile& t) const noexcept {
    return at_[o.operand] + first_position(o, t) * static_cast<std::int64_t>(bytes_of(type(o)));
  }

  const elementwise_kernel& kernel_;
  std::vector<std::byte*> at_;
  std::vector<random_sequence> sequences_;
};

}  // namespace

template <class N>
void compute_elements(const elementwise_kernel& kernel, const execution_context& on) {
  const pieces<N> all(kernel, on);
  const tiles each(kernel);
  const std::int64_t grain = std::max<std::int64_t>(1, part_size / each.most_elements());
  on.team.spread((each.size() + grain - 1) / grain, 1, [&](std::int64_t part) {
    typename pieces<N>::results r(kernel);
    for (std::int64_t i = part * grain; i < std::min(each.size(), (part + 1) * grain); ++i) all.run(each[i], r);
  });
}

template void compute_elements<float>(const elementwise_kernel&, const execution_context&);
template void compute_elements<double>(const elementwise_kernel&, const execution_context&);

}  // namespace troupe::dnn::host
