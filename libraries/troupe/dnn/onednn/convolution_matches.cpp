// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/dnn/onednn/convolution_matches.hpp>
#include <troupe/dnn/onednn/convolution_primitives.hpp>
#include <troupe/dnn/onednn/costs.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <troupe/dnn/steps/locations.hpp>
#include <troupe/dnn/steps/precision.hpp>
#include <troupe/dnn/steps/read_set.hpp>

namespace troupe::dnn::onednn {
namespace {

bool is_convolution(op o) noexcept {
  return o == op::convolution || o == op::convolution_data_gradient || o == op::convolution_weight_gradient;
}
bool maps_elements(op o) noexcept { return o == op::pointwise || o == op::convert; }
// Returns true if convolutions of this type are computed in f32.
bool is_float(dtype t) noexcept {
  return t == dtype::f32 || t == dtype::f16 || t == dtype::bf16 || t == dtype::f8e4m3 || t == dtype::f8e5m2;
}

image_layout layout_of(const tensor_shape& s) noexcept {
  const bool is_first = is_dense(s), is_last = s.rank > 1 && same_layout(s, with_dense_strides(s, true));
  return is_first == is_last ? image_layout::any
         : is_first          ? image_layout::channels_first
                             : image_layout::channels_last;
}
bool has_gaps(const tensor_shape& s) noexcept { return !is_dense(s) && !same_layout(s, with_dense_strides(s, true)); }
// Returns the layout in which two tensors are used together: channels first if one of them has it.
image_layout common(image_layout a, image_layout b) noexcept {
  return a == image_layout::channels_first || b == image_layout::channels_first ? image_layout::channels_first
         : a == image_layout::channels_last                                     ? a
                                                                                : b;
}

// Returns oneDNN's function that computes an elementwise function as it is defined; nullopt if oneDNN has none. relu
// becomes elu with factor 0, because oneDNN's relu turns NaN into 0. oneDNN's softplus and exponential differ from the
// definition.
std::optional<convolution_to_build::function> function_of(epilogue::op f) noexcept {
  switch (f) {
    case epilogue::op::relu:
      return convolution_to_build::function{dnnl_eltwise_elu};
    case epilogue::op::absolute:
      return convolution_to_build::function{dnnl_eltwise_abs};
    case epilogue::op::gelu:
      return convolution_to_build::function{dnnl_eltwise_gelu_erf};
    case epilogue::op::gelu_tanh:
      return convolution_to_build::function{dnnl_eltwise_gelu_tanh};
    case epilogue::op::silu:
      return convolution_to_build::function{dnnl_eltwise_swish, 1};
    case epilogue::op::tanh:
      return convolution_to_build::function{dnnl_eltwise_tanh};
    case epilogue::op::sigmoid:
      return convolution_to_build::function{dnnl_eltwise_logistic};
    case epilogue::op::hard_swish:
      return convolution_to_build::function{dnnl_eltwise_hardswish};
    default:
      return std::nullopt;
  }
}

class convolution_finder {
 public:
  convolution_finder(dnnl_engine_t on, const encoded_graph& g, const search_options& options)
      : on_(on),
        graph_(g),
        options_(options),
        uses_(g),
        reads_(g),
        is_wide_((calls().effective_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core),
        is_matched_(g.nodes().size()),
        preferred_(g.tensors().size(), image_layout::any),
        layouts_(g.tensors().size(), image_layout::any) {
    find_layouts();
  }

  std::vector<convolution_match> all() {
    std::vector<convolution_match> out;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const encoded_node& n = graph_.nodes()[i];
      auto found = is_convolution(n.what) && !is_matched_[i] ? find_at(i) : std::nullopt;
      if (found) {
        for (const std::uint16_t c : found->match.nodes) is_matched_[c] = true;
        const fusion_match::tensor& output = found->match.outputs[0];
        layouts_[n.outputs[0]] = layouts_[output.number] = layout_of(output.shape);
        out.push_back(std::move(*found));
      } else if (!is_matched_[i]) {
        for (const std::uint16_t t : std::span(n.outputs).first(n.output_count)) layouts_[t] = layout_written_by(n);
      }
    }
    return out;
  }

 private:
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return graph_.tensors()[t]; }
  bool is_in_memory(std::uint16_t t) const noexcept { return tensor(t).where == encoded_tensor::place::memory; }

