// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <utility>

namespace troupe::dnn::sets {
namespace {

using kind = set_kernel::operation::kind;
using function = epilogue::op;

class kernel_builder {
 public:
  kernel_builder(const encoded_graph& g, const fusion_match& match, const fused_step& places, std::int64_t over)
      : graph_(g), match_(match), places_(places), over_(over) {}

  set_kernel kernel() {
    std::vector<std::uint16_t> nodes = match_.nodes;
    std::sort(nodes.begin(), nodes.end());
    for (const std::uint16_t n : nodes) add(graph_.nodes()[n]);
    // Results that other nodes read.
    for (std::size_t i = 0; i < match_.outputs.size(); ++i)
      if (const auto from = computed_.find(match_.outputs[i].number); from != computed_.end())
        add_write(from->second, places_.outputs[i]);
    return std::move(out_);
  }

 private:
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return graph_.tensors()[t]; }

  std::uint16_t add(set_kernel::operation o, bool is_of_set) {
    out_.operations.push_back(o), out_.is_of_set.push_back(is_of_set);
    return static_cast<std::uint16_t>(out_.operations.size() - 1);
  }
  std::uint16_t add_operand(const location& l) {
    out_.operands.push_back(l);
    return static_cast<std::uint16_t>(out_.operands.size() - 1);
  }
  std::uint16_t number(double x) { return add({.what = kind::number, .value = x}, true); }
  std::uint16_t apply(function f, std::uint16_t a, std::uint16_t b) {
    return add({.what = kind::apply, .function = f, .from = {a, b, a}}, out_.is_of_set[a] && out_.is_of_set[b]);
  }
  std::uint16_t apply(function f, std::uint16_t a) { return apply(f, a, a); }
  std::uint16_t reduce(reduction_kind how, std::uint16_t a) {
    return add({.what = kind::reduce, .reduction = how, .from = {a, a, a}}, true);
  }
  void add_write(std::uint16_t from, const location& to) {
    add({.what = kind::write, .operand = add_operand(to), .from = {from, from, from}}, out_.is_of_set[from]);
  }

  // Returns the operation that computes or reads a tensor.
  std::uint16_t value_of(std::uint16_t t) {
    if (const auto known = computed_.find(t); known != computed_.end()) return known->second;
    if (const auto known = read_.find(t); known != read_.end()) return known->second;
    if (tensor(t).where == encoded_tensor::place::number) return read_[t] = number(tensor(t).number);
    const auto at = std::ranges::find(match_.inputs, t, &fusion_match::tensor::number) - match_.inputs.begin();
    const location& l = places_.inputs[static_cast<std::size_t>(at)];
    bool is_of_set = true;
    for (std::size_t i = 0; i < l.shape.rank; ++i)
      if ((over_ >> i & 1) != 0 && l.shape.extents[i] != 1) is_of_set = false;
    return read_[t] = add({.what = kind::read, .operand = add_operand(l)}, is_of_set);
  }

  void add(const encoded_node& n) {
    std::uint16_t from[3] = {};
    for (std::size_t k = 0; k < n.input_count; ++k) from[k] = value_of(n.inputs[k]);
    if (n.what == dnn::op::write) {
      const auto at = std::ranges::find(match_.outputs, n.outputs[0], &fusion_match::tensor::number);
      return add_write(from[0], places_.outputs[static_cast<std::size_t>(at - match_.outputs.begin())]);
    }
    computed_[n.outputs[0]] = result_of(n, from);
  }

  std::uint16_t result_of(const encoded_node& n, std::uint16_t (&from)[3]) {
    switch (n.what) {
      case dnn::op::convert:
        return add({.what = kind::round, .type = tensor(n.outputs[0]).type, .from = {from[0], from[0], from[0]}},
                   out_.is_of_set[from[0]]);
      case dnn::op::reduction:
        return reduce(n.attributes.as<reduction_attributes>().kind, from[0]);
      case dnn::op::softmax:
        return softmax(from[0], n.attributes.as<softmax_attributes>().logarithmic != 0);
      case dnn::op::softmax_gradient:
        return softmax_gradient(from[0], from[1], n.attributes.as<softmax_attributes>().logarithmic != 0);
      default: {
        bool is_of_set = true;
        for (std::size_t k = 0; k < n.input_count; ++k) is_of_set = is_of_set && out_.is_of_set[from[k]];
        for (std::size_t k = n.input_count; k < 3; ++k) from[k] = from[0];
        return add({.what = kind::apply,
                    .function = n.attributes.as<pointwise_attributes>().function,
                    .from = {from[0], from[1], from[2]}},
                   is_of_set);
      }
    }
  }
  std::uint16_t softmax(std::uint16_t x, bool logarithmic) {
    const std::uint16_t below = apply(function::subtract, x, reduce(reduction_kind::maximum, x)),
                        power = apply(function::exponential, below), sum = reduce(reduction_kind::sum, power);
    return logarithmic ? apply(function::subtract, below, apply(function::logarithm, sum))
                       : apply(function::divide, power, sum);
  }
  std::uint16_t softmax_gradient(std::uint16_t dy, std::uint16_t y, bool logarithmic) {
    if (logarithmic) {
      const std::uint16_t sum = reduce(reduction_kind::sum, dy);
      return apply(function::subtract, dy, apply(function::multiply, apply(function::exponential, y), sum));
    }
    const std::uint16_t sum = reduce(reduction_kind::sum, apply(function::multiply, dy, y));
    return apply(function::multiply, y, apply(function::subtract, dy, sum));
  }

  const encoded_graph& graph_;
  const fusion_match& match_;
  const fused_step& places_;
  const std::int64_t over_;
  set_kernel out_;
  std::map<std::uint16_t, std::uint16_t> computed_, read_;  // the operations of tensors
};

}  // namespace

set_kernel make_set_kernel(const encoded_graph& g, const fusion_match& match, const fused_step& places,
                           std::int64_t over) {
  return kernel_builder(g, match, places, over).kernel();
}

}  // namespace troupe::dnn::sets
