// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/steps/precision.hpp>
#include <vector>

namespace troupe::dnn {
namespace {

// Returns true if float can represent the index of each element of an image.
bool has_small_images(const encoded_tensor& image) noexcept {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  std::int64_t count = 1;
  for (std::size_t i = 2; i < image.shape.rank; ++i) count *= image.shape.extents[i];
  return count <= most;
}

// Returns true if all results of comparing an integer with the tensor are right even if float rounds the integer: it
// has only integers that float can represent, and all between them.
bool is_compared_exactly(const encoded_graph& g, std::uint16_t tensor) noexcept {
  const encoded_tensor& t = g.tensors()[tensor];
  if (t.where == encoded_tensor::place::number)
    return std::abs(t.number) <= static_cast<double>(most_iota) && std::trunc(t.number) == t.number;
  return std::ranges::any_of(g.nodes(),
                             [&](const encoded_node& n) { return n.what == op::iota && n.outputs[0] == tensor; });
}
bool compares(const encoded_node& n) noexcept {
  if (n.what != op::pointwise) return false;
  const epilogue::op f = n.attributes.as<pointwise_attributes>().function;
  return f == epilogue::op::equal || f == epilogue::op::less || f == epilogue::op::less_equal;
}

// Returns true if a node reads an input's integers without conversion, or float can represent these integers.
bool reads_exactly(const encoded_graph& g, const encoded_node& n, std::size_t input) noexcept {
  if (compares(n) && is_compared_exactly(g, n.inputs[1 - input])) return true;
  if (n.what == op::random || input >= n.count_value_inputs()) return true;
  return n.what == op::pooling_index_gradient && input == 1 && has_small_images(g.tensors()[n.outputs[0]]);
}

// Returns for each tensor: true if it may hold integers that float cannot represent.
std::vector<bool> large_integers(const encoded_graph& g) {
  // Float can represent neither all sums of i8 products nor all integers of 32 bits.
  std::vector<bool> large;
  for (const encoded_tensor& t : g.tensors())
    large.push_back(t.where != encoded_tensor::place::number && (t.type == dtype::i32 || t.type == dtype::u32));
  std::vector<bool> read(large.size()), read_otherwise(large.size());
  for (const encoded_node& n : g.nodes()) {
    if (n.what == op::pooling_with_indexes && has_small_images(g.tensors()[n.inputs[0]])) large[n.outputs[1]] = false;
    if (n.what == op::write && !large[n.inputs[0]] && g.tensors()[n.inputs[0]].type == dtype::i32)
      large[n.outputs[0]] = false;
    for (std::size_t k = 0; k < n.input_count; ++k) {
      read[n.inputs[k]] = true;
      if (!reads_exactly(g, n, k)) read_otherwise[n.inputs[k]] = true;
    }
  }
  for (std::size_t t = 0; t < large.size(); ++t)
    if (g.tensors()[t].where == encoded_tensor::place::memory && read[t] && !read_otherwise[t]) large[t] = false;
  return large;
}

}  // namespace

bool needs_double(const encoded_graph& g) {
  const std::vector<bool> large = large_integers(g);
  return std::find(large.begin(), large.end(), true) != large.end() ||
         std::any_of(g.tensors().begin(), g.tensors().end(), [](const encoded_tensor& t) {
           return t.where != encoded_tensor::place::number && t.type == dtype::f64;
         });
}

}  // namespace troupe::dnn