  // Finds the layouts of the tensors in memory, and the layout that the readers of each tensor prefer.
  void find_layouts() {
    for (std::size_t t = 0; t < layouts_.size(); ++t)
      if (is_in_memory(static_cast<std::uint16_t>(t))) layouts_[t] = layout_of(graph_.tensors()[t].shape);
    for (std::size_t i = graph_.nodes().size(); i-- > 0;) {
      const encoded_node& n = graph_.nodes()[i];
      for (std::size_t k = 0; k < n.input_count; ++k) {
        image_layout& layout = preferred_[n.inputs[k]];
        layout = common(layout, layout_preferred_by(n, k));
      }
    }
  }
  image_layout layout_preferred_by(const encoded_node& n, std::size_t input) const noexcept {
    if (n.what == op::write) return layouts_[n.outputs[0]];
    if (maps_elements(n.what))
      return same_extents(tensor(n.inputs[input]).shape, tensor(n.outputs[0]).shape) ? preferred_[n.outputs[0]]
                                                                                     : image_layout::any;
    const bool is_image = input == 0 || n.what == op::convolution_weight_gradient;
    return is_convolution(n.what) && is_image ? image_layout::any : image_layout::channels_first;
  }
  image_layout layout_written_by(const encoded_node& n) const noexcept {
    if (n.what == op::write) return layouts_[n.outputs[0]];
    if (!maps_elements(n.what)) return image_layout::channels_first;
    image_layout out = image_layout::any;
    for (const std::uint16_t t : std::span(n.inputs).first(n.input_count))
      if (same_extents(tensor(t).shape, tensor(n.outputs[0]).shape)) out = common(out, layouts_[t]);
    return out;
  }

  // A convolution and the nodes to fuse with it: functions, each the only reader of the node before it, and then
  // possibly a write.
  struct fused_chain {
    std::size_t begin = 0;
    std::vector<std::size_t> functions = {};
    std::optional<std::size_t> write = {};
    std::uint16_t last = 0;
  };
  std::uint16_t result_of(std::size_t node) const noexcept { return graph_.nodes()[node].outputs[0]; }

  fused_chain find_chain(std::size_t node, std::size_t most_functions) const {
    fused_chain c{.begin = node, .last = result_of(node)};
    for (;;) {
      const auto next = uses_.only_reader_of(c.last);
      if (!next || is_matched_[*next]) return c;
      const encoded_node& n = graph_.nodes()[*next];
      const encoded_tensor& to = tensor(n.outputs[0]);
      if (n.what == op::write) {
        const bool is_plain = to.type == dtype::f32 && !has_gaps(to.shape) && !reads_.is_read(to.memory);
        if (is_plain) c.write = *next, c.last = n.outputs[0];
        return c;
      }
      if (c.functions.size() == most_functions || !can_fuse(n, c.last)) return c;
      // A unary function ends the chain: oneDNN 2.6 mixes up the parameters of two unary functions.
      const bool is_last = n.input_count == 1;
      c.functions.push_back(*next);
      if (is_last) most_functions = c.functions.size();
      c.last = n.outputs[0];
    }
  }

  // Returns true if oneDNN has the function, and its other input, if any, has one element for each channel.
  bool can_fuse(const encoded_node& n, std::uint16_t previous) const {
    if (n.what != op::pointwise || n.input_count > 2) return false;
    const epilogue::op f = n.attributes.as<pointwise_attributes>().function;
    if (n.input_count == 1) return function_of(f).has_value();
    if (f != epilogue::op::add && f != epilogue::op::multiply) return false;
    const encoded_tensor& other = tensor(other_input(n, previous));
    if (other.where == encoded_tensor::place::number) return false;
    return is_per_channel(other.shape, tensor(previous).shape);
  }

  std::optional<convolution_match> find_at(std::size_t node) const {
    const encoded_node& n = graph_.nodes()[node];
    for (const std::uint16_t t : {n.inputs[0], n.inputs[1], n.outputs[0]}) {
      const encoded_tensor& s = tensor(t);
      if (s.where == encoded_tensor::place::number || !is_float(s.type) || s.shape.rank < 3 || s.shape.rank > 5)
        return std::nullopt;
    }
    using enum convolution_to_build::strategy;
    std::array<convolution_to_build::strategy, 3> strategies{channels_last, library_choice, products};
    const convolution_cost cost = cost_of(find_chain(node, most_functions_of(node, channels_last)));
    std::sort(strategies.begin(), strategies.end(),
              [&](auto a, auto b) { return cost.of_onednn(a) < cost.of_onednn(b); });
    for (const convolution_to_build::strategy strategy : strategies) {
      if (!cost.allows(strategy) || (!options_.ignore_costs && cost.of_onednn(strategy) >= cost.of_own_loops()))
        continue;
      if (auto out = find_with(node, strategy)) return out;
    }
    return std::nullopt;
  }
  std::size_t most_functions_of(std::size_t node, convolution_to_build::strategy strategy) const noexcept {
    constexpr std::size_t most = 5, bias_alone = 1;
    if (graph_.nodes()[node].what != op::convolution) return 0;
    return strategy == convolution_to_build::strategy::products ? bias_alone : most;
  }
  // Returns the match with as many of the following functions as oneDNN accepts; nullopt if it does not accept the
  // convolution without functions.
  std::optional<convolution_match> find_with(std::size_t node, convolution_to_build::strategy strategy) const {
    for (std::size_t functions = most_functions_of(node, strategy);; --functions) {
      const fused_chain c = find_chain(node, functions);
      if (auto out = make_match(c, strategy)) return out;
      functions = std::min(functions, c.functions.size());
      if (functions == 0) return std::nullopt;
    }
  }

