// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <troupe/base/float4.hpp>
#include <troupe/epilogue/host/runs.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/matmul/host/ordered_factor.hpp>
#include <vector>

namespace troupe::matmul {
namespace {

constexpr std::int64_t part_elements = 1 << 15;  // numbers that a thread copies at a time

bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

bool has_codes(dtype t) noexcept { return bytes_of(t) == 1; }
// For each byte, the values of its two 4-bit codes; or twice the value of its 8-bit code.
template <class T>
using code_table = std::array<std::array<T, 2>, 256>;
template <class T>
code_table<T> make_table(dtype type) {
  code_table<T> out;
  for (unsigned i = 0; i < 256; ++i) {
    const auto code = static_cast<std::uint8_t>(i);
    if (type == dtype::f4e2m1x2) {
      const auto pair = float4_e2m1x2::from_bits(code);
      out[i] = {T(static_cast<float>(pair.first())), T(static_cast<float>(pair.second()))};
    } else {
      out[i][0] = out[i][1] = T(static_cast<float>(epilogue::number_at(&code, type)));
    }
  }
  return out;
}
template <class T>
const code_table<T>& table_of(dtype type) {
  static const code_table<T> e4m3 = make_table<T>(dtype::f8e4m3), e5m2 = make_table<T>(dtype::f8e5m2),
                             i8 = make_table<T>(dtype::i8), pairs = make_table<T>(dtype::f4e2m1x2);
  return type == dtype::f8e4m3 ? e4m3 : type == dtype::f8e5m2 ? e5m2 : type == dtype::i8 ? i8 : pairs;
}

template <class T>
void copy_each(const std::byte* from, std::int64_t stride, T* to, std::int64_t n) noexcept {
  const T* const at = reinterpret_cast<const T*>(from);
  if (stride == 1) return std::copy_n(at, n, to), void();
  for (std::int64_t i = 0; i < n; ++i) to[i] = at[i * stride];
}

template <class T>
void look_up(const code_table<T>& table, const std::byte* from, std::int64_t stride, std::size_t half, T* to,
             std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = table[static_cast<std::uint8_t>(from[i * stride])][half];
}
// Reads n numbers of a line of pairs. If n is odd, the second number of the last pair is left out.
template <class T>
void look_up_pairs(const code_table<T>& table, const std::byte* from, std::int64_t stride, T* to,
                   std::int64_t n) noexcept {
  for (std::int64_t i = 0; i < n; ++i) to[i] = table[static_cast<std::uint8_t>(from[i / 2 * stride])][i % 2];
}

}  // namespace

dtype multiplied_in(dtype a, dtype b, bool scaled) noexcept {
  if (scaled) return dtype::f32;
  if (is_half(a)) return a;
  if (is_half(b)) return b;
  // Half has every value of both 8-bit floats.
  return bytes_of(a) == 1 && a != dtype::i8 ? dtype::f16 : a;
}

bool is_ordered(const host_factor& f, const host_scales& s, dtype type) noexcept {
  if (f.type != type || s.data != nullptr) return false;
  if (std::max(f.line_stride, f.k_stride) > std::numeric_limits<std::int32_t>::max()) return false;
  return f.line_stride == 1 || f.k_stride == 1 || f.lines == 1 || f.k == 1;
}

ordered_factor::ordered_factor(const host_factor& f, const host_scales& s, dtype type, thread_team& team)
    : from_(f),
      scales_(s),
      type_(type),
      along_k_(f.lines == 1 || (f.k > 1 && f.k_stride <= f.line_stride)),
      runs_(along_k_ ? f.lines : f.k),
      length_(along_k_ ? f.k : f.lines),
      all_(new std::byte[bytes(f, type)]) {
  copy_all(team);
}

void ordered_factor::copy_all(thread_team& team) {
  switch (type_) {
    case dtype::f32:
      return copy<float>(team);
    case dtype::f16:
      return copy<half>(team);
    case dtype::bf16:
      return copy<bfloat16>(team);
    case dtype::i8:
      return copy<std::int8_t>(team);
    case dtype::f64:
      return copy<double>(team);
    case dtype::c64:
      return copy<complex64>(team);
    default:
      return copy<complex128>(team);
  }
}

host_factor ordered_factor::get() const noexcept {
  return {all_.get(), type_, from_.lines, from_.k, along_k_ ? length_ : 1, along_k_ ? 1 : length_};
}

ordered_factor::run ordered_factor::run_of(std::int64_t i) const noexcept {
  const bool pairs = from_.type == dtype::f4e2m1x2;
  const auto bytes = static_cast<std::int64_t>(bytes_of(from_.type));
  const auto* const data = static_cast<const std::byte*>(from_.data);
  if (along_k_) return {data + i * from_.line_stride * bytes, from_.k_stride, 0};
  return {data + i / (pairs ? 2 : 1) * from_.k_stride * bytes, from_.line_stride,
          static_cast<std::size_t>(pairs ? i % 2 : 0)};
}

template <class F>
void ordered_factor::for_each_run(thread_team& team, F&& f) const {
  team.spread(runs_, std::max<std::int64_t>(1, part_elements / length_), [&](std::int64_t i) { f(i, run_of(i)); });
}

template <class T>
void ordered_factor::copy(thread_team& team) {
  T* const all = reinterpret_cast<T*>(all_.get());
  const bool same = from_.type == type_, by_pairs = from_.type == dtype::f4e2m1x2 && along_k_;
  for_each_run(team, [&](std::int64_t i, const run& r) {
    T* const to = all + i * length_;
    constexpr bool widens = std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
    if constexpr (widens) {
      if (!same && by_pairs)
        look_up_pairs(table_of<T>(from_.type), r.from, r.stride, to, length_);
      else if (!same && has_codes(from_.type))
        look_up(table_of<T>(from_.type), r.from, r.stride, r.half, to, length_);
    }
    if (same) copy_each(r.from, r.stride, to, length_);
    if constexpr (std::is_same_v<T, float>) {
      if (!same && !has_codes(from_.type)) epilogue::host::read(from_.type, r.from, r.stride, to, length_);
      if (scales_.data != nullptr) scale(i, to);
    }
  });
}

void ordered_factor::scale(std::int64_t i, float* to) const {
  const std::int64_t block = along_k_ ? scales_.block_k : scales_.block_lines,
                     across = i / (along_k_ ? scales_.block_lines : scales_.block_k),
                     count = (length_ + block - 1) / block;
  const std::int64_t first = across * (along_k_ ? scales_.line_stride : scales_.k_stride);
  const auto* const from =
      static_cast<const std::byte*>(scales_.data) + first * static_cast<std::int64_t>(bytes_of(scales_.type));
  thread_local std::vector<float> all;
  all.resize(static_cast<std::size_t>(count));
  // The stride of a single scale may be any number, so it is not used.
  epilogue::host::read(scales_.type, from,
                       count == 1 ? 1
                       : along_k_ ? scales_.k_stride
                                  : scales_.line_stride,
                       all.data(), count);
  if (block == 1) {
    for (std::int64_t j = 0; j < length_; ++j) to[j] *= all[static_cast<std::size_t>(j)];
    return;
  }
  for (std::int64_t j = 0; j < count; ++j) {
    const float one = all[static_cast<std::size_t>(j)];
    for (std::int64_t k = j * block; k < std::min(length_, (j + 1) * block); ++k) to[k] *= one;
  }
}

}  // namespace troupe::matmul
