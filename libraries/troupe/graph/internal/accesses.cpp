// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/graph/internal/accesses.hpp>

namespace troupe::graph {
namespace {

// Combines two accesses in order: the first decides whether the earlier content matters.
access_mode then(access_mode first, access_mode second) noexcept {
  if (first != access_mode::read) return first;
  return second == access_mode::read ? access_mode::read : access_mode::read_write;
}

// Last writer of a stretch of memory, and its readers since.
struct users {
  std::uint32_t writer;  // `none` if there is no writer
  std::vector<std::uint32_t> readers;
};
constexpr std::uint32_t none = UINT32_MAX;

}  // namespace

void access_summary::add(const checked_access& one, const std::string& node) {
  const touched fresh{one.mode, one.where.owner, node};
  memory_.visit(one.where.address, one.where.address + one.where.bytes, fresh, [&](touched& t) {
    if (t.mode == access_mode::read && one.mode != access_mode::read) t.node = node;
    t.mode = then(t.mode, one.mode);
  });
}

void access_summary::add(const std::vector<checked_access>& of_one, const std::string& node) {
  // Reads come first: a request may have read the memory that it replaces through another operand.
  for (const checked_access& a : of_one)
    if (a.mode != access_mode::write) add(a, node);
  for (const checked_access& a : of_one)
    if (a.mode == access_mode::write) add(a, node);
}

void access_summary::add(const tree_body& all, const std::string& prefix) {
  for (const tree_node& n : all) add(accesses_of(n), name_of(n, prefix));
}

std::vector<snapshot::use> access_summary::uses() const {
  std::vector<snapshot::use> out;
  for (const auto& [begin, s] : memory_.all()) {
    const touched& t = s.value;
    if (!out.empty()) {
      snapshot::use& last = out.back();
      if (last.where.owner.get() == t.owner.get() && last.mode == t.mode &&
          last.where.address + last.where.bytes == begin) {
        last.where.bytes = s.end - last.where.address;
        continue;
      }
    }
    out.push_back({{t.owner, begin, s.end - begin}, t.mode, t.node});
  }
  return out;
}

std::vector<checked_access> accesses_of(const tree_node& n) {
  if (n.kind == node_kind::request) return n.what->accesses();
  access_summary inside;
  inside.add(n.body, {});
  std::vector<checked_access> out;
  for (const snapshot::use& u : inside.uses()) out.push_back({u.where, u.mode});
  if (n.kind == node_kind::child) return out;
  access_summary other;
  other.add(n.otherwise, {});
  for (const snapshot::use& u : other.uses()) out.push_back({u.where, u.mode});
  for (checked_access& a : out)
    if (a.mode == access_mode::write) a.mode = access_mode::read_write;
  out.push_back(n.what->accesses().front());
  return out;
}

std::vector<std::vector<std::uint32_t>> dependencies(const tree_body& all) {
  std::vector<std::vector<std::uint32_t>> out(all.size());
  stretch_map<users> memory;
  const users nobody{none, {}};
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    std::vector<std::uint32_t>& needs = out[i];
    const auto add = [&needs, i](std::uint32_t who) {
      if (who != none && who != i) needs.push_back(who);
    };
    const std::vector<checked_access> accesses = accesses_of(all[i]);
    for (const checked_access& a : accesses) {
      if (a.mode != access_mode::read) continue;
      memory.visit(a.where.address, a.where.address + a.where.bytes, nobody, [&](users& u) {
        add(u.writer);
        if (u.readers.empty() || u.readers.back() != i) u.readers.push_back(i);
      });
    }
    for (const checked_access& a : accesses) {
      if (a.mode == access_mode::read) continue;
      memory.visit(a.where.address, a.where.address + a.where.bytes, nobody, [&](users& u) {
        add(u.writer);
        for (const std::uint32_t r : u.readers) add(r);
        u.writer = i;
        u.readers.clear();
      });
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  }
  return out;
}

}  // namespace troupe::graph
