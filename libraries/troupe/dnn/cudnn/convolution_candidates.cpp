// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/cudnn/candidate.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/steps/locations.hpp>

namespace troupe::dnn::cudnn {
namespace {

bool is_image(const tensor_shape& s) noexcept { return s.rank >= 3 && s.rank <= 5; }

// Returns cuDNN's mode for a function; nullopt if cuDNN does not have the function, or computes it differently.
std::optional<cudnnPointwiseMode_t> mode_of(epilogue::op function) noexcept {
  switch (function) {
    case epilogue::op::add:
      return CUDNN_POINTWISE_ADD;
    case epilogue::op::multiply:
      return CUDNN_POINTWISE_MUL;
    case epilogue::op::relu:
      return CUDNN_POINTWISE_RELU_FWD;
    case epilogue::op::sigmoid:
      return CUDNN_POINTWISE_SIGMOID_FWD;
    case epilogue::op::tanh:
      return CUDNN_POINTWISE_TANH_FWD;
    case epilogue::op::silu:
      return CUDNN_POINTWISE_SWISH_FWD;
    default:
      return std::nullopt;
  }
}

// Returns the engines of cuDNN 9.19 with wrong results. They were found by comparing all engines with the definition
// for 110,000 random convolutions. Some ignore that padding differs before and after the image, others read
// uninitialized memory.
std::vector<std::int64_t> wrong_engines(op what, const convolution_attributes& a) {
  if (what == op::convolution) return {};
  if (what == op::convolution_data_gradient) return {78};
  const bool is_symmetric = std::all_of(a.slides.begin(), a.slides.end(),
                                        [](const windows::slide& s) { return s.padding_before == s.padding_after; });
  return is_symmetric ? std::vector<std::int64_t>{17, 70} : std::vector<std::int64_t>{1, 17, 18, 20, 70};
}

// Builds the candidates for a convolution and the nodes that follow it. The factors are converted to one type.
class convolution_candidate_builder {
 public:
  /// Makes a builder. `fuses` is true if cuDNN may have engines that fuse elementwise functions with the convolution.
  convolution_candidate_builder(const graph_analysis& analysis, std::size_t node, dtype factors, bool fuses)
      : analysis_(analysis), uses_(analysis.uses), first_(node), factors_(factors), fuses_(fuses) {
    const encoded_tensor& a = tensor(this->node(node).inputs[0]);
    channels_last_ =
        is_half(factors) || (a.where == encoded_tensor::place::memory &&
                             same_layout(a.shape, with_dense_strides(a.shape, true)) && !is_dense(a.shape));
  }

  void build_all(std::vector<candidate>& to) {
    find_functions();
    for (std::size_t n = followers_.size() + 1; n-- > 0;)
      if (auto s = build(n)) to.push_back(std::move(*s));
  }

 private:
  const encoded_node& node(std::size_t i) const noexcept { return analysis_.node(i); }
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return analysis_.tensor(t); }

  // Finds the elementwise nodes that follow the convolution. Each is the only reader of the result of the node before
  // it.
  void find_functions() {
    std::uint16_t at = node(first_).outputs[0];
    for (;;) {
      const auto next = uses_.only_reader_of(at);
      if (!next || analysis_.matched[*next]) return;
      const encoded_node& n = node(*next);
      const bool ends = n.what == op::write || n.what == op::convert;
      const bool can_join = ends ? fuses_ || tensor(n.outputs[0]).type == factors_ : fuses_ && can_fuse(n, at);
      if (!can_join) return;
      followers_.push_back(*next);
      at = n.outputs[0];
      // Only a write can follow a conversion.
      if (n.what == op::write) return;
      if (n.what == op::convert) {
        const auto last = uses_.only_reader_of(at);
        if (last && !analysis_.matched[*last] && node(*last).what == op::write &&
            tensor(node(*last).outputs[0]).type == tensor(at).type)
          followers_.push_back(*last);
        return;
      }
    }
  }

  // Returns true if cuDNN has the function, and its other input, if any, is a number, has one element for each channel,
  // or has the extents of the image.
  bool can_fuse(const encoded_node& n, std::uint16_t before) const {
    if (n.what != op::pointwise || n.input_count > 2) return false;
    if (!mode_of(n.attributes.as<pointwise_attributes>().function)) return false;
    if (n.input_count == 1) return true;
    const encoded_tensor& other = tensor(other_input(n, before));
    if (other.where == encoded_tensor::place::number) return true;
    if (!is_half(other.type) && other.type != dtype::f32) return false;
    const tensor_shape &s = other.shape, &image = tensor(before).shape;
    return s.extents == image.extents || is_per_channel(s, image);
  }

  // Returns a tensor as cuDNN reads or writes it: dense, because some of its engines accept other strides but ignore
  // them. Returns nullopt if cuDNN does not have the type.
  std::optional<fusion_match::tensor> operand(std::uint16_t t, bool as_image, dtype type) const {
    if (!type_of(type)) return std::nullopt;
    return analysis_.dense_operand(t, type, as_image && channels_last_);
  }
  bool can_write(const fusion_match::tensor& to) const {
    const encoded_tensor& t = tensor(to.number);
    return t.where != encoded_tensor::place::memory || (same_layout(t.shape, to.shape) && analysis_.is_free(to.number));
  }

