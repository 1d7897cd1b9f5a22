// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cutlass/variants/signature.hpp>
#include <utility>

namespace troupe::cutlass {

std::uint8_t alignment_of(std::initializer_list<std::int64_t> all) noexcept {
  std::uint64_t bits = 16;
  for (const std::int64_t n : all) bits |= static_cast<std::uint64_t>(n);
  return static_cast<std::uint8_t>(bits & (~bits + 1));
}

namespace {

using epilogue::node, epilogue::op;

factor_signature signature_of(const factor& f, const matmul::block_scales& s, std::int64_t batch) noexcept {
  const auto bytes = static_cast<std::int64_t>(bytes_of(f.type));
  factor_signature out{.type = f.type};
  const std::int64_t between = batch == 1 ? 0 : f.batch * bytes;
  const auto at = static_cast<std::int64_t>(f.address);
  if (f.term == 1)
    out.contiguous = contiguous_axis::k, out.alignment = alignment_of({at, f.line * bytes, between});
  else if (f.line == 1)
    out.contiguous = contiguous_axis::lines, out.alignment = alignment_of({at, f.term * bytes, between});
  else
    out.contiguous = contiguous_axis::none, out.alignment = static_cast<std::uint8_t>(bytes);
  // The tensor memory accelerator takes no negative strides. An alignment below 16 bytes excludes its use.
  if (f.line < 0 || f.term < 0 || between < 0) out.alignment = std::min<std::uint8_t>(out.alignment, 8);
  if (s.address != 0)
    out.scale_type = s.type, out.scale_block_k = static_cast<std::uint32_t>(s.block.k),
    out.scale_block_lines = static_cast<std::uint32_t>(s.block.lines);
  return out;
}

std::int8_t access_of(const placed_matrix& m, std::int64_t along, std::int64_t across) noexcept {
  if (along == 0) return -1;
  if (along != 1) return 0;
  const auto bytes = static_cast<std::int64_t>(bytes_of(m.type));
  return static_cast<std::int8_t>(
      alignment_of({static_cast<std::int64_t>(m.address), across * bytes, m.batch * bytes}));
}

signature_head head_of(const problem& p) noexcept {
  signature_head f;
  f.a = signature_of(p.a, p.a_scales, p.batch), f.b = signature_of(p.b, p.b_scales, p.batch);
  f.d = p.d.type, f.sums = p.sums;
  f.d_access = access_of(p.d, p.d.column, p.d.row), f.d_access_across = access_of(p.d, p.d.row, p.d.column);
  f.paired = p.paired, f.batched = p.batch > 1, f.grouped = p.groups.sizes == 0 ? 0 : p.groups.packed ? 1 : 2;
  if (p.paired) f.pair_alignment = alignment_of({p.n * static_cast<std::int64_t>(bytes_of(p.b.type))});
  f.precision = static_cast<std::uint8_t>(p.options.precision);
  f.accumulation = static_cast<std::uint8_t>(p.options.accumulation);
  return f;
}

template <class T>
void append(std::string& to, const T& x) {
  to.append(reinterpret_cast<const char*>(&x), sizeof x);
}

// Writes the normalized epilogue: see kernel_signature.
class normal_form {
 public:
  normal_form(const epilogue::tree& t, kernel_signature& to)
      : from_(t.nodes()), to_(to), new_index_(from_.size()), uses_(from_.size()) {
    for (const node& n : from_)
      for (std::size_t a = 0; a < epilogue::info(n.what).arguments; ++a) ++uses_[n.arguments[a]];
    if (!from_.empty()) ++uses_.back();
  }
  void write() {
    for (std::size_t i = 0; i < from_.size(); ++i) {
      const node& n = from_[i];
      if (may_have_factor(n) && uses_[i] == 1 && has_factor_after(i)) continue;  // written together with its factor
      if (n.what == op::number && only_factors(i)) continue;
      if (n.what == op::multiply) {
        const auto [x, y] = std::pair{n.arguments[0], n.arguments[1]};
        if (is_factored(x, y)) {
          new_index_[i] = put_factored(from_[x], from_[y].operand);
          continue;
        }
        if (is_factored(y, x)) {
          new_index_[i] = put_factored(from_[y], from_[x].operand);
          continue;
        }
      }
      new_index_[i] = may_have_factor(n) ? put_factored(n, kernel_signature::one) : put(n);
    }
  }

