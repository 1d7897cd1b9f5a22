// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/dnn/graph/op.hpp>
#include <type_traits>

/// The attributes of nodes, which are part of the key of a plan. Each family of operations defines its own in
/// operations/<family>/attributes.hpp.
namespace troupe::dnn {

/// The index of an input or output that a node does not have.
inline constexpr std::size_t absent = SIZE_MAX;
/// Returns the next index, and counts it, if a node has that input or output; otherwise returns `absent`.
constexpr std::size_t next_index(std::size_t& count, bool given) noexcept { return given ? count++ : absent; }

/// The attributes of operations that have none.
struct no_attributes {};

/// How many inputs and outputs a node has.
struct node_counts {
  std::size_t inputs, outputs;
  friend bool operator==(const node_counts&, const node_counts&) = default;
};
/// Returns true if these attributes are valid for a node of this operation, and it has the numbers of inputs and
/// outputs that follow from them. A family whose attributes can be invalid has an overload.
template <class F>
constexpr bool is_sound(op, const F&, const node_counts&) noexcept {
  return true;
}
/// Returns the number of inputs that hold values to compute with; see encoded_node.
template <class F>
constexpr std::size_t count_value_inputs(op, const F&, const node_counts& n) noexcept {
  return n.inputs;
}
constexpr bool is_flag(std::int64_t word) noexcept { return word == 0 || word == 1; }

/// The attributes of any node, stored as words of 64 bits.
struct node_attributes {
  static constexpr std::size_t words = 16;
  std::int64_t word[words] = {};

  template <class F>
  static node_attributes of(const F& f) noexcept {
    static_assert(sizeof(F) <= sizeof(node_attributes) && std::is_trivially_copyable_v<F> &&
                  sizeof(F) % sizeof(std::int64_t) == 0);
    node_attributes out;
    __builtin_memcpy(out.word, &f, sizeof f);
    return out;
  }
  template <class F>
  F as() const noexcept {
    F out;
    __builtin_memcpy(&out, word, sizeof out);
    return out;
  }
  friend bool operator==(const node_attributes&, const node_attributes&) = default;
};

}  // namespace troupe::dnn
