// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <string>

#include "source.hpp"

namespace troupe::foreign {

namespace {

using bytes = std::vector<unsigned char>;
using words = std::vector<std::uint32_t>;

bytes of(const std::string& text) { return {text.begin(), text.end()}; }
std::string hex(const bytes& b) {
  std::ostringstream out;
  for (const int v : b) out << std::hex << std::setw(2) << std::setfill('0') << v;
  return out.str();
}
std::uint32_t big_endian(const unsigned char* b) {
  return std::uint32_t{b[0]} << 24 | std::uint32_t{b[1]} << 16 | std::uint32_t{b[2]} << 8 | b[3];
}
bytes big_endian(const words& w) {
  bytes out;
  for (const std::uint32_t v : w)
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<unsigned char>(v >> shift));
  return out;
}
bytes little_endian(const words& w) {
  bytes out(4 * w.size());
  std::memcpy(out.data(), w.data(), out.size());
  return out;
}

/// The message padded with a one, zeros and its length in bits to a multiple of 64 bytes.
bytes padded(bytes m, bool big) {
  const std::uint64_t bits = 8 * m.size();
  m.push_back(0x80);
  while (m.size() % 64 != 56) m.push_back(0);
  for (int i = 0; i < 8; ++i) m.push_back(static_cast<unsigned char>(bits >> 8 * (big ? 7 - i : i)));
  return m;
}

std::vector<int> primes(int count) {
  std::vector<int> out;
  for (int p = 2; static_cast<int>(out.size()) < count; ++p)
    if (std::all_of(out.begin(), out.end(), [p](int q) { return p % q != 0; })) out.push_back(p);
  return out;
}
std::uint32_t fraction(long double v) { return static_cast<std::uint32_t>((v - std::floor(v)) * 0x1p32L); }
words fractions(int count, long double (*root)(long double)) {
  words out;
  for (const int p : primes(count)) out.push_back(fraction(root(p)));
  return out;
}
const words square_roots = fractions(8, std::sqrt), cube_roots = fractions(64, std::cbrt);

words sines() {
  words out;
  for (int i = 1; i <= 64; ++i) out.push_back(static_cast<std::uint32_t>(std::abs(std::sin(double(i))) * 0x1p32));
  return out;
}

bytes md5(const bytes& message) {
  const words k = sines();
  const int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  const int factors[] = {1, 5, 3, 7}, starts[] = {0, 1, 5, 0};
  words state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const bytes m = padded(message, false);
  for (std::size_t at = 0; at < m.size(); at += 64) {
    auto [a, b, c, d] = std::array{state[0], state[1], state[2], state[3]};
    for (int i = 0; i < 64; ++i) {
      const int r = i / 16;
      const std::uint32_t mixed = r == 0   ? (b & c) | (~b & d)
                                  : r == 1 ? (b & d) | (c & ~d)
                                  : r == 2 ? b ^ c ^ d
                                           : c ^ (b | ~d);
      std::uint32_t word = 0;
      std::memcpy(&word, &m[at + 4 * ((factors[r] * i + starts[r]) % 16)], 4);
      const std::uint32_t next = b + std::rotl(a + mixed + word + k[i], turns[r][i % 4]);
      a = std::exchange(d, std::exchange(c, std::exchange(b, next)));
    }
    state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
  }
  return little_endian(state);
}

bytes sha1(const bytes& message) {
  const std::uint32_t k[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
  words h{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const bytes m = padded(message, true);
  for (std::size_t at = 0; at < m.size(); at += 64) {
    words w;
    for (int i = 0; i < 16; ++i) w.push_back(big_endian(&m[at + 4 * i]));
    for (int i = 16; i < 80; ++i) w.push_back(std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1));
    words v = h;
    for (int i = 0; i < 80; ++i) {
      const std::uint32_t choice = v[3] ^ (v[1] & (v[2] ^ v[3])), majority = (v[1] & v[2]) ^ (v[3] & (v[1] ^ v[2]));
      const std::uint32_t mixed = i < 20 ? choice : i / 20 == 2 ? majority : v[1] ^ v[2] ^ v[3];
      v.insert(v.begin(), std::rotl(v[0], 5) + mixed + v[4] + k[i / 20] + w[i]);
      v[2] = std::rotl(v[2], 30);
      v.pop_back();
    }
    for (int i = 0; i < 5; ++i) h[i] += v[i];
  }
  return big_endian(h);
}

bytes sha256(const bytes& message) {
  words h = square_roots;
  const bytes m = padded(message, true);
  for (std::size_t at = 0; at < m.size(); at += 64) {
    words w, v = h;
    for (int i = 0; i < 64; ++i) {
      const auto shifted = [&](int back, int a, int b, int c) {
        return std::rotr(w[i - back], a) ^ std::rotr(w[i - back], b) ^ w[i - back] >> c;
      };
      w.push_back(i < 16 ? big_endian(&m[at + 4 * i])
                         : w[i - 16] + shifted(15, 7, 18, 3) + w[i - 7] + shifted(2, 17, 19, 10));
      const std::uint32_t one = v[7] + (std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25)) +
                                (v[6] ^ (v[4] & (v[5] ^ v[6]))) + cube_roots[i] + w[i];
      const std::uint32_t two =
          (std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22)) + ((v[0] & v[1]) | (v[2] & (v[0] | v[1])));
      v.insert(v.begin(), one + two);
      v[4] += one;
      v.pop_back();
    }
    for (int i = 0; i < 8; ++i) h[i] += v[i];
  }
  return big_endian(h);
}

