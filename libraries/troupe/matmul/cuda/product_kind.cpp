// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>
#include <troupe/matmul/cuda/product_kind.hpp>
#include <troupe/request/encoding/codec.hpp>
#include <vector>

namespace troupe::matmul {
namespace {

using epilogue::tree, epilogue::memory_operand;

template <class V>
void append(std::string& to, const V& value) {
  static_assert(std::has_unique_object_representations_v<V>);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Returns true if our own kernel computes products with these extents.
bool is_small(std::int64_t m, std::int64_t n, std::int64_t k, std::span<const epilogue::node> nodes) noexcept {
  constexpr std::int64_t longest = 256, most_work = 64 * 64 * 64;
  if (m == 0 || n == 0 || m > longest || n > longest || k > longest || m * n * k > most_work) return false;
  return std::none_of(nodes.begin(), nodes.end(), [](const epilogue::node& one) {
    return one.what == epilogue::op::reduce || one.what == epilogue::op::left || one.what == epilogue::op::right;
  });
}

}  // namespace

product_kind::product_kind(const multiplication& r, const problem& p)
    : options(r.options), product(p), a(r.a.type()), b(r.b.type()), tree([&] {
        const epilogue::tree& t = r.epilogue.encoded();
        std::vector<memory_operand> memory(t.memory().begin(), t.memory().end());
        // Replaces each address by a different one with the same alignment. Operands that are D keep the address of D.
        std::uint64_t next = 0;
        const auto replace = [&next](std::uint64_t& address) { address = ++next << 10 | alignment_of(address); };
        for (stored_matrix* m : {&product.a, &product.b, &product.d}) replace(m->address);
        for (memory_operand& m : memory)
          if (m.address == p.d.address)
            m.address = product.d.address;
          else
            replace(m.address);
        for (block_scales* s : {&product.a_scales, &product.b_scales})
          if (s->address != 0) s->address = 256;
        return epilogue::rebound_tree(t, memory, std::vector<double>(t.numbers().size(), 1.0));
      }()) {}

bool is_small(const product_kind& kind) noexcept {
  const problem& p = kind.product;
  return p.batch == 1 && !p.has_scales() && is_small(p.m, p.n, p.k, kind.tree.get().nodes());
}

bool is_small(const multiplication& r) noexcept {
  const tensor_shape &a = r.a.shape(), &b = r.b.shape(), &d = r.d.shape();
  if (a.rank != 2 || b.rank != 2 || d.rank != 2 || r.a_scales) return false;
  return is_small(a.extents[0], b.extents[1], a.extents[1], r.epilogue.encoded().nodes());
}

void write_key(std::string& to, const multiplication& r, const problem& p) {
  const tree& t = r.epilogue.encoded();
  to.clear();
  for (const stored_matrix* m : {&p.a, &p.b, &p.d})
    append(to, std::array<std::int64_t, 7>{static_cast<std::int64_t>(m->type), m->rows, m->columns, m->ld, m->stride,
                                           m->transposed, alignment_of(m->address)});
  to.resize(to.size() + payload_bytes<product_options>);
  encode(r.options, reinterpret_cast<std::byte*>(to.data() + to.size() - payload_bytes<product_options>));
  append(to, std::array<std::int64_t, 3>{p.batch, p.transposed, static_cast<std::int64_t>(t.nodes().size())});
  for (const block_scales* b : {&p.a_scales, &p.b_scales})
    append(to, std::array<std::int64_t, 5>{static_cast<std::int64_t>(b->type), b->block.lines, b->k_stride,
                                           b->line_stride, b->batch_stride});
  for (const epilogue::node& n : t.nodes()) append(to, n);
  for (const memory_operand& m : t.memory())
    append(to, std::array<std::int64_t, 7>{static_cast<std::int64_t>(m.type), m.shape.row_stride, m.shape.column_stride,
                                           m.batch_stride, alignment_of(m.address), m.address == p.d.address,
                                           static_cast<std::int64_t>(m.mode)});
}

}  // namespace troupe::matmul
