// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <troupe/dnn/steps/geometry.hpp>
#include <utility>

namespace troupe::dnn::sets {
namespace {

using kind = set_kernel::operation::kind;
using reducing = set_kernel::operation::reducing;
using function = epilogue::op;

class kernel_builder {
 public:
  kernel_builder(const encoded_graph& g, const set_match& match, const fused_step& places, std::size_t which)
      : graph_(g), match_(match), places_(places), which_(which), over_(match.over[which]) {}

  set_kernel kernel() {
    find_needed();
    for (const std::uint16_t n : match_.nodes) add(graph_.nodes()[n]);
    // Results that other nodes read.
    for (std::size_t i = 0; i < match_.outputs.size(); ++i) {
      const auto from = computed_.find(match_.outputs[i].number);
      if (from != computed_.end() && outputs_.contains(match_.outputs[i].number))
        add_write(from->second, places_.outputs[i]);
    }
    remove_unused();
    return std::move(out_);
  }

 private:
  // Finds the outputs of this kernel, and the tensors that it must compute for them.
  void find_needed() {
    const std::map<std::uint16_t, std::size_t> kernels = kernels_of_tensors(graph_, match_);
    for (const fusion_match::tensor& t : match_.outputs)
      if (kernels.at(t.number) == which_) outputs_.insert(t.number), needed_.insert(t.number);
    for (auto n = match_.nodes.rbegin(); n != match_.nodes.rend(); ++n) {
      const encoded_node& node = graph_.nodes()[*n];
      const auto is_needed = [&](std::uint16_t t) { return needed_.contains(t); };
      if (std::any_of(node.outputs, node.outputs + node.output_count, is_needed))
        needed_.insert(node.inputs, node.inputs + node.input_count);
    }
  }
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return graph_.tensors()[t]; }
  void remove_unused() {
    std::vector<set_kernel::operation>& all = out_.operations;
    std::vector<bool> used(all.size());
    for (std::size_t i = all.size(); i-- > 0;) {
      used[i] = used[i] || all[i].what == kind::write;
      if (used[i] && all[i].has_arguments())
        for (const std::uint16_t a : all[i].from) used[a] = true;
    }
    std::vector<std::uint16_t> now(all.size());  // indexes of the remaining operations
    std::size_t count = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!used[i]) continue;
      for (std::uint16_t& a : all[i].from)
        if (all[i].has_arguments()) a = now[a];
      now[i] = static_cast<std::uint16_t>(count);
      all[count] = all[i], out_.is_of_set[count++] = out_.is_of_set[i];
    }
    all.resize(count), out_.is_of_set.resize(count);
    std::vector<location> operands;
    for (set_kernel::operation& o : all) {
      if (o.what != kind::read && o.what != kind::write && o.what != kind::position) continue;
      operands.push_back(out_.operands[o.operand]);
      o.operand = static_cast<std::uint16_t>(operands.size() - 1);
    }
    out_.operands = std::move(operands);
  }

  std::uint16_t add(set_kernel::operation o, bool is_of_set) {
    out_.operations.push_back(o), out_.is_of_set.push_back(is_of_set);
    return static_cast<std::uint16_t>(out_.operations.size() - 1);
  }
  std::uint16_t add_operand(const location& l) {
    out_.operands.push_back(l);
    return static_cast<std::uint16_t>(out_.operands.size() - 1);
  }
  std::uint16_t number(double x) { return add({.what = kind::number, .value = x}, true); }
  bool is_product(std::uint16_t a) const noexcept {
    return out_.operations[a].what == kind::apply && out_.operations[a].function == function::multiply;
  }
  // Products are not rounded before they are added.
  std::uint16_t multiply_add(std::uint16_t product, std::uint16_t b) {
    const std::uint16_t x = out_.operations[product].from[0], y = out_.operations[product].from[1];
    return add({.what = kind::multiply_add, .from = {x, y, b}}, out_.is_of_set[product] && out_.is_of_set[b]);
  }
  std::uint16_t apply(function f, std::uint16_t a, std::uint16_t b) {
    if (f == function::add && is_product(a)) return multiply_add(a, b);
    if (f == function::add && is_product(b)) return multiply_add(b, a);
    return add({.what = kind::apply, .function = f, .from = {a, b, a}}, out_.is_of_set[a] && out_.is_of_set[b]);
  }
  std::uint16_t apply(function f, std::uint16_t a) { return apply(f, a, a); }
  std::uint16_t reduce(reduction_kind how, std::uint16_t a) {
    if ((how != reduction_kind::sum && how != reduction_kind::mean) || !is_product(a))
      return add({.what = kind::reduce, .reduction = how, .from = {a, a, a}}, true);
    const std::uint16_t x = out_.operations[a].from[0], y = out_.operations[a].from[1];
    return add({.what = kind::reduce, .reduction = how, .form = reducing::products, .from = {x, y, x}}, true);
  }
  std::uint16_t mean_of_moments(std::uint16_t x) {
    return add({.what = kind::reduce, .reduction = reduction_kind::mean, .form = reducing::moments, .from = {x, x, x}},
               true);
  }
  std::uint16_t variance(std::uint16_t x, std::uint16_t mean) {
    return add(
        {.what = kind::reduce, .reduction = reduction_kind::mean, .form = reducing::squares, .from = {x, mean, x}},
        true);
  }
  void add_write(std::uint16_t from, location to) {
    to.shape = grouped(to.shape, match_.channels, match_.groups);
    // A tensor may have many elements of a set although they are equal, as an iota along an axis of sets has.
    const bool is_of_set = has_element_of_set(to.shape);
    add({.what = kind::write, .operand = add_operand(to), .from = {from, from, from}}, is_of_set);
  }

  std::uint16_t add_indexes(const encoded_node& n) {
    location l = positions_of(n, tensor(n.outputs[0]).shape);
    l.shape = grouped(l.shape, match_.channels, match_.groups);
    for (std::size_t i = 0; i < l.shape.rank; ++i)
      if (l.shape.strides[i] == 0) l.shape.extents[i] = 1;
    return add({.what = kind::position, .operand = add_operand(l)}, has_element_of_set(l.shape));
  }

  // Returns true if a tensor of this shape has one element for each set.
  bool has_element_of_set(const tensor_shape& s) const noexcept {
    for (std::size_t i = 0; i < s.rank; ++i)
      if ((over_ >> i & 1) != 0 && s.extents[i] != 1) return false;
    return true;
  }

  // Returns the operation that computes or reads a tensor.
  std::uint16_t value_of(std::uint16_t t) {
    if (const auto known = computed_.find(t); known != computed_.end()) return known->second;
    if (const auto known = read_.find(t); known != read_.end()) return known->second;
    if (tensor(t).where == encoded_tensor::place::number) return read_[t] = number(tensor(t).number);
    const auto at = std::ranges::find(match_.inputs, t, &fusion_match::tensor::number) - match_.inputs.begin();
    location l = places_.inputs[static_cast<std::size_t>(at)];
    l.shape = grouped(l.shape, match_.channels, match_.groups);
    return read_[t] = add({.what = kind::read, .operand = add_operand(l)}, has_element_of_set(l.shape));
  }

  bool is_needed(const encoded_node& n, std::size_t output) const {
    return output != absent && needed_.contains(n.outputs[output]);
  }
  void add(const encoded_node& n) {
    if (std::none_of(n.outputs, n.outputs + n.output_count, [&](std::uint16_t t) { return needed_.contains(t); }))
      return;
    if (n.what == dnn::op::normalization) return normalize(n);
    if (n.what == dnn::op::iota) {
      computed_[n.outputs[0]] = add_indexes(n);
      return;
    }
    if (n.what == dnn::op::normalization_gradient) return differentiate_normalization(n);
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
        const function f = n.attributes.as<pointwise_attributes>().function;
        if (f == function::add) return apply(f, from[0], from[1]);
        return add({.what = kind::apply, .function = f, .from = {from[0], from[1], from[2]}}, is_of_set);
      }
    }
  }

  void normalize(const encoded_node& n) {
    const auto a = n.attributes.as<normalization_attributes>();
    const normalization_places at(a);
    const auto input = [&](std::size_t i) { return value_of(n.inputs[i]); };
    const auto set = [&](std::size_t output, const auto& make) {
      if (is_needed(n, output)) computed_[n.outputs[output]] = make();
    };
    const std::uint16_t x = input(at.x), mean = a.rms != 0 ? number(0) : mean_of_moments(x),
                        centered = a.rms != 0 ? x : apply(function::subtract, x, mean);
    set(at.mean, [&] { return mean; });
    const std::uint16_t variance = a.rms != 0 ? reduce(reduction_kind::mean, apply(function::multiply, x, x))
                                              : this->variance(x, mean),
                        deviation =
                            apply(function::divide, number(1),
                                  apply(function::square_root, apply(function::add, variance, number(a.epsilon))));
    set(at.deviation, [&] { return deviation; });
    set(at.y, [&] {
      std::uint16_t y = apply(function::multiply, centered, deviation);
      if (at.scale != absent) y = apply(function::multiply, y, input(at.scale));
      return at.offset != absent ? apply(function::add, y, input(at.offset)) : y;
    });
    const auto next = [&](std::size_t before, std::uint16_t here) {
      return apply(function::add, apply(function::multiply, input(before), number(1 - a.momentum)),
                   apply(function::multiply, here, number(a.momentum)));
    };
    set(at.next_mean, [&] { return next(at.running_mean, mean); });
    set(at.next_variance, [&] {
      double count = 1;
      for (std::size_t i = 0; i < match_.elements.rank; ++i)
        if ((over_ >> i & 1) != 0) count *= static_cast<double>(match_.elements.extents[i]);
      const double unbiased = count > 1 ? count / (count - 1) : 1;
      return next(at.running_variance, apply(function::multiply, variance, number(unbiased)));
    });
  }

  void differentiate_normalization(const encoded_node& n) {
    const auto a = n.attributes.as<normalization_gradient_attributes>();
    const normalization_gradient_places at(a);
    const auto input = [&](std::size_t i) { return value_of(n.inputs[i]); };
    const std::uint16_t dy = input(at.dy), deviation = input(at.deviation),
                        normal = apply(function::multiply, apply(function::subtract, input(at.x), input(at.mean)),
                                       deviation);
    const std::size_t of_scale = match_.over.size() - 1;  // the kernel that computes the gradients of scale and offset
    if (is_needed(n, at.dx) && which_ == 0) {
      const std::uint16_t g = at.scale != absent ? apply(function::multiply, dy, input(at.scale)) : dy;
      std::uint16_t dx = g;
      if (a.rms == 0) dx = apply(function::subtract, dx, reduce(reduction_kind::mean, g));
      const std::uint16_t along = reduce(reduction_kind::mean, apply(function::multiply, g, normal));
      dx = apply(function::add, dx, apply(function::multiply, normal, apply(function::negate, along)));
      computed_[n.outputs[at.dx]] = apply(function::multiply, dx, deviation);
    }
    if (is_needed(n, at.dscale) && which_ == of_scale)
      computed_[n.outputs[at.dscale]] = reduce(reduction_kind::sum, apply(function::multiply, dy, normal));
    if (is_needed(n, at.doffset) && which_ == of_scale)
      computed_[n.outputs[at.doffset]] = reduce(reduction_kind::sum, dy);
  }

  std::uint16_t softmax(std::uint16_t x, bool logarithmic) {
    const std::uint16_t below = apply(function::subtract, x, reduce(reduction_kind::maximum, x)),
                        power = apply(function::exponential, below), sum = reduce(reduction_kind::sum, power);
    return logarithmic ? apply(function::subtract, below, apply(function::logarithm, sum))
                       : apply(function::multiply, power, apply(function::divide, number(1), sum));
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
  const set_match& match_;
  const fused_step& places_;
  const std::size_t which_;
  const std::int64_t over_;
  set_kernel out_;
  std::set<std::uint16_t> outputs_, needed_;
  std::map<std::uint16_t, std::uint16_t> computed_, read_;  // the operations of tensors
};

}  // namespace

set_kernel make_set_kernel(const encoded_graph& g, const set_match& match, const fused_step& places,
                           std::size_t which) {
  return kernel_builder(g, match, places, which).kernel();
}

std::map<std::uint16_t, std::size_t> kernels_of_tensors(const encoded_graph& g, const set_match& match) {
  std::map<std::uint16_t, std::size_t> out;
  for (const std::uint16_t n : match.nodes) {
    const encoded_node& node = g.nodes()[n];
    std::size_t kernel = 0;
    for (std::size_t k = 0; k < node.input_count; ++k)
      if (const auto of_input = out.find(node.inputs[k]); of_input != out.end())
        kernel = std::max(kernel, of_input->second);
    for (std::size_t k = 0; k < node.output_count; ++k)
      out[node.outputs[k]] = node.what == op::normalization_gradient && k != 0 ? match.over.size() - 1 : kernel;
  }
  return out;
}

}  // namespace troupe::dnn::sets
