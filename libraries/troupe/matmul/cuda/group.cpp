// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <troupe/matmul/cuda/group.hpp>
#include <troupe/matmul/cuda/product_kind.hpp>
#include <troupe/request/encoding/codec.hpp>

namespace troupe::matmul {
namespace {

using epilogue::tree, epilogue::memory_operand;

// A fast hash of 64-bit words: it runs for each request in the mailbox.
class hasher {
 public:
  void add(std::uint64_t word) noexcept { h_ = (std::rotl(h_, 23) ^ word) * 0x9e3779b97f4a7c15; }
  void add(const matrix_shape& s) noexcept {
    for (const std::int64_t n : {s.rows, s.columns, s.row_stride, s.column_stride}) add(static_cast<std::uint64_t>(n));
  }
  // Adds the shape of a matrix.
  void add(const tensor_shape& s) noexcept {
    for (const std::size_t i : {0, 1}) {
      add(static_cast<std::uint64_t>(s.extents[i]));
      add(static_cast<std::uint64_t>(s.strides[i]));
    }
  }
  std::uint64_t number() const noexcept { return h_ ^ h_ >> 29; }

 private:
  std::uint64_t h_ = 0x243f6a8885a308d3;
};

template <class F>
bool same_shape(const F& x, const F& y) noexcept {
  if (x.type() != y.type() || x.shape().rank != y.shape().rank) return false;
  const batch_of_matrices a = matrices_of(x.shape()), b = matrices_of(y.shape());
  return a.one == b.one && a.count == b.count && (a.count == 1 || a.stride == b.stride);
}
bool same_numbers(std::span<const double> x, std::span<const double> y) noexcept {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  });
}

}  // namespace

std::uint64_t group_number(const multiplication& r) noexcept {
  const tree& t = r.epilogue.encoded();
  if (t.empty() || !is_small(r)) return 0;
  hasher h;
  std::array<std::uint64_t, payload_bytes<product_options> / sizeof(std::uint64_t)> options;
  encode(r.options, reinterpret_cast<std::byte*>(options.data()));
  for (const std::uint64_t word : options) h.add(word);
  h.add(static_cast<std::uint64_t>(r.a.type()) | static_cast<std::uint64_t>(r.b.type()) << 8 |
        static_cast<std::uint64_t>(r.d.type()) << 16);
  h.add(r.a.shape());
  h.add(r.b.shape());
  h.add(r.d.shape());
  for (const epilogue::node& n : t.nodes()) h.add(std::bit_cast<std::uint64_t>(n));
  for (const double x : t.numbers()) h.add(std::bit_cast<std::uint64_t>(x));
  for (const memory_operand& m : t.memory()) h.add(static_cast<std::uint64_t>(m.type)), h.add(m.shape);
  return std::max<std::uint64_t>(1, h.number());
}

bool differ_in_addresses_only(const multiplication& one, const multiplication& other) noexcept {
  const tree &t = one.epilogue.encoded(), &u = other.epilogue.encoded();
  return one.options == other.options && same_shape(one.a, other.a) && same_shape(one.b, other.b) &&
         same_shape(one.d, other.d) &&
         std::equal(t.nodes().begin(), t.nodes().end(), u.nodes().begin(), u.nodes().end()) &&
         same_numbers(t.numbers(), u.numbers()) &&
         std::equal(
             t.memory().begin(), t.memory().end(), u.memory().begin(), u.memory().end(),
             [](const memory_operand& a, const memory_operand& b) { return a.type == b.type && a.shape == b.shape; });
}

}  // namespace troupe::matmul