/// The constant of each round: bits of a shift register.
std::vector<std::uint64_t> keccak_constants() {
  std::vector<std::uint64_t> out(24);
  unsigned r = 1;
  for (std::uint64_t& v : out)
    for (int j = 0; j < 7; ++j) {
      r = (r << 1 ^ (r >> 7) * 0x71) & 0xff;
      if ((r & 2) != 0) v |= std::uint64_t{1} << ((1 << j) - 1);
    }
  return out;
}

bytes keccak(bytes m, int digest_bytes, unsigned char suffix) {
  const std::size_t rate = 200 - 2 * digest_bytes;
  m.push_back(suffix);
  while (m.size() % rate != 0) m.push_back(0);
  m.back() |= 0x80;
  std::uint64_t a[5][5] = {}, b[5][5];  // a[y][x]
  for (std::size_t at = 0; at < m.size(); at += rate) {
    for (std::size_t i = 0; i < rate; ++i) a[i / 40][i / 8 % 5] ^= std::uint64_t{m[at + i]} << 8 * (i % 8);
    for (const std::uint64_t constant : keccak_constants()) {
      std::uint64_t column[5] = {};
      for (int i = 0; i < 25; ++i) column[i % 5] ^= a[i / 5][i % 5];
      for (int i = 0; i < 25; ++i) a[i / 5][i % 5] ^= column[(i + 4) % 5] ^ std::rotl(column[(i + 1) % 5], 1);
      b[0][0] = a[0][0];
      for (int x = 1, y = 0, t = 1, turn = 1; t <= 24; turn += ++t) {
        const int to = (2 * x + 3 * y) % 5;
        b[to][y] = std::rotl(a[y][x], turn % 64);
        x = std::exchange(y, to);
      }
      for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 5; ++x) a[y][x] = b[y][x] ^ (~b[y][(x + 1) % 5] & b[y][(x + 2) % 5]);
      a[0][0] ^= constant;
    }
  }
  bytes out(digest_bytes);
  std::memcpy(out.data(), a, out.size());
  return out;
}

const std::vector<std::string> blake_orders{
    "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
    "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0"};
bytes blake_table() {
  bytes out;
  for (const std::string& order : blake_orders)
    for (const char c : order) out.push_back(static_cast<unsigned char>(c <= '9' ? c - '0' : c - 'a' + 10));
  return out;
}
bytes blake2s(bytes m) {
  const bytes orders = blake_table();
  words h = square_roots;
  h[0] ^= 0x01010020;
  const std::size_t size = m.size();
  m.resize(std::max<std::size_t>(64, (size + 63) / 64 * 64));
  for (std::size_t at = 0; at < m.size(); at += 64) {
    const bool last = at + 64 == m.size();
    words v = h, w(16);
    std::memcpy(w.data(), &m[at], 64);
    v.insert(v.end(), square_roots.begin(), square_roots.end());
    v[12] ^= static_cast<std::uint32_t>(last ? size : at + 64);
    if (last) v[14] ^= ~0U;
    for (int i = 0; i < 80; ++i) {
      const int a = i % 4, turn = i % 8 < 4 ? 0 : 1;
      std::uint32_t &p = v[a], &q = v[4 + (a + turn) % 4], &r = v[8 + (a + 2 * turn) % 4],
                    &s = v[12 + (a + 3 * turn) % 4];
      for (int k = 0; k < 2; ++k) {
        p += q + w[orders[2 * i + k]];
        s = std::rotr(s ^ p, k == 0 ? 16 : 8);
        r += s;
        q = std::rotr(q ^ r, k == 0 ? 12 : 7);
      }
    }
    for (int i = 0; i < 8; ++i) h[i] ^= v[i] ^ v[i + 8];
  }
  return little_endian(h);
}

}  // namespace

FOREIGN_SOURCE(hashes, md5, .globals = {"sines"}) {
  expect_equal("reference", of(hex(md5(of("abc")))), of("900150983cd24fb0d6963f7d28e17f72"));
  const int count = 40;
  write_global("sines", sines());
  for (const unsigned length : {3U, 55U, 56U, 130U}) {
    auto messages = integers<unsigned char>(count * length, 0, 255);
    bytes expected, out(count * 16L);
    for (int i = 0; i < count; ++i) {
      const bytes one = md5({messages.begin() + i * length, messages.begin() + (i + 1) * length});
      expected.insert(expected.end(), one.begin(), one.end());
    }
    launch("md5_messages", {blocks(count, 32), 32}, messages, length, out, unsigned(count));
    expect_equal("digests", out, expected);
  }
}

