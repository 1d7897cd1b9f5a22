// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <troupe/base/cat.hpp>
#include <troupe/device/recovery/fault_place.hpp>

namespace troupe {
namespace {

// What a 32-bit index into the largest elements reaches. An address farther away has nothing to do with the operand.
constexpr std::uint64_t farthest = std::uint64_t{64} << 30, null_page = 4096;

std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* units[] = {"KiB", "MiB", "GiB"};
  if (bytes < 1024) return cat(bytes, bytes == 1 ? " byte" : " bytes");
  double n = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; n >= 1024 && unit < 2; ++unit) n /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", n, units[unit]);
  return text;
}

// Returns 0 for an address inside.
std::uint64_t distance(std::uint64_t address, const encoded_operand& o) {
  return address < o.address ? o.address - address : address - std::min(address, o.address + o.bytes - 1);
}

std::string relation(std::uint64_t address, const encoded_operand& o) {
  if (address < o.address) return bytes_text(o.address - address) + " before " + to_string(o);
  const std::uint64_t offset = address - o.address;
  if (offset >= o.bytes) return bytes_text(offset - o.bytes) + " behind the end of " + to_string(o);
  return cat("at element ", offset / o.element_bytes, " of ", to_string(o));
}

}  // namespace

std::string place_of(std::uint64_t address, std::span<const encoded_operand> operands,
                     const std::optional<device_memory::place>& there) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  std::string out(text);
  if (address < null_page) return out + ", through a null pointer";
  const auto nearest = std::min_element(operands.begin(), operands.end(), [address](const auto& a, const auto& b) {
    return distance(address, a) < distance(address, b);
  });
  const bool near = nearest != operands.end() && distance(address, *nearest) <= farthest;
  if (near) out += ", " + relation(address, *nearest);
  const bool inside = near && distance(address, *nearest) == 0;
  if (there && inside && there->sealed) out += ", which is sealed";
  if (there && !inside)
    out += cat(", in a ", there->sealed ? "sealed " : "", "buffer of ", bytes_text(there->bytes),
               " that the request does not use");
  return out;
}

}  // namespace troupe
