// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/cudnn/sketch.hpp>

namespace troupe::dnn::cudnn {
namespace {

bool is_image(const tensor_shape& s) noexcept { return s.rank >= 3 && s.rank <= 5; }

// cuDNN's name of a function of what a convolution gives; nothing if it has none, or one that differs.
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

// Engines of cuDNN 9.19 whose results were wrong, by a comparison of all of its engines with the definition for 110,000
// random convolutions. Some do not heed padding that differs before and after the image, others read what nobody wrote.
std::vector<std::int64_t> distrusted_engines(op what, const convolution_attributes& f) {
  if (what == op::convolution) return {};
  if (what == op::convolution_data_gradient) return {78};
  const bool even = std::equal(f.window.padding_before, f.window.padding_before + most_spatial, f.window.padding_after);
  return even ? std::vector<std::int64_t>{17, 70} : std::vector<std::int64_t>{1, 17, 18, 20, 70};
}

// Draws a convolution of factors in one type, and what follows it.
class artist {
 public:
  /// `fuses`: whether cuDNN may have engines that compute functions of elements with the convolution.
  artist(const model& m, std::size_t node, dtype factors, bool fuses)
      : m_(m), l_(m.uses), first_(node), factors_(factors), fuses_(fuses) {
    const encoded_tensor& a = tensor(this->node(node).inputs[0]);
    channels_last_ = is_half(factors) || (a.where == encoded_tensor::place::memory &&
                                          lies_alike(a.shape, packed(a.shape, true)) && !is_dense(a.shape));
  }

  void draw_all(std::vector<sketch>& to) {
    follow();
    for (std::size_t n = chain_.size() + 1; n-- > 0;)
      if (auto s = draw(n)) to.push_back(std::move(*s));
  }

 private:
  const encoded_node& node(std::size_t i) const noexcept { return m_.node(i); }
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return m_.tensor(t); }

  // Finds the functions of elements that follow, each the only reader of the one before.
  void follow() {
    std::uint16_t at = node(first_).outputs[0];
    for (;;) {
      const auto next = l_.only_reader_of(at);
      if (!next || m_.matched[*next]) return;
      const encoded_node& n = node(*next);
      const bool ends = n.what == op::write || n.what == op::convert;
      const bool joins = ends ? fuses_ || tensor(n.outputs[0]).type == factors_ : fuses_ && is_function(n, at);
      if (!joins) return;
      chain_.push_back(*next);
      at = n.outputs[0];
      // What is rounded once more is only written.
      if (n.what == op::write) return;
      if (n.what == op::convert) {
        const auto last = l_.only_reader_of(at);
        if (last && !m_.matched[*last] && node(*last).what == op::write &&
            tensor(node(*last).outputs[0]).type == tensor(at).type)
          chain_.push_back(*last);
        return;
      }
    }
  }

  // One that cuDNN has, of the tensor before and one other: a number, one for each channel, or as many as there are.
  bool is_function(const encoded_node& n, std::uint16_t before) const {
    if (n.what != op::pointwise || n.input_count > 2) return false;
    if (!mode_of(n.attributes.as<pointwise_attributes>().function)) return false;
    if (n.input_count == 1) return true;
    const encoded_tensor& other = tensor(other_of(n, before));
    if (other.where == encoded_tensor::place::number) return true;
    if (!is_half(other.type) && other.type != dtype::f32) return false;
    const tensor_shape &s = other.shape, &whole = tensor(before).shape;
    return s.extents == whole.extents || is_of_channels(s, whole);
  }

  // How a tensor has to lie: without gaps, because some engines of cuDNN take others and do not heed them.
  std::optional<fusion_match::tensor> laid(std::uint16_t number, bool as_image, dtype type) const {
    const encoded_tensor& t = tensor(number);
    if (!type_of(type)) return std::nullopt;
    const bool far = t.where == encoded_tensor::place::memory && !m_.aligned[t.memory];
    return fusion_match::tensor{number, type, packed(t.shape, as_image && channels_last_), far};
  }
  bool can_write(const fusion_match::tensor& to) const {
    const encoded_tensor& t = tensor(to.number);
    return t.where != encoded_tensor::place::memory || (lies_alike(t.shape, to.shape) && m_.is_free(to.number));
  }

  // That of memory, or what it was rounded to; otherwise sums are kept.
  dtype type_of_result(std::uint16_t t) const noexcept {
    const encoded_tensor& seen = tensor(t);
    if (seen.where == encoded_tensor::place::memory || is_half(seen.type)) return seen.type;
    return factors_ == dtype::f64 ? dtype::f64 : dtype::f32;
  }

