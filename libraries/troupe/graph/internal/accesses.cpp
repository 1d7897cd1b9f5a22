// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <troupe/graph/internal/accesses.hpp>

namespace troupe::graph {
namespace {

// Combines two accesses in order. The first one decides whether the earlier content is read.
access_mode then(access_mode first, access_mode second) noexcept {
  switch (first) {
    case access_mode::write:
    case access_mode::read_write:
      return first;
    case access_mode::read:
      return second == access_mode::read ? access_mode::read : access_mode::read_write;
    case access_mode::conditional_write:
      return reads(second) ? access_mode::read_write : second;
  }
  return access_mode::read_write;
}

// Combines the accesses of two bodies, one of which runs. A body without an access leaves the memory unchanged.
access_mode either(std::optional<access_mode> one, std::optional<access_mode> other) noexcept {
  const auto is = [&](auto&& holds) { return (one && holds(*one)) || (other && holds(*other)); };
  const bool needed = is(reads), written = is([](access_mode m) { return m != access_mode::read; });
  if (needed) return written ? access_mode::read_write : access_mode::read;
  return one == access_mode::write && other == access_mode::write ? access_mode::write : access_mode::conditional_write;
}

std::vector<node_access> either_of(const tree_body& one, const tree_body& other) {
  struct both {
    std::optional<access_mode> of[2];
    block_ref owner;
    const tree_node *reader, *writer;
  };
  stretch_map<both> memory;
  const tree_body* const bodies[] = {&one, &other};
  for (std::size_t i = 0; i < 2; ++i) {
    access_summary inside;
    inside.add(*bodies[i]);
    for (const node_access& a : inside.accesses())
      memory.visit(a.where.address, a.where.address + a.where.bytes, {{}, a.where.owner, {}, {}}, [&](both& b) {
        b.of[i] = a.mode;
        if (b.reader == nullptr) b.reader = a.reader;
        if (b.writer == nullptr) b.writer = a.writer;
      });
  }
  std::vector<node_access> out;
  for (const auto& [begin, s] : memory.all()) {
    const both& b = s.value;
    out.push_back({{b.owner, begin, s.end - begin}, either(b.of[0], b.of[1]), b.reader, b.writer});
  }
  return out;
}

void collect_names(const tree_body& all, const std::string& prefix, node_names& into) {
  for (const tree_node& n : all) {
    into.emplace(&n, name_of(n, prefix));
    collect_names(n.body, prefix_inside(n, prefix), into);
    collect_names(n.otherwise, prefix_inside(n, prefix), into);
  }
}

// The last writer of a range of memory, and the nodes that have read it since.
struct users {
  std::uint32_t writer;  // `none` if no node has written it
  std::vector<std::uint32_t> readers;
};
constexpr std::uint32_t none = UINT32_MAX;

}  // namespace

node_names names_of(const tree_body& all) {
  node_names out;
  collect_names(all, {}, out);
  return out;
}

void access_summary::add(const node_access& one) {
  const touched fresh{one.mode, one.where.owner, one.reader, one.writer};
  memory_.visit(one.where.address, one.where.address + one.where.bytes, fresh, [&](touched& t) {
    if (t.reader == nullptr && t.mode != access_mode::write) t.reader = one.reader;
    if (t.writer == nullptr) t.writer = one.writer;
    t.mode = then(t.mode, one.mode);
  });
}

void access_summary::add(const std::vector<node_access>& of_one) {
  // Reads are added first: a request may read, through one operand, the memory that it replaces through another.
  for (const node_access& a : of_one)
    if (reads(a.mode)) add(a);
  for (const node_access& a : of_one)
    if (!reads(a.mode)) add(a);
}

void access_summary::add(const tree_body& all) {
  for (const tree_node& n : all) add(accesses_of(n));
}

std::vector<snapshot::use> access_summary::uses(const node_names& names) const {
  const auto name = [&](const tree_node* n) {
    const auto found = names.find(n);
    return found == names.end() ? std::string() : found->second;
  };
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
    out.push_back({{t.owner, begin, s.end - begin}, t.mode, name(t.writer != nullptr ? t.writer : t.reader)});
  }
  return out;
}

std::vector<node_access> access_summary::accesses() const {
  std::vector<node_access> out;
  for (const auto& [begin, s] : memory_.all())
    out.push_back({{s.value.owner, begin, s.end - begin}, s.value.mode, s.value.reader, s.value.writer});
  return out;
}

std::vector<node_access> accesses_of(const tree_node& n) {
  std::vector<node_access> out;
  if (n.kind == node_kind::child) {
    access_summary inside;
    inside.add(n.body);
    return inside.accesses();
  }
  if (n.kind != node_kind::request) out = either_of(n.body, n.otherwise);
  for (const checked_access& a : n.what->accesses())  // for a condition, the access to its flag
    out.push_back({a.where, a.mode, reads(a.mode) ? &n : nullptr, a.mode == access_mode::read ? nullptr : &n});
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
    const std::vector<node_access> accesses = accesses_of(all[i]);
    for (const node_access& a : accesses) {
      if (a.mode != access_mode::read) continue;
      memory.visit(a.where.address, a.where.address + a.where.bytes, nobody, [&](users& u) {
        add(u.writer);
        if (u.readers.empty() || u.readers.back() != i) u.readers.push_back(i);
      });
    }
    for (const node_access& a : accesses) {
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