  // Returns the type in which a result is stored: the type of its memory, or the half type to which it was rounded,
  // otherwise the type in which the convolution adds.
  dtype type_of_result(std::uint16_t t) const noexcept {
    const encoded_tensor& result = tensor(t);
    if (result.where == encoded_tensor::place::memory || is_half(result.type)) return result.type;
    return factors_ == dtype::f64 ? dtype::f64 : dtype::f32;
  }

  // Builds the candidate with the first `count` followers. Returns nullopt if cuDNN cannot have an engine for it.
  std::optional<candidate> build(std::size_t count) const {
    const encoded_node& n = node(first_);
    const std::span<const std::size_t> followers(followers_.data(), count);
    const std::uint16_t last = count == 0 ? n.outputs[0] : node(followers.back()).outputs[0];
    candidate out{.match = {},
                  .graph = {},
                  .exact_f32 = factors_ == dtype::f32,
                  .excluded_engines = wrong_engines(n.what, n.attributes.as<convolution_attributes>())};
    out.match.nodes.push_back(static_cast<std::uint16_t>(first_));
    for (const std::size_t c : followers) out.match.nodes.push_back(static_cast<std::uint16_t>(c));

    const auto a = operand(n.inputs[0], true, factors_), b = operand(n.inputs[1], true, factors_),
               to = operand(last, true, type_of_result(last));
    if (!a || !b || !to || !can_write(*to)) return std::nullopt;
    // cuDNN may round to integers and to bool differently from the definition. Trials do not detect that, because their
    // operands are whole numbers.
    if (info(to->type).kind != dtype_kind::floating) return std::nullopt;
    const auto add = [&](const fusion_match::tensor& t, std::vector<fusion_match::tensor>& list) {
      list.push_back(t);
      return out.graph.argument(t.type, t.shape);
    };
    const operation_graph::tensor_id left = add(*a, out.match.inputs), right = add(*b, out.match.inputs);
    // The followers without writes and conversions.
    std::vector<std::size_t> functions;
    for (const std::size_t c : followers)
      if (node(c).what == op::pointwise) functions.push_back(c);
    std::vector<std::optional<operation_graph::tensor_id>> others;
    std::uint16_t before = n.outputs[0];
    for (const std::size_t c : functions) {
      const encoded_node& f = node(c);
      std::optional<operation_graph::tensor_id> other;
      if (f.input_count == 2) {
        const std::uint16_t t = other_input(f, before);
        if (tensor(t).where == encoded_tensor::place::number) {
          other = out.graph.constant(tensor(t).number);
        } else {
          const auto l = operand(t, tensor(t).shape.extents == tensor(before).shape.extents, tensor(t).type);
          if (!l) return std::nullopt;
          other = add(*l, out.match.inputs);
        }
      }
      others.push_back(other);
      before = f.outputs[0];
    }
    const operation_graph::tensor_id end = add(*to, out.match.outputs);
    const tensor_shape intermediate = with_dense_strides(tensor(n.outputs[0]).shape, channels_last_);
    operation_graph::tensor_id at = functions.empty() ? end : out.graph.intermediate(intermediate);
    out.graph.convolution(n.what, n.attributes.as<convolution_attributes>(),
                          factors_ == dtype::f64 ? dtype::f64 : dtype::f32, left, right, at);
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const operation_graph::tensor_id next = i + 1 == functions.size() ? end : out.graph.intermediate(intermediate);
      const auto mode = *mode_of(node(functions[i]).attributes.as<pointwise_attributes>().function);
      if (others[i])
        out.graph.pointwise({mode}, {at, *others[i]}, next);
      else
        out.graph.pointwise({mode}, {at}, next);
      at = next;
    }
    out.match.at = position_of(out.match, analysis_.uses);
    return out;
  }

  const graph_analysis& analysis_;
  const def_use& uses_;
  const std::size_t first_;
  const dtype factors_;
  const bool fuses_;
  bool channels_last_ = false;
  std::vector<std::size_t> followers_;
};

// Returns the types to which factors of type `t` can be converted for cuDNN without rounding, the fastest first.
std::vector<dtype> types_of_factors(dtype t) {
  if (is_half(t)) return {t, dtype::f32};
  if (t == dtype::f32 || t == dtype::f8e4m3 || t == dtype::f8e5m2) return {dtype::f32};
  if (t == dtype::f64 || t == dtype::i8) return {dtype::f64};
  return {};
}

}  // namespace

std::vector<candidate> convolution_candidates(const graph_analysis& g, std::size_t node, bool exact) {
  const encoded_node& n = g.node(node);
  for (const std::uint16_t t : {n.inputs[0], n.inputs[1], n.outputs[0]})
    if (g.tensor(t).where == encoded_tensor::place::number || !is_image(g.tensor(t).shape)) return {};
  std::vector<candidate> out;
  for (const dtype t : types_of_factors(g.tensor(n.inputs[0]).type))
    convolution_candidate_builder(g, node, t, is_half(t) || (t == dtype::f32 && !exact)).build_all(out);
  return out;
}

}  // namespace troupe::dnn::cudnn
