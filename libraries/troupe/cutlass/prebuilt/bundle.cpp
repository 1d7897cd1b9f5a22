// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <troupe/cutlass/prebuilt/bundle.hpp>

namespace troupe::cutlass::prebuilt {
namespace {

constexpr std::uint64_t signature = 0x31656c646e7562;  // "bundle1"

void put(std::string& to, std::uint64_t x) { to.append(reinterpret_cast<const char*>(&x), sizeof x); }
bool take(std::string_view& from, std::uint64_t& x) noexcept {
  if (from.size() < sizeof x) return false;
  std::memcpy(&x, from.data(), sizeof x);
  from.remove_prefix(sizeof x);
  return true;
}
bool take(std::string_view& from, std::string_view& x) noexcept {
  std::uint64_t bytes = 0;
  if (!take(from, bytes) || bytes > from.size()) return false;
  x = from.substr(0, bytes);
  from.remove_prefix(bytes);
  return true;
}

}  // namespace

std::string encode(std::span<const kernel> all) {
  std::string out;
  put(out, signature);
  put(out, all.size());
  for (const kernel& k : all)
    for (const std::string_view text : {k.name, k.architecture, k.source, k.image}) {
      put(out, text.size());
      out += text;
    }
  return out;
}

std::vector<kernel> decode(std::string_view bundle) {
  std::uint64_t first = 0, count = 0;
  if (!take(bundle, first) || first != signature || !take(bundle, count)) return {};
  std::vector<kernel> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    kernel k;
    if (!take(bundle, k.name) || !take(bundle, k.architecture) || !take(bundle, k.source) || !take(bundle, k.image))
      return {};
    out.push_back(k);
  }
  return out;
}

}  // namespace troupe::cutlass::prebuilt
