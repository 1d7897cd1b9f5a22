// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/host/parts.hpp>

namespace troupe::cutlass {
namespace {

using matmul::host_factor, matmul::host_product, matmul::host_products, matmul::host_scales;

template <class Placed>
std::byte* address_of(const Placed& p, std::int64_t elements) noexcept {
  if (p.address == 0) return nullptr;
  return reinterpret_cast<std::byte*>(p.address) + elements * static_cast<std::int64_t>(bytes_of(p.type));
}
host_factor factor_of(const factor& f, std::int64_t lines, std::int64_t terms, std::int64_t at) noexcept {
  return {address_of(f, at), f.type, lines, terms, f.line, f.term};
}
host_scales scales_of(const matmul::block_scales& s, std::int64_t at) noexcept {
  return {address_of(s, at), s.type, s.line_stride, s.k_stride, s.block.lines, s.block.k};
}

// Returns rows [first, first + rows) of product `which`. If `first` is not 0, each row has its own scales.
host_product rows_of(const problem& p, std::int64_t which, std::int64_t first, std::int64_t rows) noexcept {
  return {.a = factor_of(p.a, rows, p.k, which * p.a.batch + first * p.a.line),
          .b = factor_of(p.b, p.n * (p.paired ? 2 : 1), p.k, which * p.b.batch),
          .a_scales = scales_of(p.a_scales, which * p.a_scales.batch_stride + first * p.a_scales.line_stride),
          .b_scales = scales_of(p.b_scales, which * p.b_scales.batch_stride),
          .sums = p.sums,
          .to = {address_of(p.d, which * p.d.batch + first * p.d.row), p.d.type, {rows, p.n, p.d.row, p.d.column}}};
}

}  // namespace

host_product product_of(const problem& p, std::int64_t which, const epilogue::tree& tree) noexcept {
  host_product out = rows_of(p, which, 0, p.m);
  out.tree = &tree;
  out.which = p.first + which;
  return out;
}

groups_of_rows::groups_of_rows(const problem& p, partial_results partial)
    : groups_of_rows(p, grouped_outcome{.partial_results = partial}) {
  const auto* const sizes = reinterpret_cast<const std::int32_t*>(p.groups.sizes);
  const bool has_elements = p.m != 0 && p.n != 0;  // if not, sizes are not read
  std::int64_t first = 0;
  for (std::int64_t g = 0; g < p.batch; ++g) {
    const std::int64_t size = has_elements ? sizes[g] : 0;
    if (size < 0 || size > p.m - first) {
      outcome_.wrong_group = static_cast<std::int32_t>(g), outcome_.size = sizes[g];
      outcome_.rows_left = static_cast<std::int32_t>(p.m - first);
      return;
    }
    add(g, first, size);
    if (p.groups.packed) first += size;
  }
}

groups_of_rows groups_of_rows::largest(const problem& p) {
  groups_of_rows out(p, grouped_outcome());
  out.add(0, 0, p.m);
  return out;
}

void groups_of_rows::add(std::int64_t number, std::int64_t first, std::int64_t size) {
  const epilogue::tree& tree = problem_.tree;
  std::vector<epilogue::memory_operand> memory(tree.memory().begin(), tree.memory().end());
  for (const epilogue::node& n : tree.nodes()) {
    if (!epilogue::has_memory(n.what)) continue;
    const placed_matrix from = problem_.memory(n.operand, n);
    epilogue::memory_operand& to = memory[n.operand];
    to.address = reinterpret_cast<std::uint64_t>(address_of(from, first * from.row + number * from.batch));
    to.batch_stride = 0;
    if (epilogue::is_tall(n)) to.shape.rows = size;
  }
  groups_.push_back({number, first, size, epilogue::rebound_tree(tree, memory)});
}

host_product groups_of_rows::product_of(const group& g) const noexcept {
  host_product out = rows_of(problem_, g.number, g.first, g.size);
  out.tree = &g.tree.get();
  return out;
}

host_products groups_of_rows::products() const {
  return {static_cast<std::int64_t>(groups_.size()),
          [this](std::int64_t i) { return product_of(groups_[static_cast<std::size_t>(i)]); }};
}

}  // namespace troupe::cutlass
