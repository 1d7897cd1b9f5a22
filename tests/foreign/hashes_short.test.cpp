// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <cstring>

#include "source.hpp"

namespace troupe::foreign {

namespace {

using bytes = std::vector<unsigned char>;
using words = std::vector<std::uint32_t>;
using wide_words = std::vector<std::uint64_t>;

/// Returns `count` bytes as a little-endian number, with zeros past the end.
std::uint64_t little_endian(const bytes& b, std::size_t at, std::size_t count) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < count && at + i < b.size(); ++i) out |= std::uint64_t{b[at + i]} << 8 * i;
  return out;
}

std::uint64_t siphash(std::uint64_t k0, std::uint64_t k1, const bytes& m) {
  std::array v{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
  const auto half = [&v](int a, int b, int turn_a, int turn_b) {
    v[a] += v[b];
    v[b] = std::rotl(v[b], turn_b) ^ v[a];
    v[a] = std::rotl(v[a], turn_a);
  };
  const auto rounds = [&](int count) {
    while (count-- > 0) {
      half(0, 1, 32, 13);
      half(2, 3, 0, 16);
      half(2, 1, 32, 17);
      half(0, 3, 0, 21);
    }
  };
  for (std::size_t at = 0; at <= m.size(); at += 8) {
    const std::uint64_t w = little_endian(m, at, 8) | (at + 8 > m.size() ? std::uint64_t{m.size()} << 56 : 0);
    v[3] ^= w;
    rounds(2);
    v[0] ^= w;
  }
  v[2] ^= 0xff;
  rounds(4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

std::array<std::uint64_t, 2> murmur(const bytes& m, std::uint32_t seed) {
  const std::array<std::uint64_t, 2> c{0x87c37b91114253d5, 0x4cf5ad432745937f};
  std::array<std::uint64_t, 2> h{seed, seed};
  for (std::size_t at = 0; at < m.size(); at += 16)
    for (int i : {0, 1}) {
      h[i] ^= std::rotl(little_endian(m, at + 8 * i, 8) * c[i], i == 0 ? 31 : 33) * c[1 - i];
      if (at + 16 <= m.size())
        h[i] = (std::rotl(h[i], i == 0 ? 27 : 31) + h[1 - i]) * 5 + (i == 0 ? 0x52dce729 : 0x38495ab5);
    }
  for (std::uint64_t& v : h) v ^= m.size();
  h[0] += h[1];
  h[1] += h[0];
  for (std::uint64_t& v : h) {
    v = (v ^ v >> 33) * 0xff51afd7ed558ccd;
    v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53;
    v ^= v >> 33;
  }
  h[0] += h[1];
  h[1] += h[0];
  return h;
}

std::uint32_t xxh32(const bytes& m, std::uint32_t seed) {
  const std::uint32_t p[] = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1};
  std::uint32_t v[] = {seed + p[0] + p[1], seed + p[1], seed, seed - p[0]}, h = 0;
  std::size_t at = 0;
  for (; at + 16 <= m.size(); at += 16)
    for (int i = 0; i < 4; ++i)
      v[i] = std::rotl(v[i] + static_cast<std::uint32_t>(little_endian(m, at + 4 * i, 4)) * p[1], 13) * p[0];
  const int turns[] = {1, 7, 12, 18};
  for (int i = 0; i < 4; ++i) h += std::rotl(v[i], turns[i]);
  if (m.size() < 16) h = seed + p[4];
  h += static_cast<std::uint32_t>(m.size());
  for (; at + 4 <= m.size(); at += 4)
    h = std::rotl(h + static_cast<std::uint32_t>(little_endian(m, at, 4)) * p[2], 17) * p[3];
  for (; at < m.size(); ++at) h = std::rotl(h + m[at] * p[4], 11) * p[0];
  h = (h ^ h >> 15) * p[1];
  h = (h ^ h >> 13) * p[2];
  return h ^ h >> 16;
}

std::uint64_t xxh64(const bytes& m, std::uint64_t seed) {
  const std::uint64_t p[] = {0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0x85ebca77c2b2ae63,
                             0x27d4eb2f165667c5};
  const auto stirred = [&p](std::uint64_t v, std::uint64_t word) { return std::rotl(v + word * p[1], 31) * p[0]; };
  std::uint64_t v[] = {seed + p[0] + p[1], seed + p[1], seed, seed - p[0]}, h = 0;
  std::size_t at = 0;
  for (; at + 32 <= m.size(); at += 32)
    for (int i = 0; i < 4; ++i) v[i] = stirred(v[i], little_endian(m, at + 8 * i, 8));
  const int turns[] = {1, 7, 12, 18};
  for (int i = 0; i < 4; ++i) h += std::rotl(v[i], turns[i]);
  for (const std::uint64_t one : v) h = (h ^ stirred(0, one)) * p[0] + p[3];
  if (m.size() < 32) h = seed + p[4];
  h += m.size();
  for (; at + 8 <= m.size(); at += 8) h = std::rotl(h ^ stirred(0, little_endian(m, at, 8)), 27) * p[0] + p[3];
  for (; at + 4 <= m.size(); at += 4) h = std::rotl(h ^ little_endian(m, at, 4) * p[0], 23) * p[1] + p[2];
  for (; at < m.size(); ++at) h = std::rotl(h ^ m[at] * p[4], 11) * p[0];
  h = (h ^ h >> 33) * p[1];
  h = (h ^ h >> 29) * p[2];
  return h ^ h >> 32;
}

std::uint32_t crc32(const bytes& m) {
  std::uint32_t crc = ~0U;
  for (const unsigned char b : m)
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (((crc ^ b >> bit) & 1) != 0 ? 0xedb88320 : 0);
  return ~crc;
}

/// AES with a key of 16 bytes, as the standard defines it.
struct aes {
  bytes box = bytes(256), keys;

  static int times(int a, int b) {
    int out = 0;
    for (; b != 0; b >>= 1, a = a << 1 ^ (a & 0x80 ? 0x11b : 0))
      if ((b & 1) != 0) out ^= a;
    return out;
  }
  explicit aes(const bytes& key) : keys(key) {
    for (int a = 0; a < 256; ++a) {
      int inverse = 0;
      for (int b = 1; b < 256; ++b)
        if (times(a, b) == 1) inverse = b;
      for (int i = 0; i < 8; ++i) {
        int bit = 0;
        for (const int from : {0, 4, 5, 6, 7}) bit ^= inverse >> (i + from) % 8 & 1;
        box[a] |= static_cast<unsigned char>(bit << i);
      }
      box[a] ^= 0x63;
    }
    for (int i = 16, round = 1; i < 176; ++i) {
      int v = keys[i - 4];
      if (i % 16 < 4) {
        v = box[keys[i - 4 + (i % 4 == 3 ? -3 : 1) - 0]];
        if (i % 16 == 0) {
          v ^= round;
          round = times(round, 2);
        }
      }
      keys.push_back(keys[i - 16] ^ static_cast<unsigned char>(v));
    }
  }
  bytes encrypted(bytes s) const {
    for (int i = 0; i < 16; ++i) s[i] ^= keys[i];
    for (int round = 1; round <= 10; ++round) {
      bytes moved(16), mixed(16);
      for (int i = 0; i < 16; ++i) moved[i] = box[s[(i + 4 * (i % 4)) % 16]];
      for (int i = 0; i < 16; ++i) {
        const auto row = [&](int by) { return moved[i / 4 * 4 + (i + by) % 4]; };
        mixed[i] = static_cast<unsigned char>(times(row(0), 2) ^ times(row(1), 3) ^ row(2) ^ row(3));
      }
      s = round < 10 ? mixed : moved;
      for (int i = 0; i < 16; ++i) s[i] ^= keys[16 * round + i];
    }
    return s;
  }
};

struct four_bytes {
  unsigned char of[4];
};
std::vector<four_bytes> columns(const bytes& b) {
  std::vector<four_bytes> out(b.size() / 4);
  std::memcpy(out.data(), b.data(), b.size());
  return out;
}

}  // namespace

FOREIGN_SOURCE(hashes, aes, .globals = {"sbox_table"}) {
  bytes key, text;
  for (int i = 0; i < 16; ++i) {
    key.push_back(static_cast<unsigned char>(i));
    text.push_back(static_cast<unsigned char>(17 * i));
  }
  expect_equal("reference", aes(key).encrypted(text),
               bytes{0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a});
  const aes with(integers<unsigned char>(16, 0, 255));
  bytes box(256);
  launch("make_sbox", {1, 256}, box);
  expect_equal("box", box, with.box);
  write_global("sbox_table", box);
  const int count = 50;
  const auto plain = integers<unsigned char>(count * 16L, 0, 255);
  bytes expected, got(count * 16L);
  for (int i = 0; i < count; ++i) {
    const bytes one = with.encrypted({plain.begin() + 16L * i, plain.begin() + 16L * (i + 1)});
    expected.insert(expected.end(), one.begin(), one.end());
  }
  std::vector<four_bytes> out(count * 4L);
  launch("AESEncrypt", {blocks(count * 4, 64), 64, 64 * 4}, out, columns(plain), columns(with.keys), count * 4);
  std::memcpy(got.data(), out.data(), got.size());
  expect_equal("encrypted", got, expected);
}

FOREIGN_SOURCE(hashes, crc32, .globals = {"crc_table"}) {
  expect_equal("reference", words{crc32({'1', '2', '3', '4', '5', '6', '7', '8', '9'})}, {0xcbf43926});
  const std::size_t length = 5003, part = 256;
  const int parts = blocks(length, part);
  const auto text = integers<char>(length, -128, 127);
  const bytes all(text.begin(), text.end());
  words expected, got(parts), whole(1);
  for (std::size_t at = 0; at < length; at += part)
    expected.push_back(crc32({all.begin() + at, all.begin() + std::min(length, at + part)}));
  launch("make_tables", {1, 256});
  launch("crc_parts", {1, 32}, text, length, part, got);
  expect_equal("parts", got, expected);
  launch("combine", {1, 1}, got, parts, part, length, whole);
  expect_equal("together", whole, {crc32(all)});
}

FOREIGN_SOURCE(hashes, jenkins) {
  const int n = 100;
  const auto keys = integers<std::uint32_t>(n * 16L, 0, UINT32_MAX), seeds = integers<std::uint32_t>(n, 0, UINT32_MAX);
  const auto lengths = integers<std::uint32_t>(n, 0, 16);
  words expected, out(n);
  for (int i = 0; i < n; ++i) {
    words v(3, 0xdeadbeef + 4 * lengths[i] + seeds[i]);
    std::uint32_t at = 0;
    for (; lengths[i] - at > 3; at += 3) {
      for (int k = 0; k < 3; ++k) v[k] += keys[16 * i + at + k];
      const int turns[] = {4, 6, 8, 16, 19, 4};
      for (int k = 0; k < 6; ++k) {
        std::uint32_t &x = v[k % 3], &y = v[(k + 1) % 3], &z = v[(k + 2) % 3];
        x = (x - z) ^ std::rotl(z, turns[k]);
        z += y;
      }
    }
    if (lengths[i] > 0) {
      for (std::uint32_t k = 0; k < lengths[i] - at; ++k) v[k] += keys[16 * i + at + k];
      const int turns[] = {14, 11, 25, 16, 4, 14, 24};
      for (int k = 0; k < 7; ++k) {
        std::uint32_t &x = v[(k + 2) % 3], &y = v[(k + 1) % 3];
        x = (x ^ y) - std::rotl(y, turns[k]);
      }
    }
    expected.push_back(v[2]);
  }
  launch("hash_all", {blocks(n, 64), 64}, keys, lengths, seeds, out, n);
  expect_equal("hashes", out, expected);
}

FOREIGN_SOURCE(hashes, murmur3) {
  const unsigned n = 80;
  words places, lengths;
  bytes keys;
  wide_words expected, out(2 * n);
  for (unsigned i = 0; i < n; ++i) {
    places.push_back(static_cast<std::uint32_t>(keys.size()));
    lengths.push_back(i % 53);
    const auto key = integers<unsigned char>(i % 53, 0, 255);
    const auto h = murmur(key, i);
    expected.insert(expected.end(), h.begin(), h.end());
    keys.insert(keys.end(), key.begin(), key.end());
    keys.resize((keys.size() + 15) / 16 * 16);
  }
  launch("hash_keys", {1, 256}, keys, places, lengths, out, n);
  expect_equal("hashes", out, expected);
}

FOREIGN_SOURCE(hashes, siphash) {
  bytes counted;
  for (unsigned char i = 0; i < 15; ++i) counted.push_back(i);
  expect_equal("reference", wide_words{siphash(0x0706050403020100, 0x0f0e0d0c0b0a0908, counted)}, {0xa129ca6149be45e5});
  struct keys {
    std::uint64_t k0, k1;
  };
  struct alignas(16) four {
    std::uint64_t of[4];
  };
  const keys k{0x0123456789abcdef, 0xfedcba9876543210};
  const int count = 100;
  const std::uint64_t mask = (1 << 20) - 1;
  std::vector<four> ends(count);
  launch("ends_of_edges", {1, 64}, k, ends, mask, count);
  wide_words got, expected;
  for (std::uint64_t i = 0; i < 4 * count; ++i) {
    bytes m(8);
    std::memcpy(m.data(), &i, 8);
    got.push_back(ends[i / 4].of[i % 4]);
    expected.push_back(siphash(k.k0, k.k1, m) & mask);
  }
  expect_equal("ends", got, expected);

  const auto text = integers<unsigned char>(40, 0, 255);
  wide_words hashes(40), of_rest;
  for (int i = 0; i < 40; ++i) of_rest.push_back(siphash(k.k0, k.k1, {text.begin() + i, text.end()}));
  launch("texts", {1, 40}, std::vector<keys>{k}, text, 40, hashes);
  expect_equal("texts", hashes, of_rest);
}

FOREIGN_SOURCE(hashes, xxhash,
               .kernels = {"hash_each<int, unsigned>", "hash_each<double, std::uint64_t>", "hash_strings<unsigned>",
                           "hash_strings<std::uint64_t>"}) {
  const bytes abc{'a', 'b', 'c'};
  expect_equal("reference", words{xxh32(abc, 0)}, {0x32d153ff});
  expect_equal("reference", wide_words{xxh64(abc, 0)}, {0x44bc2cf5ad770999});
  const int n = 100;
  const auto numbers = integers(n, INT32_MIN, INT32_MAX);
  const auto reals = doubles(n);
  const auto bytes_of = [](const auto& v) {
    bytes out(sizeof v);
    std::memcpy(out.data(), &v, sizeof v);
    return out;
  };
  words of_numbers, narrow(n);
  wide_words of_reals, wide(n);
  for (int i = 0; i < n; ++i) {
    of_numbers.push_back(xxh32(bytes_of(numbers[i]), 5));
    of_reals.push_back(xxh64(bytes_of(reals[i]), 6));
  }
  launch("hash_each<int, unsigned>", {1, 32}, numbers, narrow, n, 5U);
  expect_equal("of int", narrow, of_numbers);
  launch("hash_each<double, std::uint64_t>", {1, 32}, reals, wide, n, std::uint64_t{6});
  expect_equal("of double", wide, of_reals);

  std::vector<int> offsets{0};
  for (int i = 0; i < n; ++i) offsets.push_back(offsets.back() + i);
  const auto text = integers<char>(offsets.back(), -128, 127);
  for (int i = 0; i < n; ++i) {
    const bytes one(text.begin() + offsets[i], text.begin() + offsets[i + 1]);
    of_numbers[i] = xxh32(one, 1);
    of_reals[i] = xxh64(one, 2);
  }
  launch("hash_strings<unsigned>", {1, 128}, text, offsets, narrow, n, 1U);
  expect_equal("narrow", narrow, of_numbers);
  launch("hash_strings<std::uint64_t>", {1, 128}, text, offsets, wide, n, std::uint64_t{2});
  expect_equal("wide", wide, of_reals);
}

}  // namespace troupe::foreign
