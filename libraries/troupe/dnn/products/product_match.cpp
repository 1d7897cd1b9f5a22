// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/products/batches.hpp>
#include <troupe/dnn/products/product_match.hpp>
#include <troupe/dnn/steps/locations.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <troupe/matmul/shapes.hpp>

namespace troupe::dnn::products {
namespace {

bool is_batch(const tensor_shape& s) noexcept { return batch_of(s).has_value(); }
bool is_floating(dtype t) noexcept { return t == dtype::f32 || t == dtype::f64 || t == dtype::f16 || t == dtype::bf16; }

// Returns the type in which factors of type `t` are multiplied.
std::optional<dtype> type_of_factors(dtype t, dtype compute) noexcept {
  if (t == dtype::i8) return t;
  if (compute == dtype::f64) return dtype::f64;
  if (t == dtype::f32 || t == dtype::f16 || t == dtype::bf16 || matmul::is_float8(t)) return t;
  return std::nullopt;
}

// Follows the nodes after a product, each of which is the only reader of the result of the node before it.
class match_builder {
 public:
  match_builder(const graph_analysis& g, std::size_t node, dtype factors, dtype compute)
      : g_(g), product_(node), factors_(factors), compute_(compute) {}

  std::vector<product_match> run() {
    const encoded_node& n = g_.node(product_);
    nodes_.push_back(static_cast<std::uint16_t>(product_));
    add_match(n.outputs[0]);
    for (std::uint16_t at = n.outputs[0]; !is_stored_;) {
      const auto next = g_.uses.only_reader_of(at);
      if (!next || g_.matched[*next] || !append(g_.node(*next), at)) break;
      nodes_.push_back(static_cast<std::uint16_t>(*next));
      at = g_.node(*next).outputs[0];
      add_match(at);
    }
    std::ranges::reverse(out_);
    return std::move(out_);
  }

 private:
  // Appends a node to the tail; returns false if it cannot be a part of it.
  bool append(const encoded_node& n, std::uint16_t before) {
    if (n.what == op::write) return is_stored_ = is_written_directly(n.outputs[0]);
    if (rounded_to_) return false;
    if (n.what == op::convert) {
      rounded_to_ = g_.tensor(n.outputs[0]).type;
      return is_floating(*rounded_to_);
    }
    // An operand of a function may have more rows than the product, which is then broadcast.
    const bool has_shape = same_extents(g_.tensor(n.outputs[0]).shape, g_.tensor(before).shape);
    if (n.what != op::pointwise || tail_.activation || !has_shape) return false;
    const epilogue::op function = n.attributes.as<pointwise_attributes>().function;
    switch (function) {
      case epilogue::op::relu:
      case epilogue::op::gelu_tanh:
        tail_.activation = function;
        return true;
      case epilogue::op::multiply:
        return !added_ && multiply(other_input(n, before));
      case epilogue::op::add:
        return !added_ && add(other_input(n, before), g_.tensor(n.outputs[0]).shape);
      default:
        return false;
    }
  }
  bool multiply(std::uint16_t by) {
    const encoded_tensor& t = g_.tensor(by);
    // A factor of 0 does not make a NaN 0, as it does in an epilogue.
    if (t.where != encoded_tensor::place::number || t.number == 0) return false;
    tail_.factor *= t.number;
    return true;
  }
  bool add(std::uint16_t t, const tensor_shape& result) {
    const encoded_tensor& other = g_.tensor(t);
    if (other.where == encoded_tensor::place::number) return false;
    tail_.has_addend = same_extents(other.shape, result);
    tail_.has_bias = !tail_.has_addend && is_row(other.shape, result);
    if (!tail_.has_bias && !tail_.has_addend) return false;
    added_ = t;
    return true;
  }
  static bool is_row(const tensor_shape& s, const tensor_shape& result) noexcept {
    if (s.rank != result.rank || s.extents[s.rank - 1] != result.extents[s.rank - 1]) return false;
    return std::all_of(s.extents.begin(), s.extents.begin() + static_cast<std::ptrdiff_t>(s.rank) - 1,
                       [](std::int64_t e) { return e == 1; });
  }
  bool is_written_directly(std::uint16_t to) const {
    const encoded_tensor& t = g_.tensor(to);
    if (rounded_to_ && t.type != *rounded_to_) return false;
    const bool rows = t.shape.strides[t.shape.rank - 1] == 1 || t.shape.extents[t.shape.rank - 1] == 1;
    return is_floating(t.type) && !g_.read.is_read(t.memory) && is_batch(t.shape) && (rows || !added_);
  }

