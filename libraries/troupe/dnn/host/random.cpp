// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/dnn/generator.hpp>
#include <troupe/dnn/host/random.hpp>
#include <troupe/epilogue/host/elementary.hpp>

namespace troupe::dnn::host {
namespace {

constexpr std::int64_t of_a_counter = 4, piece = 256;

// The words of elements, and of normal numbers the pair that each is made of.
struct words {
  std::array<std::uint32_t, piece> word, first, second;
  std::array<std::uint32_t, piece> odd;  // 1: the second of its pair
};

// The numbers of whole counters.
TROUPE_FOR_EACH_PROCESSOR
void find_words(std::uint64_t seed, std::uint64_t counter, std::int64_t counters, std::uint32_t* to) noexcept {
  for (std::int64_t i = 0; i < counters; ++i) {
    const random_words r = philox(seed, counter + static_cast<std::uint64_t>(i));
    to[of_a_counter * i] = r.word[0], to[of_a_counter * i + 1] = r.word[1];
    to[of_a_counter * i + 2] = r.word[2], to[of_a_counter * i + 3] = r.word[3];
  }
}
// The same for elements anywhere: each has its own counter.
TROUPE_FOR_EACH_PROCESSOR
void find_words_apart(std::uint64_t seed, std::uint64_t n, std::uint64_t step, std::int64_t count, words& to) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t at = n + static_cast<std::uint64_t>(i) * step;
    const random_words r = philox(seed, at >> 2);
    const bool upper = (at & 2) != 0, odd = (at & 1) != 0;
    const auto k = static_cast<std::size_t>(i);
    const std::uint32_t first = upper ? r.word[2] : r.word[0], second = upper ? r.word[3] : r.word[1];
    to.first[k] = first, to.second[k] = second;
    to.word[k] = odd ? second : first, to.odd[k] = odd;
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
  const std::uint32_t *const word = from.word.data(), *const first = from.first.data(),
                             *const second = from.second.data(), *const odd = from.odd.data();
  if (kind == random_kind::uniform)
    for (std::int64_t i = 0; i < n; ++i) to[i] = uniform_of<N>(word[i]);
  else if (kind == random_kind::bernoulli)
    for (std::int64_t i = 0; i < n; ++i) to[i] = bernoulli_of<N>(word[i], limit);
  else
    for (std::int64_t i = 0; i < n; ++i) to[i] = normal<N>(first[i], second[i], odd[i] != 0);
}
TROUPE_FOR_EACH_PROCESSOR
void make_numbers(random_kind kind, std::uint32_t limit, const words& from, float* to, std::int64_t n) noexcept {
  make_here(kind, limit, from, to, n);
}
void make_numbers(random_kind kind, std::uint32_t limit, const words& from, double* to, std::int64_t n) noexcept {
  make_here(kind, limit, from, to, n);
}

// The words of neighbours, `from` of which belongs to element n.
void take_words(bool is_normal, const std::uint32_t* from, std::uint64_t n, std::int64_t count, words& to) noexcept {
  if (!is_normal) return std::copy_n(from, count, to.word.data()), void();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::uint32_t odd = (n + k) & 1;
    to.odd[k] = odd, to.first[k] = from[i - odd], to.second[k] = from[i + 1 - odd];
  }
}

template <class N>
void make_pieces(random_kind kind, std::uint64_t seed, std::uint32_t limit, std::uint64_t n, std::int64_t step, N* to,
                 std::int64_t count) noexcept {
  words w;
  for (std::int64_t i = 0; i < count; i += piece) {
    const std::int64_t here = std::min(piece, count - i);
    const std::uint64_t first = n + static_cast<std::uint64_t>(i * step);
    if (step == 1) {
      std::array<std::uint32_t, piece + 2 * of_a_counter> all;
      const auto before = static_cast<std::int64_t>(first % of_a_counter);
      find_words(seed, first / of_a_counter, (before + here + of_a_counter - 1) / of_a_counter, all.data());
      take_words(kind == random_kind::normal, all.data() + before, first, here, w);
    } else {
      find_words_apart(seed, first, static_cast<std::uint64_t>(step), here, w);
    }
    make_numbers(kind, limit, w, to + i, here);
  }
}

}  // namespace

random_sequence::random_sequence(const pass::sequence& s, const workspace& w) noexcept
    : kind_(s.numbers.kind),
      seed_(s.numbers.seed),
      offset_(s.numbers.offset),
      limit_(bernoulli_limit(s.numbers.probability)) {
  if (!s.words) return;
  const auto word = [&, at = w.numbers<const std::uint32_t>(*s.words)](std::int64_t i) {
    return std::uint64_t{at[i * s.words->shape.strides[0]]};
  };
  seed_ = word(0) | word(1) << 32;
  if (s.words->shape.extents[0] == 4) offset_ += word(2) | word(3) << 32;
}

void random_sequence::make(std::int64_t first, std::int64_t step, float* to, std::int64_t n) const noexcept {
  make_pieces(kind_, seed_, limit_, offset_ + static_cast<std::uint64_t>(first), step, to, n);
}
void random_sequence::make(std::int64_t first, std::int64_t step, double* to, std::int64_t n) const noexcept {
  make_pieces(kind_, seed_, limit_, offset_ + static_cast<std::uint64_t>(first), step, to, n);
}

}  // namespace troupe::dnn::host