FOREIGN_SOURCE(hashes, sha1, .globals = {"found_at", "found"}) {
  expect_equal("reference", of(hex(sha1(of("abc")))), of("a9993e364706816aba3e25717850c26c9cd0d89d"));
  const std::string alphabet = "abcdefghijklmnopqrstuvwxyz";
  const std::vector<char> letters(alphabet.begin(), alphabet.end());
  const int length = 3;
  const unsigned long long first = 1000, count = 500, secret = 1234;
  using digest = std::array<std::uint32_t, 5>;
  const auto digest_of = [&](unsigned long long number) {
    bytes password;
    for (int i = 0; i < length; ++i, number /= 26) password.push_back(alphabet[number % 26]);
    const bytes b = sha1(password);
    digest out;
    for (int i = 0; i < 5; ++i) out[i] = big_endian(&b[4L * i]);
    return out;
  };
  std::vector<digest> all(512);
  launch("search", {4, 128}, digest_of(secret), letters, 26, length, first, all);
  words got, expected;
  for (unsigned long long i = 0; i < count; ++i) {
    const digest d = digest_of(first + i);
    got.insert(got.end(), all[i].begin(), all[i].end());
    expected.insert(expected.end(), d.begin(), d.end());
  }
  expect_equal("digests", got, expected);
  expect_equal("found at", read_global<unsigned long long>("found_at", 1), {secret});
  expect_equal("found", read_global<char>("found", 1), {1});
}

FOREIGN_SOURCE(hashes, sha256, .globals = {"dev_k"}) {
  expect_equal("reference", of(hex(sha256(of("abc")))),
               of("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  const int count = 100;
  const std::uint32_t first = 0xffff0000;
  const auto header = integers<std::uint32_t>(19, 0, UINT32_MAX);
  bytes expected;
  std::uint64_t smallest = UINT64_MAX;
  for (int i = 0; i < count; ++i) {
    words block = header;
    block.push_back(first + i);
    const bytes digest = sha256(sha256(big_endian(block)));
    expected.insert(expected.end(), digest.begin(), digest.end());
    smallest = std::min(smallest, std::uint64_t{big_endian(digest.data())} << 32 | (first + i));
  }
  write_global("dev_k", cube_roots);
  struct alignas(16) four {
    std::uint32_t of[4];
  };
  std::vector<four> digests(2L * count);
  std::vector<unsigned long long> best{UINT64_MAX};
  launch("mine", {2, 64}, header, first, count, digests, best);
  words got;
  for (const four& d : digests) got.insert(got.end(), d.of, d.of + 4);
  expect_equal("digests", big_endian(got), expected);
  expect_equal("best", best, {smallest});
}

FOREIGN_SOURCE(hashes, keccak, .globals = {"round_constants"}) {
  expect_equal("reference", of(hex(keccak(of("abc"), 32, 6))),
               of("3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"));
  write_global("round_constants", keccak_constants());
  const int count = 20;
  for (const unsigned length : {5U, 135U, 136U, 300U})
    for (const unsigned bits : {256U, 512U}) {
      auto messages = integers<unsigned char>(count * length, 0, 255);
      const auto sha3 = static_cast<unsigned char>(length % 2);
      bytes expected, out(count * bits / 8);
      for (int i = 0; i < count; ++i) {
        const bytes one =
            keccak({messages.begin() + i * length, messages.begin() + (i + 1) * length}, bits / 8, sha3 != 0 ? 6 : 1);
        expected.insert(expected.end(), one.begin(), one.end());
      }
      launch("keccak_messages", {1, 32}, messages, length, out, unsigned(count), bits, sha3);
      expect_equal("digests", out, expected);
    }
}

FOREIGN_SOURCE(hashes, blake2s, .globals = {"orders"}) {
  expect_equal("reference", of(hex(blake2s(of("abc")))),
               of("508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"));
  const unsigned count = 100, first = 0x01fffff0;
  const auto header = integers<std::uint32_t>(20, 0, UINT32_MAX);
  bytes expected;
  for (unsigned i = 0; i < count; ++i) {
    bytes message = little_endian(header);
    const bytes counter = big_endian(words{first + i});
    std::copy(counter.begin(), counter.end(), message.end() - 4);
    const bytes digest = blake2s(message);
    expected.insert(expected.end(), digest.begin(), digest.end());
  }
  struct alignas(16) four {
    std::uint32_t of[4];
  };
  struct alignas(8) two {
    std::uint32_t of[2];
  };
  std::vector<four> in(5);
  std::memcpy(in.data(), header.data(), 80);
  std::vector<two> out(4L * count);
  write_global("orders", blake_table());
  launch("hash_headers", {2, 64}, count, first, in, out);
  words got;
  for (const two& t : out) got.insert(got.end(), t.of, t.of + 2);
  expect_equal("digests", little_endian(got), expected);
}

}  // namespace troupe::foreign