 private:
  static bool may_have_factor(const node& n) noexcept {
    return n.what == op::accumulator || n.what == op::left || n.what == op::right || n.what == op::load;
  }
  bool is_factored(std::size_t part, std::size_t number) const noexcept {
    return may_have_factor(from_[part]) && uses_[part] == 1 && from_[number].what == op::number;
  }
  bool has_factor_after(std::size_t part) const noexcept {
    return std::any_of(from_.begin(), from_.end(), [&](const node& n) {
      return n.what == op::multiply && ((n.arguments[0] == part && is_factored(part, n.arguments[1])) ||
                                        (n.arguments[1] == part && is_factored(part, n.arguments[0])));
    });
  }
  // Returns true if every use of a number is as the factor of a node that may have one.
  bool only_factors(std::size_t number) const noexcept {
    if (uses_[number] == 0 || number + 1 == from_.size()) return false;
    for (const node& n : from_)
      for (std::size_t a = 0; a < epilogue::info(n.what).arguments; ++a)
        if (n.arguments[a] == number && !(n.what == op::multiply && is_factored(n.arguments[1 - a], number)))
          return false;
    return true;
  }
  std::uint8_t put(node n) {
    for (std::size_t a = 0; a < epilogue::info(n.what).arguments; ++a) n.arguments[a] = new_index_[n.arguments[a]];
    if (n.what == op::number) n.operand = put_number(n.operand);
    to_.nodes.push_back(n);
    return static_cast<std::uint8_t>(to_.nodes.size() - 1);
  }
  std::uint8_t put_number(std::uint8_t source) {
    to_.numbers.push_back(source);
    return static_cast<std::uint8_t>(to_.numbers.size() - 1);
  }
  std::uint8_t put_factored(const node& part, std::uint8_t source) {
    const std::uint8_t x = put(part);
    node number{.what = op::number}, product{.what = op::multiply};
    number.operand = put_number(source);
    to_.nodes.push_back(number);
    product.arguments[0] = x, product.arguments[1] = static_cast<std::uint8_t>(x + 1);
    to_.nodes.push_back(product);
    return static_cast<std::uint8_t>(x + 2);
  }

  std::span<const node> from_;
  kernel_signature& to_;
  std::vector<std::uint8_t> new_index_, uses_;  // by node: its index in the result, and the number of its uses
};

// Returns the index of the first node whose operand is memory number `memory`.
std::size_t node_of(const epilogue::tree& t, std::size_t memory) noexcept {
  for (std::size_t i = 0; i < t.nodes().size(); ++i)
    if (epilogue::has_memory(t.nodes()[i].what) && t.nodes()[i].operand == memory) return i;
  return 0;
}

}  // namespace

kernel_signature signature_of(const problem& p) {
  kernel_signature out;
  out.head = head_of(p);
  normal_form(p.tree, out).write();
  for (std::size_t i = 0; i < p.tree.memory().size(); ++i) {
    out.node_of_memory.push_back(static_cast<std::uint8_t>(node_of(p.tree, i)));
    const placed_matrix m = p.memory(i, p.tree.nodes()[out.node_of_memory.back()]);
    out.memory.push_back({m.type, access_of(m, m.column, m.row)});
    out.memory_across.push_back({m.type, access_of(m, m.row, m.column)});
  }
  out.head.nodes = static_cast<std::uint32_t>(out.nodes.size());
  out.head.memories = static_cast<std::uint32_t>(out.memory.size());
  out.head.numbers = static_cast<std::uint32_t>(out.numbers.size());
  return out;
}

kernel_signature kernel_signature::swapped() const {
  kernel_signature out = *this;
  std::swap(out.head.a, out.head.b), std::swap(out.head.d_access, out.head.d_access_across);
  std::swap(out.memory, out.memory_across);
  return out;
}

kernel_signature kernel_signature::crossed() const {
  kernel_signature out = *this;
  std::swap(out.head.a, out.head.b);
  return out;
}

bool is_crossed(const signature_head& f, const plan& p) noexcept {
  return p.family == family::hopper && p.swapped == decision::yes && f.is_mixed();
}

kernel_signature signature_of_kernel(const kernel_signature& f, const plan& p) {
  return p.swapped != decision::yes ? f : is_crossed(f.head, p) ? f.crossed() : f.swapped();
}

void kernel_signature::write_key(std::string& to) const {
  append(to, head);
  to.append(reinterpret_cast<const char*>(nodes.data()), nodes.size() * sizeof(node));
  for (const auto* kinds : {&memory, &memory_across})
    for (const memory_kind& k : *kinds) append(to, k.type), append(to, k.access);
}

}  // namespace troupe::cutlass
