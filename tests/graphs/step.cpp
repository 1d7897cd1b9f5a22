// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "step.hpp"

#include <array>
#include <cstring>
#include <set>

namespace graph_test {
namespace {

using troupe::access_mode;

constexpr std::array<const char*, 22> names{
    "renew", "upload", "copy", "copy_2d", "download", "fill",    "affine", "add",  "mix",  "scan",  "slide",
    "hash",  "gather", "tile", "fail",    "unknown",  "outside", "look",   "sync", "ping", "await", "cancel"};
constexpr std::array<const char*, 4> ways{"tell", "keep", "call", "drop"};

std::string typed(const char* name, int element) {
  return std::string(name) + "<u" + std::to_string(8 * element) + ">";
}

std::string text_of(const char* role, const place& p) {
  if (p.buffer < 0) return {};
  return std::string(" ") + role + "=#" + std::to_string(p.buffer) + "[" + std::to_string(p.first) + "+" +
         std::to_string(p.bytes) + "]";
}

use columns(const place& where, access_mode mode, const step& s, std::uint32_t ld) {
  const bool gaps = ld != s.rows && s.columns > 1;
  return {where, mode, gaps ? std::uint64_t{s.rows} * s.element : 0, gaps ? std::uint64_t{ld} * s.element : 0};
}

// Columns of the same pitch are compared byte by byte, because one may be in the gaps of the other, and so is a
// contiguous run no longer than the other's pitch; in all other cases, overlapping ranges count as shared.
bool share(const use& x, const use& y) {
  const place &a = x.where, &b = y.where;
  if (a.buffer != b.buffer || a.first >= b.first + b.bytes || b.first >= a.first + a.bytes) return false;
  if (x.pitch == 0 ? a.bytes > y.pitch : y.pitch == 0 ? b.bytes > x.pitch : x.pitch != y.pitch) return true;
  const auto holds = [](const use& u, std::uint64_t at) { return u.pitch == 0 || at % u.pitch < u.row_bytes; };
  std::set<std::uint64_t> held;
  for (std::uint64_t at = 0; at < a.bytes; ++at)
    if (holds(x, at)) held.insert(a.first + at);
  for (std::uint64_t at = 0; at < b.bytes; ++at)
    if (holds(y, at) && held.contains(b.first + at)) return true;
  return false;
}

}  // namespace

bool overlaps(const step& s) {
  if (s.what == kind::slide) return false;
  const std::vector<use> uses = uses_of(s);
  for (std::size_t i = 0; i < uses.size(); ++i)
    for (std::size_t j = i + 1; j < uses.size(); ++j)
      if ((uses[i].mode != access_mode::read || uses[j].mode != access_mode::read) && share(uses[i], uses[j]))
        return true;
  return false;
}

std::vector<use> uses_of(const step& s) {
  constexpr auto read = access_mode::read, write = access_mode::write, both = access_mode::read_write;
  switch (s.what) {
    case kind::upload:
    case kind::fill:
      return {{s.b, write}};
    case kind::copy:
    case kind::unknown:
    case kind::slide:
    case kind::gather:
      return {{s.a, read}, {s.b, write}};
    case kind::download:
    case kind::hash:
      return {{s.a, read}};
    case kind::affine:
    case kind::scan:
      return {{s.b, both}};
    case kind::add:
      return {{s.a, read}, {s.b, both}};
    case kind::mix:
      return {{s.a, read}, {s.c, read}, {s.b, write}};
    case kind::fail:
      return {{s.a, read}, {s.b, both}, {s.c, write}};
    case kind::outside:
      return {{s.b, write}};
    case kind::copy_2d:
    case kind::tile: {
      use target = columns(s.b, both, s, s.to_ld);
      const bool replaces = s.what == kind::copy_2d || s.value % 2 == 1;
      if (replaces && target.pitch == 0) target.mode = write;  // a block without gaps
      return {columns(s.a, read, s, s.from_ld), target};
    }
    default:
      return {};
  }
}

std::string request_name(const step& s, bool from_host, bool to_host) {
  switch (s.what) {
    case kind::upload:
      return s.b.bytes > (64 << 10) ? "memory.stream_in" : "memory.upload";
    case kind::download:
      return s.a.bytes > (64 << 10) ? "memory.stream_out" : "memory.download";
    case kind::copy:
      return s.how == sent::tell || from_host == to_host ? "memory.copy"
             : from_host                                 ? "memory.upload"
                                                         : "memory.download";
    case kind::outside:
      return "memory.copy";
    case kind::copy_2d:
      return "memory.copy_2d";
    case kind::fill:
      return "memory.fill";
    case kind::affine:
      return typed("flow.affine", s.element);
    case kind::fail:
      return typed("flow.fail", s.element);
    case kind::unknown:
      return s.element == 1 ? "flow.unknown" : "nowhere.request";
    case kind::sync:
      return "memory.sync";
    case kind::ping:
      return "memory.ping";
    case kind::add:
    case kind::mix:
    case kind::scan:
    case kind::slide:
    case kind::hash:
    case kind::gather:
    case kind::tile:
      return std::string("flow.") + names[static_cast<int>(s.what)];
    default:
      return {};
  }
}

std::string describe(const step& s) {
  std::string out = std::to_string(s.number) + " " + names[static_cast<int>(s.what)];
  if (s.what == kind::await || s.what == kind::cancel)
    return out + " step " + std::to_string(s.target) + " of this thread";
  out += std::string(" (") + ways[static_cast<int>(s.how)] + (s.timed ? ", timed)" : ")") + text_of("a", s.a) +
         text_of("b", s.b) + text_of("c", s.c);
  if (s.rows != 0)
    out += " rows " + std::to_string(s.rows) + " columns " + std::to_string(s.columns) + " ld " +
           std::to_string(s.from_ld) + " to " + std::to_string(s.to_ld);
  if (s.element != 1) out += " elements of " + std::to_string(s.element);
  if (s.work_us != 0) out += " takes " + std::to_string(s.work_us) + " us";
  if (s.what == kind::renew) out += s.host ? " host" : " device";
  return out + " value " + std::to_string(s.value);
}

std::string describe(const troupe::device_options& o) {
  constexpr std::array<const char*, 3> lanes{"per_actor", "pooled", "single"},
      waits{"latency", "balanced", "efficient"};
  return std::string("lanes ") + lanes[static_cast<int>(o.lanes)] + " (pool " + std::to_string(o.lane_pool) +
         "), wait " + waits[static_cast<int>(o.wait)] + ", isolation " +
         (o.isolation == troupe::isolation::process ? "process" : "thread") + ", inline_bytes " +
         std::to_string(o.inline_bytes) + ", mailbox " + std::to_string(o.mailbox_capacity) +
         (o.when_full == troupe::when_full::wait ? " waits" : " refuses") + ", helpers " + std::to_string(o.helpers);
}

std::vector<std::byte> pattern(std::uint64_t value, std::uint64_t bytes) {
  std::vector<std::byte> out(bytes);
  random r(value);
  std::uint64_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    const std::uint64_t word = r.next();
    std::memcpy(out.data() + at, &word, 8);
  }
  for (std::uint64_t word = r.next(); at < bytes; ++at, word >>= 8) out[at] = static_cast<std::byte>(word & 255);
  return out;
}

}  // namespace graph_test
