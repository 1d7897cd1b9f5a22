// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <type_traits>

// XXH32 and XXH64 as functors with a common base of templates, for keys of any plain type.

namespace hashing {

using hash_value_32 = std::uint32_t;
using hash_value_64 = std::uint64_t;

template <typename T>
__device__ inline T rotate(T x, std::uint32_t r) { return (x << r) | (x >> (sizeof(T) * 8 - r)); }

template <typename Word>
struct primes;
template <>
struct primes<std::uint32_t> {
  static constexpr std::uint32_t p1 = 0x9e3779b1u, p2 = 0x85ebca77u, p3 = 0xc2b2ae3du, p4 = 0x27d4eb2fu, p5 = 0x165667b1u;
};
template <>
struct primes<std::uint64_t> {
  static constexpr std::uint64_t p1 = 11400714785074694791ull, p2 = 14029467366897019727ull, p3 = 1609587929392839161ull,
                                 p4 = 9650029242287828579ull, p5 = 2870177450012600261ull;
};

template <typename Key, typename Word>
class xxhash {
  static_assert(std::is_trivially_copyable<Key>::value, "keys are hashed by their bytes");
  using P = primes<Word>;
  static constexpr bool wide = sizeof(Word) == 8;
  static constexpr std::uint32_t of_round = wide ? 31 : 13;

 public:
  using argument_type = Key;
  using result_type = Word;

  __host__ __device__ constexpr xxhash(Word seed = 0) : seed_(seed) {}

  __device__ result_type operator()(Key const& key) const noexcept {
    return bytes(reinterpret_cast<std::byte const*>(&key), sizeof(Key));
  }

  __device__ result_type bytes(std::byte const* data, std::size_t size) const noexcept {
    std::byte const* const end = data + size;
    Word h;
    if (size >= 4 * sizeof(Word)) {
      Word v[4] = {static_cast<Word>(seed_ + P::p1 + P::p2), static_cast<Word>(seed_ + P::p2), seed_,
                   static_cast<Word>(seed_ - P::p1)};
      for (; data + 4 * sizeof(Word) <= end; data += 4 * sizeof(Word))
        for (int i = 0; i < 4; ++i) v[i] = round(v[i], load<Word>(data + i * sizeof(Word)));
      h = rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18);
      if constexpr (wide)
        for (Word x : v) h = (h ^ round(0, x)) * P::p1 + P::p4;
    } else {
      h = seed_ + P::p5;
    }
    h += size;
    if constexpr (wide) {
      for (; data + 8 <= end; data += 8) h = rotate(h ^ round(0, load<std::uint64_t>(data)), 27) * P::p1 + P::p4;
      if (data + 4 <= end) {
        h = rotate(h ^ load<std::uint32_t>(data) * P::p1, 23) * P::p2 + P::p3;
        data += 4;
      }
    } else {
      for (; data + 4 <= end; data += 4) h = rotate(h + load<std::uint32_t>(data) * P::p3, 17) * P::p4;
    }
    for (; data < end; ++data) {
      Word const one = std::to_integer<Word>(*data) * P::p5;
      h = wide ? rotate(h ^ one, 11) * P::p1 : rotate(h + one, 11) * P::p1;
    }
    h = (h ^ (h >> (wide ? 33 : 15))) * P::p2;
    h = (h ^ (h >> (wide ? 29 : 13))) * P::p3;
    return h ^ (h >> (wide ? 32 : 16));
  }

 private:
  template <typename T>
  __device__ static Word load(std::byte const* from) {
    T out;
    memcpy(&out, from, sizeof(T));
    return out;
  }
  __device__ static Word round(Word v, Word input) { return rotate(static_cast<Word>(v + input * P::p2), of_round) * P::p1; }

  Word seed_;
};

}  // namespace hashing

template <typename Key, typename Word>
__global__ void hash_each(Key const* keys, Word* out, int n, Word seed) {
  hashing::xxhash<Key, Word> hasher{seed};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = hasher(keys[i]);
}

template <typename Word>
__global__ void hash_strings(char const* text, int const* offsets, Word* out, int n, Word seed) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  hashing::xxhash<char, Word> hasher{seed};
  out[i] = hasher.bytes(reinterpret_cast<std::byte const*>(text + offsets[i]), offsets[i + 1] - offsets[i]);
}
