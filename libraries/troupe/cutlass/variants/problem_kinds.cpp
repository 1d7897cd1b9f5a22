// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <span>
#include <troupe/cutlass/variants/problem_kinds.hpp>
#include <type_traits>
#include <vector>

namespace troupe::cutlass {
namespace {

using epilogue::memory_operand;

constexpr std::uint64_t alignment = 16;  // no choice depends on more

template <class T>
void append(std::string& to, const T& x) {
  static_assert(std::has_unique_object_representations_v<T>);
  to.append(reinterpret_cast<const char*>(&x), sizeof x);
}
template <class... T>
void append_numbers(std::string& to, T... all) {
  append(to, std::array<std::int64_t, sizeof...(T)>{static_cast<std::int64_t>(all)...});
}
void append(std::string& to, const matmul::block_scales& s) {
  to += s.address != 0 ? '1' : '0';
  if (s.address != 0) append_numbers(to, s.type, s.block.lines, s.block.k, s.line_stride, s.k_stride, s.batch_stride);
}
void append(std::string& to, const placed_tensor& t) {
  append_numbers(to, t.address % alignment, t.type, t.item, t.channel), append(to, t.spatial);
}
void append(std::string& to, std::span<const epilogue::node> nodes) {
  append_numbers(to, nodes.size());
  to.append(reinterpret_cast<const char*>(nodes.data()), nodes.size_bytes());
}

// Replaces addresses by others with the same remainder, all of them different and far from each other.
class address_replacement {
 public:
  std::uint64_t of(std::uint64_t address) noexcept { return (++count_ << 44) + address % alignment; }

 private:
  std::uint64_t count_ = 0;
};

// Returns the epilogue with these operands, and with 1 for each number.
epilogue::rebound_tree with_memory(const epilogue::tree& t, const std::vector<memory_operand>& memory) {
  return {t, memory, std::vector<double>(t.numbers().size(), 1.0)};
}

}  // namespace

product_kind::product_kind(const problem& p)
    : problem_(p), tree_([&] {
        address_replacement replacement;
        const auto replace = [&](std::uint64_t& address) { address = replacement.of(address); };
        replace(problem_.a.address), replace(problem_.b.address), replace(problem_.d.address);
        for (std::uint64_t* address : {&problem_.a_scales.address, &problem_.b_scales.address, &problem_.groups.sizes})
          if (*address != 0) *address = replacement.of(0);
        std::vector<memory_operand> memory(p.tree.memory().begin(), p.tree.memory().end());
        for (memory_operand& m : memory) m.shape.row_stride = m.shape.column_stride = 0;
        for (const epilogue::node& n : p.tree.nodes()) {
          if (!epilogue::has_memory(n.what)) continue;
          const placed_matrix m = p.memory(n.operand, n);
          memory_operand& to = memory[n.operand];
          to.address = replacement.of(m.address), to.batch_stride = m.batch;
          // Nodes may share an operand: each keeps the strides along which it varies.
          if (is_tall(n)) to.shape.row_stride = m.row;
          if (is_wide(n)) to.shape.column_stride = m.column;
        }
        return with_memory(p.tree, memory);
      }()) {
  problem_.first = 0;
  problem_.options = {.precision = p.options.precision, .accumulation = p.options.accumulation};
  problem_.tree = tree_.get();
}

convolution_problem_kind::convolution_problem_kind(const convolution_problem& p)
    : problem_(p), tree_([&] {
        address_replacement replacement;
        for (placed_tensor* t : {&problem_.x, &problem_.filters, &problem_.y}) t->address = replacement.of(t->address);
        std::vector<memory_operand> memory(p.tree.memory().begin(), p.tree.memory().end());
        for (memory_operand& m : memory) m.address = replacement.of(m.address);
        return with_memory(p.tree, memory);
      }()) {
  problem_.options = {.precision = p.options.precision, .accumulation = p.options.accumulation};
  problem_.tree = tree_.get();
}

void write_key(std::string& to, const problem& p) {
  for (const factor* f : {&p.a, &p.b}) append_numbers(to, f->address % alignment, f->type, f->line, f->term, f->batch);
  append_numbers(to, p.d.address % alignment, p.d.type, p.d.row, p.d.column, p.d.batch);
  append_numbers(to, p.m, p.n, p.k, p.batch,
                 p.groups.sizes == 0 ? 0
                 : p.groups.packed   ? 1
                                     : 2,
                 p.options.precision, p.options.accumulation);
  append(to, p.a_scales), append(to, p.b_scales);
  append(to, p.tree.nodes());
  for (const epilogue::node& n : p.tree.nodes()) {
    if (!epilogue::has_memory(n.what)) continue;
    const placed_matrix m = p.memory(n.operand, n);
    append_numbers(to, m.address % alignment, m.type, m.row, m.column, m.batch);
  }
}

void write_key(std::string& to, const convolution_problem& p) {
  append(to, p.x), append(to, p.filters), append(to, p.y);
  append(to, static_cast<const windows::geometry&>(p));
  append_numbers(to, p.result, p.images, p.groups, p.channels_of_group, p.filters_of_group, p.options.precision,
                 p.options.accumulation);
  append(to, p.tree.nodes());
  for (const memory_operand& m : p.tree.memory())
    append_numbers(to, m.address % alignment, m.type, m.shape.row_stride, m.shape.column_stride, m.batch_stride);
}

}  // namespace troupe::cutlass
