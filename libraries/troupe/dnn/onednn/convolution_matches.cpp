// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <troupe/dnn/onednn/convolution.hpp>
#include <troupe/dnn/onednn/costs.hpp>
#include <troupe/dnn/onednn/search.hpp>
#include <troupe/dnn/steps/fusion_matches.hpp>
#include <troupe/dnn/steps/precision.hpp>
#include <troupe/dnn/steps/read_set.hpp>

namespace troupe::dnn::onednn {
namespace {

bool is_convolution(op o) noexcept {
  return o == op::convolution || o == op::convolution_data_gradient || o == op::convolution_weight_gradient;
}
bool is_of_elements(op o) noexcept { return o == op::pointwise || o == op::convert; }
// All of their products and sums are computed in f32.
bool is_float(dtype t) noexcept {
  return t == dtype::f32 || t == dtype::f16 || t == dtype::bf16 || t == dtype::f8e4m3 || t == dtype::f8e5m2;
}

order order_of(const tensor_shape& s) noexcept {
  const bool first = is_dense(s), last = s.rank > 1 && lies_alike(s, packed(s, true));
  return first == last ? order::either : first ? order::first : order::last;
}
bool has_gaps(const tensor_shape& s) noexcept { return !is_dense(s) && !lies_alike(s, packed(s, true)); }
// What suits both.
order both(order a, order b) noexcept {
  return a == order::first || b == order::first ? order::first : a == order::last ? a : b;
}

// oneDNN's name of a function of elements, if it is as we define it. Its relu makes 0 of what is no number; an elu by
// the factor 0 does not. Its softplus and exponential differ.
std::optional<convolution::function> function_of(epilogue::op f) noexcept {
  switch (f) {
    case epilogue::op::relu:
      return convolution::function{dnnl_eltwise_elu};
    case epilogue::op::absolute:
      return convolution::function{dnnl_eltwise_abs};
    case epilogue::op::gelu:
      return convolution::function{dnnl_eltwise_gelu_erf};
    case epilogue::op::gelu_tanh:
      return convolution::function{dnnl_eltwise_gelu_tanh};
    case epilogue::op::silu:
      return convolution::function{dnnl_eltwise_swish, 1};
    case epilogue::op::tanh:
      return convolution::function{dnnl_eltwise_tanh};
    case epilogue::op::sigmoid:
      return convolution::function{dnnl_eltwise_logistic};
    case epilogue::op::hard_swish:
      return convolution::function{dnnl_eltwise_hardswish};
    default:
      return std::nullopt;
  }
}

class search {
 public:
  search(dnnl_engine_t on, const encoded_graph& g, const search_options& how)
      : on_(on),
        g_(g),
        how_(how),
        l_(g),
        reads_(g),
        is_wide_((calls().processor() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core),
        is_claimed_(g.nodes().size()),
        wanted_(g.tensors().size(), order::either),
        is_(g.tensors().size(), order::either) {
    find_orders();
  }

  std::vector<found> all() {
    std::vector<found> out;
    for (std::size_t i = 0; i < g_.nodes().size(); ++i) {
      const encoded_node& n = g_.nodes()[i];
      auto here = is_convolution(n.what) && !is_claimed_[i] ? find_at(i) : std::nullopt;
      if (here) {
        for (const std::uint16_t c : here->what.nodes) is_claimed_[c] = true;
        const fusion_match::tensor& made = here->what.outputs[0];
        is_[n.outputs[0]] = is_[made.number] = order_of(made.shape);
        out.push_back(std::move(*here));
      } else if (!is_claimed_[i]) {
        for (const std::uint16_t t : std::span(n.outputs).first(n.output_count)) is_[t] = order_made_by(n);
      }
    }
    return out;
  }

 private:
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return g_.tensors()[t]; }
  bool is_in_memory(std::uint16_t t) const noexcept { return tensor(t).where == encoded_tensor::place::memory; }

