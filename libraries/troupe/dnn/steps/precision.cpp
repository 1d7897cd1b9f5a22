// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/steps/precision.hpp>
#include <vector>

namespace troupe::dnn {
namespace {

// Returns true if float can represent the index of each element of an image.
bool has_small_images(const encoded_tensor& image) noexcept {
  std::int64_t count = 1;
  for (std::size_t i = 2; i < image.shape.rank; ++i) count *= image.shape.extents[i];
  return count <= most_iota;
}

bool is_small_number(const encoded_tensor& t) noexcept {
  return t.where == encoded_tensor::place::number && std::abs(t.number) < static_cast<double>(most_iota) &&
         std::trunc(t.number) == t.number;
}
bool is_view_of_all(op what) noexcept { return what == op::reshape || what == op::transposition || what == op::slice; }
// Returns for each tensor: true if it has only integers of less than 24 bits, because it is an iota, or indexes of
// top_k, or is chosen from such tensors.
std::vector<bool> small_integers(const encoded_graph& g) {
  std::vector<bool> small;
  for (const encoded_tensor& t : g.tensors()) small.push_back(is_small_number(t));
  for (const encoded_node& n : g.nodes()) {
    const auto all_from = [&](std::size_t first) {
      for (std::size_t k = first; k < n.input_count; ++k)
        if (!small[n.inputs[k]]) return false;
      return true;
    };
    auto out = small[n.outputs[0]];
    if (n.what == op::iota) out = true;
    if (n.what == op::top_k) small[n.outputs[1]] = true;
    const bool is_wide = g.tensors()[n.outputs[0]].type >= dtype::i32 || g.tensors()[n.outputs[0]].type == dtype::f32;
    if (is_view_of_all(n.what) || (n.what == op::convert && is_wide)) out = all_from(0);
    if (n.what == op::reduction) {
      const reduction_kind k = n.attributes.as<reduction_attributes>().kind;
      out = (k == reduction_kind::minimum || k == reduction_kind::maximum) && all_from(0);
    }
    if (n.what != op::pointwise) continue;
    const epilogue::op f = n.attributes.as<pointwise_attributes>().function;
    if (f == epilogue::op::select) out = all_from(1);
    if (f == epilogue::op::minimum || f == epilogue::op::maximum) out = all_from(0);
  }
  return small;
}
bool compares(const encoded_node& n) noexcept {
  if (n.what != op::pointwise) return false;
  const epilogue::op f = n.attributes.as<pointwise_attributes>().function;
  return f == epilogue::op::equal || f == epilogue::op::less || f == epilogue::op::less_equal;
}

// Returns for each tensor: true if it may hold integers that float cannot represent.
std::vector<bool> large_integers(const encoded_graph& g) {
  // Float can represent neither all sums of i8 products nor all integers of 32 or 64 bits.
  std::vector<bool> large;
  for (const encoded_tensor& t : g.tensors())
    large.push_back(t.where != encoded_tensor::place::number &&
                    (t.type == dtype::i32 || t.type == dtype::u32 || t.type == dtype::i64));
  const std::vector<bool> small = small_integers(g);
  std::vector<bool> read(large.size()), read_otherwise(large.size()), is_view(large.size());
  for (const encoded_node& n : g.nodes()) {
    if (n.what != op::write)
      for (const std::uint16_t t : std::span(n.outputs).first(n.output_count))
        if (small[t]) large[t] = false;
    if (n.what == op::pooling_with_indexes && has_small_images(g.tensors()[n.inputs[0]])) large[n.outputs[1]] = false;
    if (n.what == op::write &&
        (small[n.inputs[0]] || (!large[n.inputs[0]] && g.tensors()[n.inputs[0]].type == dtype::i32)))
      large[n.outputs[0]] = false;
    is_view[n.outputs[0]] = is_view_of_all(n.what);
  }
  // Returns true if a node reads an input's integers without conversion, float can represent them, or all results are
  // right even if float rounds them: they are compared with smaller integers.
  const auto reads_exactly = [&](const encoded_node& n, std::size_t input) {
    if (n.what == op::random || input >= n.count_value_inputs()) return true;
    if (compares(n) && small[n.inputs[1 - input]]) return true;
    // Float rounds an integer as the conversion does.
    if (n.what == op::convert && g.tensors()[n.outputs[0]].type == dtype::f32) return true;
    if (is_view_of_all(n.what)) return !read_otherwise[n.outputs[0]];
    return n.what == op::pooling_index_gradient && input == 1 && has_small_images(g.tensors()[n.outputs[0]]);
  };
  for (auto n = g.nodes().rbegin(); n != g.nodes().rend(); ++n)
    for (std::size_t k = 0; k < n->input_count; ++k) {
      read[n->inputs[k]] = true;
      if (!reads_exactly(*n, k)) read_otherwise[n->inputs[k]] = true;
    }
  for (std::size_t t = 0; t < large.size(); ++t) {
    const bool is_stored = g.tensors()[t].where == encoded_tensor::place::memory || is_view[t];
    if (is_stored && read[t] && !read_otherwise[t]) large[t] = false;
  }
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
