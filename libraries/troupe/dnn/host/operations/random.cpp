// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/dnn/host/operations/random.hpp>
#include <troupe/dnn/operations/random/generator.hpp>
#include <troupe/epilogue/host/elementary.hpp>

namespace troupe::dnn::host {
namespace {

constexpr std::int64_t words_per_counter = 4, piece = 256;

// The random word of each element. For normal numbers, which use two words, `first` and `second` are the element's
// pair.
struct words {
  std::uint32_t word[piece], first[piece], second[piece];
  std::uint32_t odd[piece];  // 1 if the element is the second of the two that share the pair
};

// Counters for Philox. It processes `wide` counters at a time, in vectors.
constexpr std::int64_t wide = 32;
struct counters {
  std::uint32_t a[wide], b[wide], c[wide], d[wide];
};
TROUPE_INLINE void multiply_rounds(std::uint64_t seed, counters& n) noexcept {
  auto k = static_cast<std::uint32_t>(seed), m = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < philox_rounds; ++round) {
    for (std::int64_t i = 0; i < wide; ++i) {
      const random_words next = philox_round({{n.a[i], n.b[i], n.c[i], n.d[i]}}, k, m);
      n.a[i] = next.word[0], n.b[i] = next.word[1], n.c[i] = next.word[2], n.d[i] = next.word[3];
    }
    k += philox_step_low, m += philox_step_high;
  }
}

// Computes the words of `count` consecutive counters. `to` must have space for the next multiple of `wide` counters.
TROUPE_FOR_EACH_PROCESSOR
void find_words(std::uint64_t seed, std::uint64_t counter, std::int64_t count, std::uint32_t* to) noexcept {
  for (std::int64_t first = 0; first < count; first += wide) {
    counters n;
    for (std::int64_t i = 0; i < wide; ++i) {
      const std::uint64_t at = counter + static_cast<std::uint64_t>(first + i);
      n.a[i] = static_cast<std::uint32_t>(at), n.b[i] = static_cast<std::uint32_t>(at >> 32), n.c[i] = n.d[i] = 0;
    }
    multiply_rounds(seed, n);
    std::uint32_t* const out = to + words_per_counter * first;
    for (std::int64_t i = 0; i < wide; ++i) {
      out[words_per_counter * i] = n.a[i], out[words_per_counter * i + 1] = n.b[i];
      out[words_per_counter * i + 2] = n.c[i], out[words_per_counter * i + 3] = n.d[i];
    }
  }
}
// Computes the words of elements whose stride is not 1. Each element has its own counter.
TROUPE_FOR_EACH_PROCESSOR
void find_strided_words(std::uint64_t seed, std::uint64_t n, std::uint64_t stride, std::int64_t count,
                        words& to) noexcept {
  for (std::int64_t first = 0; first < count; first += wide) {
    counters all;
    for (std::int64_t i = 0; i < wide; ++i) {
      const std::uint64_t at = (n + static_cast<std::uint64_t>(first + i) * stride) / words_per_counter;
      all.a[i] = static_cast<std::uint32_t>(at), all.b[i] = static_cast<std::uint32_t>(at >> 32),
      all.c[i] = all.d[i] = 0;
    }
    multiply_rounds(seed, all);
    for (std::int64_t i = 0; i < wide; ++i) {
      const auto at = static_cast<std::uint32_t>(n + static_cast<std::uint64_t>(first + i) * stride);
      const bool upper = (at & 2) != 0;
      const std::uint32_t one = upper ? all.c[i] : all.a[i], other = upper ? all.d[i] : all.b[i];
      to.first[first + i] = one, to.second[first + i] = other;
      to.odd[first + i] = at & 1, to.word[first + i] = (at & 1) != 0 ? other : one;
    }
  }
}

template <class N>
TROUPE_INLINE N normal(std::uint32_t first, std::uint32_t second, bool odd) noexcept {
  return normal_of<N>(first, second, odd);
}
template <>
TROUPE_INLINE float normal<float>(std::uint32_t first, std::uint32_t second, bool odd) noexcept {
  const float u = (static_cast<float>(static_cast<std::int32_t>(first >> 9)) + 0.5f) * 0x1p-23f;
  const turn<float> t = turn_of<float>(second);
  const std::uint32_t quarters = odd ? t.quarters + 3 : t.quarters;
  const float r = t.rest, z = r * r;  // |r| <= pi / 4
  const float sine = r + r * z * (-1.66666547e-1f + z * (8.33216087e-3f - z * 1.95152959e-4f));
  const float cosine = 1 - 0.5f * z + z * z * (4.16666457e-2f + z * (-1.38873163e-3f + z * 2.44331571e-5f));
  const float along = (quarters & 1) != 0 ? -sine : cosine, radius = std::sqrt(-2 * epilogue::host::fast_log(u));
  return (quarters & 2) != 0 ? -along * radius : along * radius;
}

template <class N>
TROUPE_INLINE void make_here(random_kind kind, std::uint32_t limit, const words& from, N* to, std::int64_t n) noexcept {
  if (kind == random_kind::uniform)
    for (std::int64_t i = 0; i < n; ++i) to[i] = uniform_of<N>(from.word[i]);
  else if (kind == random_kind::bernoulli)
    for (std::int64_t i = 0; i < n; ++i) to[i] = bernoulli_of<N>(from.word[i], limit);
  else
    for (std::int64_t i = 0; i < n; ++i) to[i] = normal<N>(from.first[i], from.second[i], from.odd[i] != 0);
}
TROUPE_FOR_EACH_PROCESSOR
void make_numbers(random_kind kind, std::uint32_t limit, const words& from, float* to, std::int64_t n) noexcept {
  make_here(kind, limit, from, to, n);
}
void make_numbers(random_kind kind, std::uint32_t limit, const words& from, double* to, std::int64_t n) noexcept {
  make_here(kind, limit, from, to, n);
}

// Stores the words of consecutive elements. `from` points to the word of the first one, which is element n of the
// sequence.
void take_words(bool is_normal, const std::uint32_t* from, std::uint64_t n, std::int64_t count, words& to) noexcept {
  if (!is_normal) return std::copy_n(from, count, to.word), void();
  const auto parity = static_cast<std::uint32_t>(n & 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t odd = (parity + static_cast<std::uint32_t>(i)) & 1;
    to.odd[i] = odd, to.first[i] = odd != 0 ? from[i - 1] : from[i], to.second[i] = odd != 0 ? from[i] : from[i + 1];
  }
}

template <class N>
void make_pieces(random_kind kind, std::uint64_t seed, std::uint32_t limit, std::uint64_t n, std::int64_t stride, N* to,
                 std::int64_t count) noexcept {
  words w;
  for (std::int64_t i = 0; i < count; i += piece) {
    const std::int64_t here = std::min(piece, count - i);
    const std::uint64_t first = n + static_cast<std::uint64_t>(i * stride);
    if (stride == 1) {
      std::array<std::uint32_t, piece + 2 * words_per_counter * wide> all;
      const auto before = static_cast<std::int64_t>(first % words_per_counter);
      find_words(seed, first / words_per_counter, (before + here + words_per_counter - 1) / words_per_counter,
                 all.data());
      take_words(kind == random_kind::normal, all.data() + before, first, here, w);
    } else {
      find_strided_words(seed, first, static_cast<std::uint64_t>(stride), here, w);
    }
    make_numbers(kind, limit, w, to + i, here);
  }
}

}  // namespace

random_sequence::random_sequence(const elementwise_kernel::sequence& s, const execution_context& on) noexcept
    : kind_(s.attributes.kind),
      seed_(s.attributes.seed),
      offset_(s.attributes.offset),
      limit_(bernoulli_limit(s.attributes.probability)) {
  if (!s.words) return;
  const auto word = [&, at = on.elements<const std::uint32_t>(*s.words)](std::int64_t i) {
    return std::uint64_t{at[i * s.words->shape.strides[0]]};
  };
  seed_ = word(0) | word(1) << 32;
  if (s.words->shape.extents[0] == 4) offset_ += word(2) | word(3) << 32;
}

void random_sequence::make(std::int64_t first, std::int64_t stride, float* to, std::int64_t n) const noexcept {
  make_pieces(kind_, seed_, limit_, offset_ + static_cast<std::uint64_t>(first), stride, to, n);
}
void random_sequence::make(std::int64_t first, std::int64_t stride, double* to, std::int64_t n) const noexcept {
  make_pieces(kind_, seed_, limit_, offset_ + static_cast<std::uint64_t>(first), stride, to, n);
}

}  // namespace troupe::dnn::host