  // Adds the match that ends with the tensor `last`, if its types fit: what cuBLASLt adds has the type of the result.
  void add_match(std::uint16_t last) {
    const encoded_node& n = g_.node(product_);
    const encoded_tensor& end = g_.tensor(last);
    const dtype type = rounded_to_ || is_stored_ ? end.type : compute_;
    if (added_ && g_.tensor(*added_).type != type) return;
    // cuBLASLt approximates tanh to about as many digits as half types have.
    if (tail_.activation == epilogue::op::gelu_tanh && bytes_of(type) != 2) return;
    const auto operand = [&](std::uint16_t t, dtype as) {
      fusion_match::tensor out = g_.dense_operand(t, as);
      out.copied = false;
      return out;
    };
    product_match made{.match = {.nodes = nodes_, .inputs = {}, .outputs = {}}, .tail = tail_};
    for (const std::uint16_t t : {n.inputs[0], n.inputs[1]}) {
      made.match.inputs.push_back(operand(t, factors_));
      made.match.inputs.back().accepts = is_batch;
    }
    if (added_) made.match.inputs.push_back(operand(*added_, type));
    made.match.outputs.push_back(operand(last, type));
    if (is_stored_) made.match.outputs.back().shape = end.shape;
    made.match.at = position_of(made.match, g_.uses);
    out_.push_back(std::move(made));
  }

  const graph_analysis& g_;
  const std::size_t product_;
  const dtype factors_, compute_;
  std::vector<std::uint16_t> nodes_;
  product_tail tail_;
  std::optional<std::uint16_t> added_;
  std::optional<dtype> rounded_to_;
  bool is_stored_ = false;
  std::vector<product_match> out_;
};

// Returns memory at a placeholder for an address: a different multiple of 256 for each operand.
memory_range placeholder(std::uint64_t& next, const tensor_shape& s, dtype type) {
  const auto elements = static_cast<std::uint64_t>(spanned_elements_of(s));
  return {.owner = {}, .address = ++next << 40, .bytes = elements * bytes_of(type)};
}

}  // namespace

std::optional<matmul::multiplication> product_match::request(std::span<const tensor_shape> inputs,
                                                             const tensor_shape& output,
                                                             const matmul::product_options& o) const {
  const auto a = batch_of(inputs[0]), b = batch_of(inputs[1]), d = batch_of(output),
             c = tail.has_addend ? batch_of(inputs[2]) : std::nullopt;
  if (!a || !b || !d || (tail.has_addend && !c)) return std::nullopt;
  product_shapes all{.a = *a, .b = *b, .d = *d, .c = c};
  all.join_rows();
  std::uint64_t next = 0;
  const auto operand = [&]<class Operand>(std::type_identity<Operand>, const tensor_shape& s, dtype type) {
    return Operand(placeholder(next, s, type), s, type);
  };
  const in_any left = operand(std::type_identity<in_any>(), all.a, match.inputs[0].type),
               right = operand(std::type_identity<in_any>(), all.b, match.inputs[1].type);
  epilogue::expression e = epilogue::acc;
  if (tail.factor != 1) e = tail.factor * e;
  if (tail.has_bias) {
    const std::int64_t n = all.d.extents[all.d.rank - 1];
    const dtype type = match.inputs[2].type;
    const tensor_shape row{.rank = 1, .extents = {n}, .strides = {1}};
    e = e + epilogue::expression::reading(epilogue::op::load_row,
                                          {.range = placeholder(next, row, type), .shape = {1, n, n, 1}, .type = type});
  }
  if (all.c) {
    const dtype type = match.inputs[2].type;
    e = e + epilogue::expression::reading(epilogue::op::load,
                                          epilogue::detail::matrix_of(placeholder(next, *all.c, type), *all.c, type));
  }
  if (tail.activation) e = epilogue::detail::make(*tail.activation, e);
  return matmul::multiplication{.a = left,
                                .b = right,
                                .d = operand(std::type_identity<out_any>(), all.d, match.outputs[0].type),
                                .epilogue = e,
                                .options = o};
}

std::vector<product_match> product_matches(const graph_analysis& g, std::size_t node, dtype compute) {
  const encoded_node& n = g.node(node);
  if (n.what != op::product) return {};
  const encoded_tensor &a = g.tensor(n.inputs[0]), &b = g.tensor(n.inputs[1]), &d = g.tensor(n.outputs[0]);
  const auto type = type_of_factors(a.type, compute);
  const bool are_stored = a.where != encoded_tensor::place::number && b.where != encoded_tensor::place::number;
  const bool multiplies = elements_of(a.shape) > 0 && elements_of(b.shape) > 0;
  if (!type || !are_stored || !multiplies) return {};
  // matmul has one axis of batches, along which each factor has all matrices, or one.
  for (const encoded_tensor* const t : {&a, &b}) {
    const auto begin = t->shape.extents.begin(), end = begin + static_cast<std::ptrdiff_t>(t->shape.rank) - 2;
    const bool has_all = std::equal(begin, end, d.shape.extents.begin());
    if (!has_all && std::any_of(begin, end, [](std::int64_t e) { return e != 1; })) return {};
  }
  return match_builder(g, node, *type, compute).run();
}

}  // namespace troupe::dnn::products
