// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/def_use.hpp>
#include <troupe/dnn/steps/read_set.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// For those who claim nodes.
namespace troupe::dnn {

/// A graph of which nodes may be claimed.
struct model {
  const encoded_graph& graph;
  const def_use& uses;
  const std::vector<bool>& aligned;  ///< memory of the graph at multiples of 16 bytes
  const read_set& read;
  const std::vector<bool>& matched;  ///< of each node: already part of another claim

  const encoded_node& node(std::size_t i) const noexcept { return graph.nodes()[i]; }
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return graph.tensors()[t]; }
  /// Whether a fusion match may write to the memory of a tensor, which nobody reads.
  bool is_free(std::uint16_t t) const noexcept { return aligned[tensor(t).memory] && !read.any(tensor(t).memory); }
};

/// Where a result of a fusion match is to be in this type: in its tensor; in the one that it is converted to, or in
/// memory, if its only reader converts or writes it and `can_write(tensor)`. Such readers become part of the claim.
template <class CanWrite>
std::uint16_t follow_result(const model& m, std::uint16_t number, dtype type, fusion_match& c,
                            const CanWrite& can_write) {
  for (const op what : {op::convert, op::write}) {
    const auto reader = m.uses.only_reader_of(number);
    if (!reader || m.matched[*reader] || m.node(*reader).what != what) continue;
    const std::uint16_t to = m.node(*reader).outputs[0];
    if (m.tensor(to).type != type || !can_write(to)) return number;
    c.nodes.push_back(static_cast<std::uint16_t>(*reader));
    number = to;
  }
  return number;
}

/// The shape of an image without gaps: its channels are neighbours, or its last index.
tensor_shape packed(tensor_shape s, bool channels_last) noexcept;

/// What a function of two tensors reads beside `one`.
inline std::uint16_t other_of(const encoded_node& n, std::uint16_t one) noexcept {
  return n.inputs[0] == one ? n.inputs[1] : n.inputs[0];
}

/// Whether `s` has one number for each channel of `image`.
bool is_of_channels(const tensor_shape& s, const tensor_shape& image) noexcept;

/// The first of a fusion match's nodes that comes after all that make what they read.
std::uint16_t place_of(const fusion_match& c, const def_use& l) noexcept;

}  // namespace troupe::dnn
