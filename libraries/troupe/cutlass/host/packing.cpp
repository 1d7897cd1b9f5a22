// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <troupe/cutlass/host/packing.hpp>
#include <troupe/cutlass/packing_numbers.hpp>
#include <troupe/epilogue/host/runs.hpp>

namespace troupe::cutlass::host {
namespace {

constexpr std::int64_t at_once = 512;  // terms that are read together

std::byte* address_of(const factor& f, std::int64_t batch, std::int64_t line, std::int64_t element) noexcept {
  const std::int64_t at = batch * f.batch + line * f.line + element * f.term;
  return reinterpret_cast<std::byte*>(f.address) + at * static_cast<std::int64_t>(bytes_of(f.type));
}

// A line of a matrix that is packed.
struct line_of_terms {
  const pack_problem& p;
  std::int64_t batch, line;
  // Calls `use(first, terms, count)` for the terms [begin, end), 512 at a time.
  template <class F>
  void read(std::int64_t begin, std::int64_t end, F&& use) const {
    std::array<float, at_once> x;
    for (std::int64_t t = begin; t < end; t += at_once) {
      const std::int64_t n = std::min(at_once, end - t);
      epilogue::host::read(p.from.type, address_of(p.from, batch, line, t), p.from.term, x.data(), n);
      use(t, x.data(), n);
    }
  }
};

template <class T>
void put(const line_of_terms& l, std::int64_t term, T value) noexcept {
  std::memcpy(address_of(l.p.packed, l.batch, l.line, term), &value, sizeof value);
}

// Computes and stores the scale of a block. Returns the stored scale.
template <class T>
float find_scale(const line_of_terms& l, std::int64_t begin, std::int64_t end) {
  float largest = 0;
  l.read(begin, end, [&](std::int64_t, const float* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) largest = packing_numbers::larger_magnitude(largest, x[i]);
  });
  const float scale = packing_numbers::scale_of<T>(largest);
  const std::int64_t at =
      l.batch * l.p.by.batch_stride + l.line * l.p.by.line_stride + begin / l.p.block * l.p.by.k_stride;
  void* const to = reinterpret_cast<std::byte*>(l.p.by.address) + at * static_cast<std::int64_t>(bytes_of(l.p.by.type));
  epilogue::put_number(to, l.p.by.type, scale);
  return static_cast<float>(epilogue::number_at(to, l.p.by.type));
}

template <class T>
void quantize(const line_of_terms& l) {
  for (std::int64_t begin = 0; begin < l.p.terms; begin += l.p.block) {
    const std::int64_t end = std::min(begin + l.p.block, l.p.terms);
    const float scale = find_scale<T>(l, begin, end);
    l.read(begin, end, [&](std::int64_t first, const float* x, std::int64_t n) {
      if constexpr (std::is_same_v<T, float4_e2m1>) {
        for (std::int64_t i = 0; i < n; i += 2)
          put(l, (first + i) / 2,
              float4_e2m1x2(packing_numbers::quantized<T>(x[i], scale),
                            packing_numbers::quantized<T>(x[i + 1], scale)));
      } else {
        for (std::int64_t i = 0; i < n; ++i) put(l, first + i, packing_numbers::quantized<T>(x[i], scale));
      }
    });
  }
}

void pack_line(const line_of_terms& l) {
  switch (l.p.packed.type) {
    case dtype::i8:
      return quantize<std::int8_t>(l);
    case dtype::f8e4m3:
      return quantize<float8_e4m3>(l);
    case dtype::f8e5m2:
      return quantize<float8_e5m2>(l);
    case dtype::f4e2m1x2:
      return quantize<float4_e2m1>(l);
    default:
      return l.read(0, l.p.terms, [&](std::int64_t first, const float* x, std::int64_t n) {
        epilogue::host::write(l.p.packed.type, x, address_of(l.p.packed, l.batch, l.line, first), l.p.packed.term, n);
      });
  }
}

}  // namespace

void pack(const pack_problem& p, thread_team& team) {
  team.spread(p.batch * p.lines, std::max<std::int64_t>(1, 4096 / p.terms),
              [&](std::int64_t i) { pack_line({p, i / p.lines, i % p.lines}); });
}

}  // namespace troupe::cutlass::host
