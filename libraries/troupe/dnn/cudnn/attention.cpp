// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <troupe/base/round_up.hpp>
#include <troupe/dnn/attention_attributes.hpp>
#include <troupe/dnn/cudnn/scores.hpp>
#include <troupe/dnn/cudnn/sketch.hpp>

namespace troupe::dnn::cudnn {
namespace {

// Whether cuDNN has all that the attributes asks for, and each query sees a key: what it gives otherwise is not as
// defined.
bool is_taken(const attention_attributes& f, const tensor_shape& q, const tensor_shape& k) noexcept {
  if (f.soft_cap != 0 || f.has_bias != 0 || f.has_alibi != 0 || f.has_pages != 0 || f.has_step != 0) return false;
  if (f.dropout != 0 || f.queries != sequence_layout::whole || f.keys != sequence_layout::whole) return false;
  const std::int64_t shift = f.bottom_right != 0 ? k.extents[2] - q.extents[2] : 0;
  return shift + f.right >= 0 && q.extents[2] - 1 + shift - f.left <= k.extents[2] - 1 && q.extents[2] > 1;
}

class artist {
 public:
  artist(const model& m, std::size_t node)
      : m_(m), node_(m.node(node)), attributes_(node_.attributes.as<attention_attributes>()) {
    s_.what.nodes.push_back(static_cast<std::uint16_t>(node));
    s_.unit = 0.25;
  }

  std::vector<sketch> forward() {
    if (!look(0, 3, 0)) return {};
    const auto y = written(node_.outputs[0], a_.type), statistics = written(node_.outputs[1], dtype::f32);
    if (!y || !statistics) return {};
    const auto q = give(input(0)), k = give(input(1), true), v = give(input(2));
    const auto to = give(*y, s_.what.outputs), rows = give(*statistics, s_.what.outputs);
    a_.forward(s_.drawn, q, k, v, to, rows);
    s_.factors = 3;
    return done();
  }

  // Inputs: dy, y, statistics, q, k, v.
  std::vector<sketch> backward(bool repeatable) {
    if (!look(3, 6, 2) || m_.tensor(node_.inputs[2]).type != dtype::f32) return {};
    const auto dq = written(node_.outputs[0], a_.type), dk = written(node_.outputs[1], a_.type),
               dv = written(node_.outputs[2], a_.type);
    if (!dq || !dk || !dv) return {};
    attention_drawing::gradient g{};
    g.dy = give(input(0)), g.y = give(input(1));
    g.statistics = give({node_.inputs[2], dtype::f32, a_.rows()});
    g.q = give(input(3)), g.k = give(input(4), true), g.v = give(input(5), true);
    g.dq = give(*dq, s_.what.outputs), g.dk = give(*dk, s_.what.outputs), g.dv = give(*dv, s_.what.outputs);
    g.row_sums = give_extra(a_.rows());
    if (!repeatable) g.sums_of_q = give_extra(a_.sums_of_q());
    a_.backward(s_.drawn, g);
    return done();
  }

 private:
  // Whether the inputs have one half type, q, k and v from `first` on and `others` before them.
  bool look(std::size_t first, std::size_t end, std::size_t others) {
    a_.type = m_.tensor(node_.inputs[first]).type;
    if (!is_half(a_.type)) return false;
    for (std::size_t i = 0; i < end; ++i) {
      const encoded_tensor& t = m_.tensor(node_.inputs[i]);
      const bool counts = i >= first || i < others;
      if (t.where == encoded_tensor::place::number || (counts && t.type != a_.type)) return false;
      if (counts && (t.shape.extents[3] % 8 != 0 || t.shape.extents[3] > 256)) return false;
    }
    a_.q = input(first).shape, a_.k = input(first + 1).shape, a_.v = input(first + 2).shape;
    if (!is_taken(attributes_, a_.q, a_.k)) return false;
    a_.scale = attributes_.scale, a_.bottom_right = attributes_.bottom_right != 0;
    if (attributes_.left < a_.k.extents[2] + a_.q.extents[2]) a_.left = attributes_.left;
    if (attributes_.right < a_.k.extents[2] + a_.q.extents[2]) a_.right = attributes_.right;
    return true;
  }

  // As it lies in memory, if each token's numbers are neighbours.
  fusion_match::tensor laid(std::uint16_t number, dtype type) const {
    const encoded_tensor& t = m_.tensor(number);
    fusion_match::tensor out{number, type, t.shape};
    out.shape.strides = dense_strides(out.shape);
    if (t.where != encoded_tensor::place::memory) return out;
    out.copied = !m_.aligned[t.memory];
    const auto fits = [&](std::size_t i) {
      return t.shape.extents[i] == 1 || (t.shape.strides[i] > 0 && t.shape.strides[i] % 8 == 0);
    };
    if (t.type == type && t.shape.strides[3] == 1 && fits(0) && fits(1) && fits(2)) out.shape = t.shape;
    return out;
  }
  fusion_match::tensor input(std::size_t i) const { return laid(node_.inputs[i], m_.tensor(node_.inputs[i]).type); }

  // Where an output is to be in this type: converted or written by its only reader, or not read at all. Numbers that
  // are float are also kept between nodes.
  std::optional<fusion_match::tensor> written(std::uint16_t number, dtype type) {
    if (m_.uses.readers_of(number) == 0) return laid(number, type);
    const std::uint16_t at =
        follow_result(m_, number, type, s_.what, [&](std::uint16_t to) { return can_write(to, type); });
    if (at == number && type != dtype::f32) return std::nullopt;
    return laid(at, type);
  }
  // Statistics lie without gaps.
  bool can_write(std::uint16_t to, dtype type) const {
    const encoded_tensor& t = m_.tensor(to);
    if (t.where != encoded_tensor::place::memory) return true;
    return m_.is_free(to) && (type == dtype::f32 ? is_dense(t.shape) : lies_alike(laid(to, type).shape, t.shape));
  }

  operations::tensor give(const fusion_match::tensor& t, bool turned = false) {
    s_.what.inputs.push_back(t);
    return s_.drawn.given(t.type, turned ? attention_drawing::turned(t.shape) : t.shape);
  }
  operations::tensor give(const fusion_match::tensor& t, std::vector<fusion_match::tensor>& list) {
    list.push_back(t);
    return s_.drawn.given(t.type, t.shape);
  }
  operations::tensor give_extra(const tensor_shape& s) {
    s_.extra.push_back(static_cast<std::uint64_t>(elements_of(s)) * sizeof(float));
    return s_.drawn.given(dtype::f32, s);
  }
  std::vector<sketch> done() {
    std::sort(s_.what.nodes.begin(), s_.what.nodes.end());
    s_.what.at = place_of(s_.what, m_.uses);
    std::vector<sketch> out;
    out.push_back(std::move(s_));
    return out;
  }

  const model& m_;
  const encoded_node& node_;
  const attention_attributes attributes_;
  attention_drawing a_;
  sketch s_;
};

}  // namespace

std::vector<sketch> sketches_of_attention(const model& m, std::size_t node) { return artist(m, node).forward(); }
std::vector<sketch> sketches_of_attention_gradient(const model& m, std::size_t node, bool repeatable) {
  return artist(m, node).backward(repeatable);
}

}  // namespace troupe::dnn::cudnn
