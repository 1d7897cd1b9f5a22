// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/graph/internal/accesses.hpp>
#include <troupe/graph/internal/recipe_writer.hpp>

namespace troupe::graph {

recipe_writer::recipe_writer(const tree_body& all, const std::string& name, std::uint64_t version,
                             std::uint32_t branches)
    : name_(name) {
  list(all, {});
  head_.version = version;
  head_.branches = branches;
  head_.node_count = static_cast<std::uint32_t>(entries_.size());
  head_.dependency_count = static_cast<std::uint32_t>(dependencies_.size());
  std::uint64_t end = sizeof head_ + entries_.size() * sizeof(recipe_node);
  const auto take = [&end](std::uint64_t bytes) {
    const std::uint64_t at = end;
    end += blob_cursor::padded(bytes);
    return at;
  };
  end = blob_cursor::padded(end);
  head_.dependencies_at = take(dependencies_.size() * sizeof(std::uint32_t));
  head_.name_at = take(name.size());
  head_.name_bytes = static_cast<std::uint32_t>(name.size());
  for (entry& e : entries_) {
    e.node.name_at = take(e.name.size());
    e.node.name_bytes = static_cast<std::uint32_t>(e.name.size());
    if (e.what == nullptr) continue;
    e.node.payload_bytes = e.what->info().payload_bytes;
    e.node.payload_at = take(e.node.payload_bytes);
    take(e.what->blob_bytes());  // the blob follows the fixed part directly
  }
  head_.bytes = end;
}

void recipe_writer::list(const tree_body& all, const std::string& prefix) {
  const auto needs = dependencies(all);
  std::vector<std::uint32_t> places(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const tree_node& n = all[i];
    const auto place = static_cast<std::uint32_t>(entries_.size());
    places[i] = place;
    recipe_node out{};
    out.kind = n.kind;
    if (n.kind == node_kind::child) out.branches = n.branches;
    if (n.kind == node_kind::if_ || n.kind == node_kind::while_)
      out.flag = n.what->accesses().front().where.address;
    else if (n.what) {
      out.opcode = n.what->info().opcode;
      out.library = n.what->info().library;
    }
    out.first_dependency = static_cast<std::uint32_t>(dependencies_.size());
    out.dependency_count = static_cast<std::uint32_t>(needs[i].size());
    for (const std::uint32_t before : needs[i]) dependencies_.push_back(places[before]);
    entries_.push_back({out, name_of(n, prefix), n.kind == node_kind::request ? n.what.get() : nullptr});
    list(n.body, prefix_inside(n, prefix));
    entries_[place].node.otherwise = static_cast<std::uint32_t>(entries_.size());
    list(n.otherwise, prefix_inside(n, prefix));
    entries_[place].node.end = static_cast<std::uint32_t>(entries_.size());
  }
}

void recipe_writer::write(std::byte* to, std::uint64_t address) const {
  std::memset(to, 0, head_.bytes);
  std::memcpy(to, &head_, sizeof head_);
  std::memcpy(to + head_.name_at, name_.data(), name_.size());
  if (!dependencies_.empty())
    std::memcpy(to + head_.dependencies_at, dependencies_.data(), dependencies_.size() * sizeof(std::uint32_t));
  std::uint64_t at = sizeof head_;
  for (const entry& e : entries_) {
    std::memcpy(to + at, &e.node, sizeof e.node);
    at += sizeof e.node;
    std::memcpy(to + e.node.name_at, e.name.data(), e.name.size());
    if (e.what == nullptr) continue;
    const std::uint64_t blob = e.node.payload_at + blob_cursor::padded(e.node.payload_bytes);
    e.what->encode(to + e.node.payload_at, {to + blob, address + blob});
  }
}

}  // namespace troupe::graph
