// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <troupe/epilogue/host/epilogue_pass.hpp>
#include <troupe/epilogue/host/runs.hpp>
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::epilogue::host {
namespace {

// Number of elements computed at a time, so small that their intermediate results fit the first-level cache.
constexpr std::int64_t piece = 512;

template <class N>
N number(double value) noexcept {
  if constexpr (std::is_floating_point_v<N>)
    return static_cast<N>(value);
  else
    return N(static_cast<decltype(N::real)>(value));
}

bool computes(op o) noexcept { return o != op::accumulator && o != op::left && o != op::right; }

}  // namespace

// The memory for the values of all nodes in one piece of a line, and where the values of each node are.
template <class N>
struct epilogue_pass<N>::scratch {
  std::unique_ptr<N[]> memory;
  std::array<const N*, 256> values{};
  N* slot(std::uint8_t i) const noexcept { return memory.get() + i * piece; }
};

template <class N>
epilogue_pass<N>::epilogue_pass(const tree& t, const result_place& to, std::int64_t which)
    : tree_(t),
      to_(to),
      columns_(to.shape.rows > 1 && (to.shape.columns == 1 || to.shape.row_stride <= to.shape.column_stride)),
      result_(operand_of(to.data, to.type, to.shape)),
      slots_(slots_of(t.nodes(), computes, true)) {
  for (const memory_operand& m : t.memory()) memory_.push_back(operand_of(m.at(which, 0, 0), m.type, m.shape));
  for (const node& n : t.nodes()) {
    if (n.what == op::reduce) reductions_.push_back(&n);
    // A row is broadcast to all rows of the result, a column to all columns, and a number to both.
    if (!has_memory(n.what)) continue;
    strided_operand& p = memory_[n.operand];
    if (n.what == op::load_row || n.what == op::load_number) (columns_ ? p.element_stride : p.line_stride) = 0;
    if (n.what == op::load_column || n.what == op::load_number) (columns_ ? p.line_stride : p.element_stride) = 0;
  }
}

template <class N>
auto epilogue_pass<N>::operand_of(void* data, dtype type, const matrix_shape& s) const noexcept -> strided_operand {
  return {static_cast<std::byte*>(data), type, columns_ ? s.row_stride : s.column_stride,
          columns_ ? s.column_stride : s.row_stride, static_cast<std::int64_t>(bytes_of(type))};
}

template <class N>
std::size_t epilogue_pass<N>::elements_of(const node& reduce, const rectangle& r) const noexcept {
  if (reduce.over == reduction_scope::all) return 1;
  return static_cast<std::size_t>(is_per_line(reduce) ? r.lines : r.count);
}

template <class N>
partial_reductions epilogue_pass<N>::run(const rectangle& where, const part_of_product<N>& product) const {
  partial_reductions out{where, {}};
  for (const node* n : reductions_) out.values.emplace_back(elements_of(*n, where), start_of(n->combine));
  scratch s{.memory = std::unique_ptr<N[]>(new N[static_cast<std::size_t>(slots_.count) * piece])};
  const auto nodes = tree_.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].what == op::number)
      std::fill_n(s.slot(slots_.of[i]), piece, number<N>(tree_.numbers()[nodes[i].operand]));
  for (std::int64_t l = 0; l < where.lines; ++l)
    for (std::int64_t i = 0; i < where.count; i += piece) {
      const part_of_product<N> here{product.left + l * product.line_stride + i,
                                    product.right + l * product.line_stride + i, 0};
      run_piece(where.first_line + l, where.first + i, std::min(piece, where.count - i), here, where, s, out);
    }
  return out;
}

template <class N>
void epilogue_pass<N>::run_piece(std::int64_t line, std::int64_t first, std::int64_t count,
                                 const part_of_product<N>& product, const rectangle& whole, scratch& s,
                                 partial_reductions& out) const {
  const auto nodes = tree_.nodes();
  std::size_t reduced = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const node& n = nodes[i];
    N* const to = s.slot(slots_.of[i]);
    const N* const x = s.values[n.arguments[0]];
    s.values[i] = to;
    switch (n.what) {
      case op::accumulator:
      case op::left:
        s.values[i] = product.left;
        break;
      case op::right:
        s.values[i] = product.right;
        break;
      case op::number:
        break;
      case op::load_number:
      case op::load_row:
      case op::load_column:
      case op::load:
        read(memory_[n.operand].type, memory_[n.operand].at(line, first), memory_[n.operand].element_stride, to, count);
        break;
      case op::convert:
        round(n.type, x, to, count);
        break;
      case op::store:
        write(memory_[n.operand].type, x, memory_[n.operand].at(line, first), memory_[n.operand].element_stride, count);
        s.values[i] = x;
        break;
      case op::reduce:
        reduce(n, x, count, line - whole.first_line, first - whole.first, out.values[reduced++]);
        s.values[i] = x;
        break;
      default:
        apply(n.what, to, x, s.values[n.arguments[1]], s.values[n.arguments[2]], count);
    }
  }
  const N* const result = s.values[nodes.size() - 1];
  void* const stored = result_.at(line, first);
  if (stored != result) write(result_.type, result, stored, result_.element_stride, count);
}

// Reduces `count` elements of a line into the part's result `into`. `line` and `first` count from the beginning of the
// part.
template <class N>
void epilogue_pass<N>::reduce(const node& n, const N* x, std::int64_t count, std::int64_t line, std::int64_t first,
                              std::vector<double>& into) const {
  if constexpr (std::is_floating_point_v<N>) {  // complex numbers have no reductions
    if (n.over != reduction_scope::all && !is_per_line(n))
      return combine_each(n.combine, x, count, into.data() + first);
    double& one = into[n.over == reduction_scope::all ? 0 : static_cast<std::size_t>(line)];
    one = combine(n.combine, x, count, one);
  }
}

template <class N>
void epilogue_pass<N>::finish(std::span<const partial_reductions> parts) const {
  for (std::size_t k = 0; k < reductions_.size(); ++k) {
    const node& n = *reductions_[k];
    const strided_operand& to = memory_[n.operand];
    const bool per_line = n.over != reduction_scope::all && is_per_line(n);
    std::vector<double> all(
        n.over == reduction_scope::all ? 1 : static_cast<std::size_t>(per_line ? lines() : line_length()),
        start_of(n.combine));
    for (const partial_reductions& p : parts) {
      const std::int64_t first = n.over == reduction_scope::all ? 0 : per_line ? p.where.first_line : p.where.first;
      combine_each(n.combine, p.values[k].data(), static_cast<std::int64_t>(p.values[k].size()), all.data() + first);
    }
    // A reduction of each line writes one element for each line.
    const std::int64_t stride = per_line ? to.line_stride : to.element_stride;
    write(to.type, all.data(), to.data, stride, static_cast<std::int64_t>(all.size()));
  }
}

template class epilogue_pass<float>;
template class epilogue_pass<double>;
template class epilogue_pass<complex64>;
template class epilogue_pass<complex128>;

}  // namespace troupe::epilogue::host