  // How each tensor in memory lies, and how those who read a tensor want it.
  void find_orders() {
    for (std::size_t t = 0; t < is_.size(); ++t)
      if (is_in_memory(static_cast<std::uint16_t>(t))) is_[t] = order_of(g_.tensors()[t].shape);
    for (std::size_t i = g_.nodes().size(); i-- > 0;) {
      const encoded_node& n = g_.nodes()[i];
      for (std::size_t k = 0; k < n.input_count; ++k) {
        order& o = wanted_[n.inputs[k]];
        o = both(o, order_wanted_by(n, k));
      }
    }
  }
  order order_wanted_by(const encoded_node& n, std::size_t input) const noexcept {
    if (n.what == op::write) return is_[n.outputs[0]];
    if (is_of_elements(n.what))
      return same_extents(tensor(n.inputs[input]).shape, tensor(n.outputs[0]).shape) ? wanted_[n.outputs[0]]
                                                                                     : order::either;
    const bool is_image = input == 0 || n.what == op::convolution_weight_gradient;
    return is_convolution(n.what) && is_image ? order::either : order::first;
  }
  order order_made_by(const encoded_node& n) const noexcept {
    if (n.what == op::write) return is_[n.outputs[0]];
    if (!is_of_elements(n.what)) return order::first;
    order out = order::either;
    for (const std::uint16_t t : std::span(n.inputs).first(n.input_count))
      if (same_extents(tensor(t).shape, tensor(n.outputs[0]).shape)) out = both(out, is_[t]);
    return out;
  }

  // A convolution, and what follows it: functions, each the only reader of the one before, then perhaps a write.
  struct chain {
    std::size_t begin = 0;
    std::vector<std::size_t> functions = {};
    std::optional<std::size_t> write = {};
    std::uint16_t last = 0;
  };
  std::uint16_t result_of(std::size_t node) const noexcept { return g_.nodes()[node].outputs[0]; }

  chain chain_from(std::size_t node, std::size_t most_functions) const {
    chain c{.begin = node, .last = result_of(node)};
    for (;;) {
      const auto next = l_.only_reader_of(c.last);
      if (!next || is_claimed_[*next]) return c;
      const encoded_node& n = g_.nodes()[*next];
      const encoded_tensor& to = tensor(n.outputs[0]);
      if (n.what == op::write) {
        const bool is_plain = to.type == dtype::f32 && !has_gaps(to.shape) && !reads_.any(to.memory);
        if (is_plain) c.write = *next, c.last = n.outputs[0];
        return c;
      }
      if (c.functions.size() == most_functions || !is_function(n, c.last)) return c;
      // One function of elements at the end: oneDNN 2.6 mixes up the numbers of two.
      const bool ends = n.input_count == 1;
      c.functions.push_back(*next);
      if (ends) most_functions = c.functions.size();
      c.last = n.outputs[0];
    }
  }

  // One that oneDNN has; of two, if the other is one number for each channel.
  bool is_function(const encoded_node& n, std::uint16_t before) const {
    if (n.what != op::pointwise || n.input_count > 2) return false;
    const epilogue::op f = n.attributes.as<pointwise_attributes>().function;
    if (n.input_count == 1) return function_of(f).has_value();
    if (f != epilogue::op::add && f != epilogue::op::multiply) return false;
    const encoded_tensor& other = tensor(other_of(n, before));
    if (other.where == encoded_tensor::place::number) return false;
    return is_of_channels(other.shape, tensor(before).shape);
  }

  std::optional<found> find_at(std::size_t node) const {
    const encoded_node& n = g_.nodes()[node];
    for (const std::uint16_t t : {n.inputs[0], n.inputs[1], n.outputs[0]}) {
      const encoded_tensor& s = tensor(t);
      if (s.where == encoded_tensor::place::number || !is_float(s.type) || s.shape.rank < 3 || s.shape.rank > 5)
        return std::nullopt;
    }
    using enum convolution::way;
    std::array<convolution::way, 3> ways{channels_last, as_it_chooses, products};
    const cost about = cost_of(chain_from(node, most_functions_of(node, channels_last)));
    std::sort(ways.begin(), ways.end(), [&](auto a, auto b) { return about.of(a) < about.of(b); });
    for (const convolution::way w : ways) {
      if (!about.allows(w) || (!how_.whatever_it_costs && about.of(w) >= about.of_ours())) continue;
      if (auto out = find_way(node, w)) return out;
    }
    return std::nullopt;
  }
  std::size_t most_functions_of(std::size_t node, convolution::way w) const noexcept {
    constexpr std::size_t most = 5, bias_alone = 1;
    if (g_.nodes()[node].what != op::convolution) return 0;
    return w == convolution::way::products ? bias_alone : most;
  }
  // With as many of the functions that follow as oneDNN takes.
  std::optional<found> find_way(std::size_t node, convolution::way w) const {
    for (std::size_t functions = most_functions_of(node, w);; --functions) {
      const chain c = chain_from(node, functions);
      if (auto out = matched(c, w)) return out;
      functions = std::min(functions, c.functions.size());
      if (functions == 0) return std::nullopt;
    }
  }

