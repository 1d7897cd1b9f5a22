// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/recovery/fault_place.hpp>

namespace troupe {
namespace {

// The distance that a 32-bit index into the largest elements reaches. An address farther away is unrelated to the
// operand.
constexpr std::uint64_t farthest = std::uint64_t{64} << 30, null_page = 4096;

std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* units[] = {"KiB", "MiB", "GiB"};
  if (bytes < 1024) return cat(bytes, bytes == 1 ? " byte" : " bytes");
  double n = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; n >= 1023.5 && unit < 2; ++unit) n /= 1024;  // 1023.9 would be shown as 1024
  char text[32];
  std::snprintf(text, sizeof text, "%.4g %s", n, units[unit]);
  return text;
}

// Returns the distance of the address from the operand; 0 if it is inside.
std::uint64_t distance(std::uint64_t address, const encoded_operand& o) {
  return address < o.address ? o.address - address : address - std::min(address, o.address + o.bytes - 1);
}

std::string relation(std::uint64_t address, const encoded_operand& o) {
  if (address < o.address) return bytes_text(o.address - address) + " before " + to_string(o);
  const std::uint64_t offset = address - o.address;
  if (offset >= o.bytes) return bytes_text(offset - o.bytes) + " past the end of " + to_string(o);
  return cat("at element ", offset / o.element_bytes, " of ", to_string(o));
}

// Returns the nearest operand, and at most two more that are hardly farther away: at a large distance from all of them,
// each may be the one that the kernel tried to access.
std::vector<encoded_operand> nearest(std::uint64_t address, std::vector<encoded_operand> all) {
  constexpr std::size_t most = 3;
  std::stable_sort(all.begin(), all.end(), [address](const encoded_operand& a, const encoded_operand& b) {
    return distance(address, a) < distance(address, b);
  });
  const std::uint64_t least = all.empty() ? 0 : distance(address, all.front());
  const auto end = std::find_if(all.begin(), all.end(), [&](const encoded_operand& o) {
    return distance(address, o) > std::min(least + least / 8, farthest);
  });
  all.erase(std::min(end, all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()))), all.end());
  return all;
}

}  // namespace

std::string place_of(std::uint64_t address, std::span<const encoded_operand> operands,
                     const std::optional<device_memory::place>& there) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  std::string out(text);
  if (address < null_page) return out + ", through a null pointer";
  const std::vector<encoded_operand> near = nearest(address, {operands.begin(), operands.end()});
  for (const encoded_operand& o : near) out += (&o == &near.front() ? ", " : " or ") + relation(address, o);
  if (near.empty() && !operands.empty())
    out += ", more than " + bytes_text(farthest) + " from all memory that the request uses";
  const bool inside = !near.empty() && distance(address, near.front()) == 0;
  if (there && inside && there->sealed) out += ", which is sealed";
  if (there && !inside)
    out += cat(", in a ", there->sealed ? "sealed " : "", "buffer of ", bytes_text(there->bytes),
               " that the request does not use");
  return out;
}

}  // namespace troupe
