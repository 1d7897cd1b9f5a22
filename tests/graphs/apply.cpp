// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Computes the requests of `flow` in the simplest way, on plain memory.
#include <algorithm>
#include <cstring>

#include "interpreter.hpp"

namespace graph_test {
namespace {

using troupe::access_mode;

std::uint32_t word(std::span<const std::byte> bytes, std::size_t i) {
  std::uint32_t w;
  std::memcpy(&w, bytes.data() + 4 * i, 4);
  return w;
}
void put(std::span<std::byte> bytes, std::size_t i, std::uint32_t w) { std::memcpy(bytes.data() + 4 * i, &w, 4); }

}  // namespace

std::string interpreter::answer_of(const step& s, const outcome& o) {
  const auto differs = [](std::span<const std::byte> got, std::span<const std::byte> expected) -> std::string {
    if (got.size() != expected.size())
      return std::to_string(got.size()) + " bytes arrived; expected " + std::to_string(expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] != expected[i])
        return "byte " + std::to_string(i) + " of " + std::to_string(got.size()) + " is " +
               std::to_string(static_cast<int>(got[i])) + "; expected " + std::to_string(static_cast<int>(expected[i]));
    return {};
  };
  if (s.what == kind::download) return differs(o.data, at(s.a));
  if (s.what == kind::ping) return o.reply == s.value ? std::string() : "another value came back";
  if (s.what == kind::hash) {
    std::uint64_t h = 0xcbf29ce484222325ull;
    for (const std::byte b : at(s.a)) h = (h ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3ull;
    return o.reply == h ? std::string() : "the hash is " + std::to_string(o.reply) + "; expected " + std::to_string(h);
  }
  if (s.what == kind::look) {
    bool definite;
    const bool good = stain_of({{s.a, access_mode::read}}, true, definite).causes.empty();
    if (good && o.reply == 0) return "the buffer is stale, but nothing has spoiled it: " + o.why->to_string();
    if (definite && o.reply != 0) return "the buffer is valid, but was spoiled";
    return good && !o.data.empty() ? differs(o.data, at(s.a)) : std::string();
  }
  return {};
}

void interpreter::apply(const step& s) {
  const auto factor = static_cast<std::uint32_t>(s.value | 1);
  switch (s.what) {
    case kind::upload: {
      const std::vector<std::byte> data = pattern(s.value, s.b.bytes);
      std::copy(data.begin(), data.end(), at(s.b).begin());
      break;
    }
    case kind::copy:
      std::copy(at(s.a).begin(), at(s.a).end(), at(s.b).begin());
      break;
    case kind::slide: {
      const std::vector<std::byte> from(at(s.a).begin(), at(s.a).end());
      for (std::size_t i = 0; i < from.size(); ++i)
        at(s.b)[i] = static_cast<std::byte>(std::to_integer<unsigned>(from[i]) + 1);
      break;
    }
    case kind::copy_2d:
    case kind::tile:
      for (std::size_t j = 0; j < s.columns; ++j) {
        const auto from = at(s.a).subspan(j * s.from_ld * s.element), to = at(s.b).subspan(j * s.to_ld * s.element);
        if (s.what == kind::copy_2d)
          std::copy_n(from.begin(), s.rows * std::size_t{s.element}, to.begin());
        else
          for (std::size_t i = 0; i < s.rows; ++i)
            put(to, i, s.value % 2 == 1 ? word(from, i) : 7 * word(to, i) + word(from, i));
      }
      break;
    case kind::fill: {
      const std::vector<std::byte> one = pattern(s.value, s.element);
      for (std::size_t i = 0; i < s.b.bytes; ++i) at(s.b)[i] = one[i % s.element];
      break;
    }
    case kind::affine: {
      const std::uint64_t a = factor, b = s.value >> 32;
      for (std::size_t i = 0; i < s.rows; ++i) {
        std::uint64_t x = 0;
        std::byte* where = at(s.b).data() + i * s.to_ld * s.element;
        std::memcpy(&x, where, s.element);  // little-endian, as on all supported machines
        x = x * a + b;
        std::memcpy(where, &x, s.element);
      }
      break;
    }
    case kind::add:
      for (std::size_t i = 0; i < s.b.bytes / 4; ++i) put(at(s.b), i, 3 * word(at(s.b), i) + word(at(s.a), i));
      break;
    case kind::mix:
      for (std::size_t i = 0, n = s.b.bytes / 4; i < n; ++i)
        put(at(s.b), i, word(at(s.a), i) * factor + word(at(s.c), n - 1 - i));
      break;
    case kind::scan:
      for (std::size_t i = 1; i < s.b.bytes / 4; ++i) put(at(s.b), i, word(at(s.b), i) + 5 * word(at(s.b), i - 1));
      break;
    case kind::gather: {
      random r(s.value);
      for (std::size_t i = 0; i < s.b.bytes / 4; ++i) put(at(s.b), i, word(at(s.a), r.below(s.a.bytes / 4)));
      break;
    }
    default:
      break;
  }
}

}  // namespace graph_test
