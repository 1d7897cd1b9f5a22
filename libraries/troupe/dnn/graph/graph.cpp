// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/graph.hpp>
#include <troupe/dnn/graph/graph_parts.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn {

graph::graph(const std::byte* encoded, std::size_t bytes) noexcept
    : encoded_(encoded_graph(encoded, bytes).empty() ? nullptr : encoded) {}
encoded_graph graph::encoded() const noexcept {
  return encoded_ == nullptr ? encoded_graph() : encoded_graph(encoded_);
}

std::span<const encoded_node> graph::nodes() const noexcept {
  return *parts_ ? (*parts_)->nodes : std::span<const encoded_node>();
}
std::span<const encoded_tensor> graph::tensors() const noexcept {
  return *parts_ ? (*parts_)->tensors : std::span<const encoded_tensor>();
}
const detail::refusal* graph::refused() const noexcept {
  return *parts_ && (*parts_)->refused ? &*(*parts_)->refused : nullptr;
}

std::size_t graph::encoded_bytes() const noexcept {
  return encoded_graph::encoded_bytes(nodes().size(), tensors().size(), memory().size());
}

void graph::encode(std::byte* to) const noexcept {
  const encoded_graph::head h{static_cast<std::uint32_t>(nodes().size()), static_cast<std::uint32_t>(tensors().size()),
                              static_cast<std::uint32_t>(memory().size()), 0};
  put_records(to, std::span(&h, 1));
  put_records(to, nodes());
  put_records(to, tensors());
  for (const operand& m : memory()) {
    const encoded_memory encoded{m.range.address, m.mode, {}};
    put_records(to, std::span(&encoded, 1));
  }
}

std::string to_string(const graph& g) {
  std::string out;
  for (const encoded_node& n : g.nodes())
    out += cat(out.empty() ? "" : ", ", n.what == op::pointwise
                                            ? epilogue::to_string(n.attributes.as<pointwise_attributes>().function)
                                            : dnn::to_string(n.what));
  return out;
}

}  // namespace troupe::dnn

namespace troupe {

std::string operands_in<dnn::graph>::text_of(const dnn::graph& g, const void* place) {
  std::size_t read = 0, written = 0;
  for (const auto& m : g.memory()) {
    if (&m == place) return m.mode == access_mode::read ? cat(".read[", read, "]") : cat(".written[", written, "]");
    ++(m.mode == access_mode::read ? read : written);
  }
  return "";
}

}  // namespace troupe