  using roles = convolution_roles<std::uint16_t>;
  static roles roles_of(const encoded_node& n) noexcept {
    return roles::of(computed_by(n.what), n.inputs[0], n.inputs[1], n.outputs[0]);
  }
  convolution_cost cost_of(const fused_chain& c) const {
    const encoded_node& n = graph_.nodes()[c.begin];
    const roles r = roles_of(n);
    const image_layout output_layout = c.write ? layouts_[c.last] : preferred_[c.last];
    return {.estimated = {.what = n.what,
                          .attributes = n.attributes.as<convolution_attributes>(),
                          .image = tensor(r.image).shape,
                          .filters = tensor(r.filters).shape,
                          .result = tensor(r.result).shape},
            .layout_of_image = r.image == n.outputs[0] ? output_layout : layouts_[r.image],
            .layout_of_result = r.result == n.outputs[0] ? output_layout : layouts_[r.result],
            .has_functions = !c.functions.empty(),
            .is_wide = is_wide_};
  }

  std::optional<convolution_match> make_match(const fused_chain& c, convolution_to_build::strategy strategy) const {
    const encoded_node& n = graph_.nodes()[c.begin];
    const roles r = roles_of(n);
    const convolution_cost cost = cost_of(c);
    const auto is_channels_last = [strategy](image_layout l) {
      return l == image_layout::channels_last ||
             (l == image_layout::any && strategy == convolution_to_build::strategy::channels_last);
    };
    convolution_to_build what = cost.estimated;
    what.image = with_dense_strides(what.image, is_channels_last(cost.layout_of_image));
    what.filters = with_dense_strides(what.filters, layout_of_filters(r, c) == image_layout::channels_last);
    what.result = with_dense_strides(what.result, is_channels_last(cost.layout_of_result));
    what.strategy_used = strategy;
    fusion_match out;
    const auto add_input = [&](std::uint16_t t, const tensor_shape& shape) {
      out.inputs.push_back({t, dtype::f32, shape});
    };
    const auto shape_of = [&](std::uint16_t t) -> const tensor_shape& {
      return t == r.image ? what.image : t == r.filters ? what.filters : what.result;
    };
    out.nodes.push_back(static_cast<std::uint16_t>(c.begin));
    for (const std::uint16_t t : {n.inputs[0], n.inputs[1]}) add_input(t, shape_of(t));
    std::uint16_t previous = n.outputs[0];
    for (const std::size_t f : c.functions) {
      out.nodes.push_back(static_cast<std::uint16_t>(f));
      const encoded_node& function = graph_.nodes()[f];
      if (const auto other = add_function(function, previous, what))
        add_input(*other, with_dense_strides(tensor(*other).shape, false));
      previous = function.outputs[0];
    }
    if (c.write) out.nodes.push_back(static_cast<std::uint16_t>(*c.write));
    out.outputs.push_back({c.last, dtype::f32, shape_of(n.outputs[0])});
    constexpr std::size_t most_inputs = 6;
    if (out.inputs.size() > most_inputs) return std::nullopt;
    auto primitives = make_primitive_list(on_, what);
    if (!primitives || primitives->workspace() > options_.workspace) return std::nullopt;
    out.workspace = primitives->workspace();
    out.at = position_of(out, uses_);
    return convolution_match{std::move(out), std::move(*primitives)};
  }
  // Returns the layout in which filters are read or written. Filters with other strides are copied.
  image_layout layout_of_filters(const roles& r, const fused_chain& c) const {
    const bool are_result = r.filters == result_of(c.begin);
    if (are_result) return c.write ? layouts_[c.last] : image_layout::channels_first;
    return is_in_memory(r.filters) ? layouts_[r.filters] : image_layout::channels_first;
  }

  // Adds the function of node `n` to `to`. Returns the function's other input, if it has one.
  std::optional<std::uint16_t> add_function(const encoded_node& n, std::uint16_t previous,
                                            convolution_to_build& to) const {
    const epilogue::op f = n.attributes.as<pointwise_attributes>().function;
    if (n.input_count == 1) {
      to.functions.push_back(*function_of(f));
      return std::nullopt;
    }
    const std::uint16_t t = other_input(n, previous);
    const bool adds = f == epilogue::op::add;
    if (adds && to.functions.empty() && !to.has_bias)
      to.has_bias = true;
    else
      to.functions.push_back({adds ? dnnl_binary_add : dnnl_binary_mul, 0, true});
    return t;
  }

  const dnnl_engine_t on_;
  const encoded_graph& graph_;
  const search_options options_;
  const def_use uses_;
  const read_set reads_;
  const bool is_wide_;
  std::vector<bool> is_matched_;                   // of each node
  std::vector<image_layout> preferred_, layouts_;  // of each tensor
};

}  // namespace

std::vector<convolution_match> find_convolutions(dnnl_engine_t on, const encoded_graph& g,
                                                 const search_options& options) {
  if (needs_double(g)) return {};
  return convolution_finder(on, g, options).all();
}

}  // namespace troupe::dnn::onednn
