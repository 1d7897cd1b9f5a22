// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <troupe/dnn/cudnn/attention_operations.hpp>
#include <troupe/dnn/cudnn/candidate.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/steps/locations.hpp>

namespace troupe::dnn::cudnn {
namespace {

using place = encoded_tensor::place;

// Returns true if cuDNN supports the attributes, and each query attends to a key. For queries that attend to none,
// cuDNN's results differ from the definition.
bool is_supported(const attention_attributes& a, const tensor_shape& q, const tensor_shape& k) noexcept {
  if (a.soft_cap != 0 || a.has_bias != 0 || a.has_alibi != 0 || a.has_pages != 0 || a.has_step != 0) return false;
  if (a.dropout != 0 || a.queries != sequence_layout::whole || a.keys != sequence_layout::whole) return false;
  const std::int64_t shift = a.bottom_right != 0 ? k.extents[2] - q.extents[2] : 0;
  return shift + a.right >= 0 && q.extents[2] - 1 + shift - a.left <= k.extents[2] - 1 && q.extents[2] > 1;
}

class attention_candidate_builder {
 public:
  // If `is_dense`, tensors between nodes are dense, whatever the nodes around this one would read or write.
  attention_candidate_builder(const graph_analysis& analysis, std::size_t node, bool is_dense)
      : analysis_(analysis),
        node_(analysis.node(node)),
        attributes_(node_.attributes.as<attention_attributes>()),
        is_dense_(is_dense) {
    candidate_.match.nodes.push_back(static_cast<std::uint16_t>(node));
    candidate_.trial_unit = 0.25;
  }

  std::vector<candidate> attention_candidates() {
    if (!read_inputs(0, 3, 0)) return {};
    const auto y = output(node_.outputs[0], attention_.type), statistics = output(node_.outputs[1], dtype::f32);
    if (!y || !statistics) return {};
    const auto q = add(input(0)), k = add(input(1), true), v = add(input(2));
    const auto to = add(*y, candidate_.match.outputs), rows = add(*statistics, candidate_.match.outputs);
    attention_.add_attention(candidate_.graph, q, k, v, to, rows);
    candidate_.factors = 3;
    return finish();
  }

  // The node's inputs are dy, y, statistics, q, k and v.
  std::vector<candidate> gradient_candidates(bool repeatable) {
    if (!read_inputs(3, 6, 2) || analysis_.tensor(node_.inputs[2]).type != dtype::f32) return {};
    const auto dq = output(node_.outputs[0], attention_.type), dk = output(node_.outputs[1], attention_.type),
               dv = output(node_.outputs[2], attention_.type);
    if (!dq || !dk || !dv) return {};
    attention_operations::gradient_tensors g{};
    g.dy = add(input(0)), g.y = add(input(1));
    g.statistics = add({node_.inputs[2], dtype::f32, attention_.rows()});
    g.q = add(input(3)), g.k = add(input(4), true), g.v = add(input(5), true);
    g.dq = add(*dq, candidate_.match.outputs), g.dk = add(*dk, candidate_.match.outputs),
    g.dv = add(*dv, candidate_.match.outputs);
    g.row_sums = add_scratch(attention_.rows());
    if (!repeatable) g.dq_sums = add_scratch(attention_.dq_sums());
    attention_.add_gradient(candidate_.graph, g);
    return finish();
  }

 private:
  // Sets `attention_`. q, k and v are the inputs from `first` on. Returns true if they and the first `others` inputs
  // have one half type, and cuDNN supports the attention.
  bool read_inputs(std::size_t first, std::size_t end, std::size_t others) {
    attention_.type = analysis_.tensor(node_.inputs[first]).type;
    if (!is_half(attention_.type)) return false;
    for (std::size_t i = 0; i < end; ++i) {
      const encoded_tensor& t = analysis_.tensor(node_.inputs[i]);
      const bool must_be_half = i >= first || i < others;
      if (t.where == place::number || (must_be_half && t.type != attention_.type)) return false;
      if (must_be_half && (t.shape.extents[3] % 8 != 0 || t.shape.extents[3] > 256)) return false;
    }
    attention_.q = input(first).shape, attention_.k = input(first + 1).shape, attention_.v = input(first + 2).shape;
    if (!is_supported(attributes_, attention_.q, attention_.k)) return false;
    attention_.scale = attributes_.scale, attention_.bottom_right = attributes_.bottom_right != 0;
    if (attributes_.left < attention_.k.extents[2] + attention_.q.extents[2]) attention_.left = attributes_.left;
    if (attributes_.right < attention_.k.extents[2] + attention_.q.extents[2]) attention_.right = attributes_.right;
    return true;
  }