  // The first `count` nodes of the chain.
  std::optional<sketch> draw(std::size_t count) const {
    const encoded_node& n = node(first_);
    const std::span<const std::size_t> chain(chain_.data(), count);
    const std::uint16_t last = count == 0 ? n.outputs[0] : node(chain.back()).outputs[0];
    sketch s{.what = {},
             .drawn = {},
             .exact_f32 = factors_ == dtype::f32,
             .distrusted = distrusted_engines(n.what, n.attributes.as<convolution_attributes>())};
    s.what.nodes.push_back(static_cast<std::uint16_t>(first_));
    for (const std::size_t c : chain) s.what.nodes.push_back(static_cast<std::uint16_t>(c));

    const auto a = laid(n.inputs[0], true, factors_), b = laid(n.inputs[1], true, factors_),
               to = laid(last, true, type_of_result(last));
    if (!a || !b || !to || !can_write(*to)) return std::nullopt;
    // To integers and to bool cuDNN may round otherwise than the definition, which whole numbers in a trial do not
    // show.
    if (info(to->type).kind != dtype_kind::floating) return std::nullopt;
    const auto give = [&](const fusion_match::tensor& t, std::vector<fusion_match::tensor>& list) {
      list.push_back(t);
      return s.drawn.given(t.type, t.shape);
    };
    const operations::tensor left = give(*a, s.what.inputs), right = give(*b, s.what.inputs);
    // The functions between, without writes and conversions.
    std::vector<std::size_t> functions;
    for (const std::size_t c : chain)
      if (node(c).what == op::pointwise) functions.push_back(c);
    std::vector<std::optional<operations::tensor>> others;
    std::uint16_t before = n.outputs[0];
    for (const std::size_t c : functions) {
      const encoded_node& f = node(c);
      std::optional<operations::tensor> other;
      if (f.input_count == 2) {
        const std::uint16_t t = other_of(f, before);
        if (tensor(t).where == encoded_tensor::place::number) {
          other = s.drawn.number(tensor(t).number);
        } else {
          const auto l = laid(t, tensor(t).shape.extents == tensor(before).shape.extents, tensor(t).type);
          if (!l) return std::nullopt;
          other = give(*l, s.what.inputs);
        }
      }
      others.push_back(other);
      before = f.outputs[0];
    }
    const operations::tensor end = give(*to, s.what.outputs);
    const tensor_shape within = packed(tensor(n.outputs[0]).shape, channels_last_);
    operations::tensor at = functions.empty() ? end : s.drawn.between(within);
    s.drawn.convolution(n.what, n.attributes.as<convolution_attributes>(),
                        factors_ == dtype::f64 ? dtype::f64 : dtype::f32, left, right, at);
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const operations::tensor next = i + 1 == functions.size() ? end : s.drawn.between(within);
      const auto mode = *mode_of(node(functions[i]).attributes.as<pointwise_attributes>().function);
      if (others[i])
        s.drawn.pointwise({mode}, {at, *others[i]}, next);
      else
        s.drawn.pointwise({mode}, {at}, next);
      at = next;
    }
    s.what.at = place_of(s.what, m_.uses);
    return s;
  }

  const model& m_;
  const def_use& l_;
  const std::size_t first_;
  const dtype factors_;
  const bool fuses_;
  bool channels_last_ = false;
  std::vector<std::size_t> chain_;
};

// The types in which the factors can be multiplied without loss, the fastest first.
std::vector<dtype> types_of_factors(dtype t) {
  if (is_half(t)) return {t, dtype::f32};
  if (t == dtype::f32 || t == dtype::f8e4m3 || t == dtype::f8e5m2) return {dtype::f32};
  if (t == dtype::f64 || t == dtype::i8) return {dtype::f64};
  return {};
}

}  // namespace

std::vector<sketch> sketches_of_convolution(const model& m, std::size_t node, bool exact) {
  const encoded_node& n = m.node(node);
  for (const std::uint16_t t : {n.inputs[0], n.inputs[1], n.outputs[0]})
    if (m.tensor(t).where == encoded_tensor::place::number || !is_image(m.tensor(t).shape)) return {};
  std::vector<sketch> out;
  for (const dtype t : types_of_factors(m.tensor(n.inputs[0]).type))
    artist(m, node, t, is_half(t) || (t == dtype::f32 && !exact)).draw_all(out);
  return out;
}

}  // namespace troupe::dnn::cudnn
