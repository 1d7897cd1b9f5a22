// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/steps/graph_kind.hpp>
#include <troupe/request/encoding/codec.hpp>

namespace troupe::dnn {

graph_kind::graph_kind(const computation& r, std::uint64_t alignment) : options_(r.options) {
  const encoded_graph g = r.graph.encoded();
  const auto structure = g.structure();
  encoded_.assign(structure.begin(), structure.end());
  std::uint64_t next = 0;
  for (const encoded_memory& m : g.memory()) {
    // All addresses differ.
    const encoded_memory kept{(++next << 12) | (is_aligned(m, alignment) ? 0u : 1u), access_mode::read_write, {}};
    const auto* const bytes = reinterpret_cast<const std::byte*>(&kept);
    encoded_.insert(encoded_.end(), bytes, bytes + sizeof kept);
  }
  graph_ = encoded_graph(encoded_.data());
}

void write_key(std::string& to, const computation& r, std::uint64_t alignment) {
  const encoded_graph g = r.graph.encoded();
  const auto structure = g.structure();
  to.assign(reinterpret_cast<const char*>(structure.data()), structure.size());
  to.resize(to.size() + payload_bytes<computation_options>);
  encode(r.options, reinterpret_cast<std::byte*>(to.data() + to.size() - payload_bytes<computation_options>));
  if (alignment == 1) return;
  for (const encoded_memory& m : g.memory()) to += is_aligned(m, alignment) ? '1' : '0';
}

}  // namespace troupe::dnn