  // The tensors of a node by what they are.
  struct roles {
    std::uint16_t image, filters, result;
  };
  static roles roles_of(const encoded_node& n) noexcept {
    if (n.what == op::convolution) return {n.inputs[0], n.inputs[1], n.outputs[0]};
    if (n.what == op::convolution_data_gradient) return {n.outputs[0], n.inputs[1], n.inputs[0]};
    return {n.inputs[1], n.outputs[0], n.inputs[0]};
  }
  cost cost_of(const chain& c) const {
    const encoded_node& n = g_.nodes()[c.begin];
    const roles r = roles_of(n);
    const order made = c.write ? is_[c.last] : wanted_[c.last];
    return {.what = n.what,
            .attributes = n.attributes.as<convolution_attributes>(),
            .image = tensor(r.image).shape,
            .filters = tensor(r.filters).shape,
            .result = tensor(r.result).shape,
            .of_image = r.image == n.outputs[0] ? made : is_[r.image],
            .of_result = r.result == n.outputs[0] ? made : is_[r.result],
            .has_functions = !c.functions.empty(),
            .is_wide = is_wide_};
  }

  std::optional<found> matched(const chain& c, convolution::way w) const {
    const encoded_node& n = g_.nodes()[c.begin];
    const roles r = roles_of(n);
    const cost about = cost_of(c);
    const auto lies_last = [w](order o) {
      return o == order::last || (o == order::either && w == convolution::way::channels_last);
    };
    convolution what{.what = n.what,
                     .attributes = about.attributes,
                     .image = packed(about.image, lies_last(about.of_image)),
                     .filters = packed(about.filters, order_of_filters(r, c) == order::last),
                     .result = packed(about.result, lies_last(about.of_result)),
                     .how = w};
    fusion_match out;
    const auto given = [&](std::uint16_t t, const tensor_shape& lies) { out.inputs.push_back({t, dtype::f32, lies}); };
    const auto shape_of = [&](std::uint16_t t) -> const tensor_shape& {
      return t == r.image ? what.image : t == r.filters ? what.filters : what.result;
    };
    out.nodes.push_back(static_cast<std::uint16_t>(c.begin));
    for (const std::uint16_t t : {n.inputs[0], n.inputs[1]}) given(t, shape_of(t));
    std::uint16_t before = n.outputs[0];
    for (const std::size_t f : c.functions) {
      out.nodes.push_back(static_cast<std::uint16_t>(f));
      const encoded_node& function = g_.nodes()[f];
      if (const auto other = add_function(function, before, what)) given(*other, packed(tensor(*other).shape, false));
      before = function.outputs[0];
    }
    if (c.write) out.nodes.push_back(static_cast<std::uint16_t>(*c.write));
    out.outputs.push_back({c.last, dtype::f32, shape_of(n.outputs[0])});
    constexpr std::size_t most_inputs = 6;
    if (out.inputs.size() > most_inputs) return std::nullopt;
    auto how = program_of(on_, what);
    if (!how || how->workspace() > how_.workspace) return std::nullopt;
    out.workspace = how->workspace();
    out.at = place_of(out, l_);
    return found{std::move(out), std::move(*how)};
  }
  // Of those with other strides there is a copy.
  order order_of_filters(const roles& r, const chain& c) const {
    const bool are_made = r.filters == result_of(c.begin);
    if (are_made) return c.write ? is_[c.last] : order::first;
    return is_in_memory(r.filters) ? is_[r.filters] : order::first;
  }

  // Returns the tensor that it reads beside the one before, if any.
  std::optional<std::uint16_t> add_function(const encoded_node& n, std::uint16_t before, convolution& to) const {
    const epilogue::op f = n.attributes.as<pointwise_attributes>().function;
    if (n.input_count == 1) {
      to.functions.push_back(*function_of(f));
      return std::nullopt;
    }
    const std::uint16_t t = other_of(n, before);
    const bool adds = f == epilogue::op::add;
    if (adds && to.functions.empty() && !to.has_bias)
      to.has_bias = true;
    else
      to.functions.push_back({adds ? dnnl_binary_add : dnnl_binary_mul, 0, true});
    return t;
  }

  const dnnl_engine_t on_;
  const encoded_graph& g_;
  const search_options how_;
  const def_use l_;
  const read_set reads_;
  const bool is_wide_;
  std::vector<bool> is_claimed_;    // of each node
  std::vector<order> wanted_, is_;  // of each tensor
};

}  // namespace

std::vector<found> find_convolutions(dnnl_engine_t on, const encoded_graph& g, const search_options& how) {
  if (needs_double(g)) return {};
  return search(on, g, how).all();
}

}  // namespace troupe::dnn::onednn