  // Returns a tensor as cuDNN reads or writes it: where it is expected to be, or wanted, if the elements of each token
  // are contiguous there, otherwise dense.
  fusion_match::tensor operand(std::uint16_t number, dtype type, const tensor_shape& at) const {
    fusion_match::tensor out = analysis_.dense_operand(number, type);
    const auto fits = [&](std::size_t i) {
      return at.extents[i] == 1 || (at.strides[i] > 0 && at.strides[i] % 8 == 0);
    };
    const bool is_free = !is_dense_ || analysis_.tensor(number).where == place::memory;
    if (is_free && analysis_.tensor(number).type == type && at.strides[3] == 1 && fits(0) && fits(1) && fits(2))
      out.shape = at;
    return out;
  }
  fusion_match::tensor input(std::size_t i) const {
    const std::uint16_t number = node_.inputs[i];
    return operand(number, analysis_.tensor(number).type, expected_shape(analysis_, number));
  }
  fusion_match::tensor result(std::uint16_t number, dtype type) const {
    const encoded_tensor& t = analysis_.tensor(number);
    return operand(number, type,
                   t.where == place::memory ? t.shape : wanted_shape(analysis_.graph, analysis_.uses, number));
  }

  // Returns the tensor that stores an output in this type: the tensor that its only reader converts or writes, or the
  // output itself if nothing reads it or the type is f32. Returns nullopt if there is no such tensor.
  std::optional<fusion_match::tensor> output(std::uint16_t number, dtype type) {
    if (analysis_.uses.readers_of(number).empty()) return analysis_.dense_operand(number, type);
    const std::uint16_t at =
        follow_result(analysis_, number, type, candidate_.match, [&](std::uint16_t to) { return can_write(to, type); });
    if (at == number && type != dtype::f32) return std::nullopt;
    return result(at, type);
  }
  // Returns true if cuDNN can write to a tensor directly. Statistics, the only outputs in f32, must be dense.
  bool can_write(std::uint16_t to, dtype type) const {
    const encoded_tensor& t = analysis_.tensor(to);
    if (t.where != place::memory) return true;
    return analysis_.is_free(to) &&
           (type == dtype::f32 ? is_dense(t.shape) : same_layout(result(to, type).shape, t.shape));
  }

  operation_graph::tensor_id add(const fusion_match::tensor& t, bool is_transposed = false) {
    candidate_.match.inputs.push_back(t);
    return candidate_.graph.argument(t.type, is_transposed ? attention_operations::transposed(t.shape) : t.shape);
  }
  operation_graph::tensor_id add(const fusion_match::tensor& t, std::vector<fusion_match::tensor>& list) {
    list.push_back(t);
    return candidate_.graph.argument(t.type, t.shape);
  }
  operation_graph::tensor_id add_scratch(const tensor_shape& s) {
    candidate_.scratch_bytes.push_back(static_cast<std::uint64_t>(elements_of(s)) * sizeof(float));
    return candidate_.graph.argument(dtype::f32, s);
  }
  std::vector<candidate> finish() {
    std::sort(candidate_.match.nodes.begin(), candidate_.match.nodes.end());
    candidate_.match.at = position_of(candidate_.match, analysis_.uses);
    std::vector<candidate> out;
    out.push_back(std::move(candidate_));
    return out;
  }

  const graph_analysis& analysis_;
  const encoded_node& node_;
  const attention_attributes attributes_;
  const bool is_dense_;
  attention_operations attention_;
  candidate candidate_;
};

// Returns candidates that read and write tensors where they are, then others, if they differ, that have dense copies.
template <class Make>
std::vector<candidate> with_dense_candidates(const Make& make) {
  std::vector<candidate> out = make(false), dense = make(true);
  if (!out.empty() && out[0].graph.description() != dense[0].graph.description())
    std::ranges::move(dense, std::back_inserter(out));
  return out;
}

}  // namespace

std::vector<candidate> attention_candidates(const graph_analysis& g, std::size_t node) {
  return with_dense_candidates(
      [&](bool is_dense) { return attention_candidate_builder(g, node, is_dense).attention_candidates(); });
}
std::vector<candidate> attention_gradient_candidates(const graph_analysis& g, std::size_t node, bool repeatable) {
  return with_dense_candidates(
      [&](bool is_dense) { return attention_candidate_builder(g, node, is_dense).gradient_candidates(repeatable); });
}

}  // namespace troupe::dnn::cudnn
