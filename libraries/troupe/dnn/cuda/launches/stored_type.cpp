// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/launches/attention_decoding.hpp>
#include <troupe/dnn/cuda/launches/attention_launches.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/cuda/launches/stored_type.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/steps/precision.hpp>

namespace troupe::dnn {
namespace {

using namespace kernel_arguments;

constexpr bool is_read_as_stored(dtype t) noexcept { return t == dtype::f32 || t == dtype::f16 || t == dtype::bf16; }

// The rows of x for the gradient of a normalization over the last axes. Scale and offset, if given, have the extents of
// a row.
struct row_shape {
  std::int64_t count = 1, width = 1;

  static std::optional<row_shape> of(const normalization_attributes& a, const tensor_shape& x,
                                     const tensor_shape* scale) {
    if (a.groups > 1 || a.has_running != 0) return std::nullopt;
    row_shape out;
    for (std::size_t i = 0; i < x.rank; ++i) {
      const bool is_inside = (a.over >> i & 1) != 0;
      if (!is_inside && out.width != 1 && x.extents[i] != 1) return std::nullopt;
      (is_inside ? out.width : out.count) *= x.extents[i];
      if (scale != nullptr && scale->extents[i] != (is_inside ? x.extents[i] : 1)) return std::nullopt;
    }
    constexpr std::int64_t widest = std::int64_t{most_gradient_threads} * gradient_vectors * elements_per_vector;
    return out.width % elements_per_vector == 0 && out.width <= widest ? std::optional(out) : std::nullopt;
  }
  // Returns the threads of a row.
  std::uint32_t threads() const noexcept {
    const auto needed =
        static_cast<std::uint32_t>(divided_up(width, std::int64_t{gradient_vectors} * elements_per_vector));
    return std::max(32u, std::bit_ceil(needed));
  }
  unsigned threads_of_block() const noexcept { return std::max(fewest_threads, threads()); }
  std::int64_t rows_of_block() const noexcept { return threads_of_block() / threads(); }
  std::int64_t blocks() const noexcept { return divided_up(count, rows_of_block()); }
  // Returns the number of parts of the rows for which the gradients of scale and offset are summed apart. It is the
  // same on all GPUs, so that results are the same.
  std::int64_t parts() const noexcept {
    const std::int64_t enough = std::int64_t{132} * (most_gradient_threads / threads_of_block());
    constexpr std::int64_t most_rows = 256;
    return std::max(std::min(blocks(), enough), divided_up(blocks(), most_rows));
  }
  std::int64_t sums() const noexcept { return parts() * rows_of_block(); }
  rows arguments(const normalization_attributes& a) const noexcept {
    return {count, width, a.rms, threads(), static_cast<std::uint32_t>(std::countr_zero(threads()))};
  }
};

class stored_type_matcher {
 public:
  stored_type_matcher(const graph_analysis& m, std::size_t node) : m_(m), node_(m.node(node)) {
    out_.nodes.push_back(static_cast<std::uint16_t>(node));
  }

  // Matches the gradient of a normalization of rows with scale and offset, whose gradients are sums over all rows.
  std::optional<fusion_match> gradient_of_row_normalization() {
    const auto a = node_.attributes.as<normalization_attributes>();
    const normalization_inputs at(node_.what, a);
    if (node_.what != op::normalization_gradient || a.has_affine == 0) return std::nullopt;
    const encoded_tensor& x = m_.tensor(node_.inputs[at.x]);
    // A set kernel computes more in one pass if dx is not stored as it is, and needs no copies if types differ.
    if (!storing_reader_of(node_.outputs[0])) return std::nullopt;
    if (type_of(node_.inputs[0]) != type_of(node_.inputs[at.x])) return std::nullopt;
    // x and dy have one type, scale and offset have this type or f32, and all other inputs are f32.
    const dtype type = type_of(node_.inputs[at.x]);
    const dtype affine = common_type(at.scale, node_.input_count) == type ? type : dtype::f32;
    const tensor_shape* const scale = &m_.tensor(node_.inputs[at.scale]).shape;
    const auto rows = row_shape::of(a, x.shape, scale);
    if (!rows) return std::nullopt;
    for (std::size_t i = 0; i < node_.input_count; ++i) {
      if (m_.tensor(node_.inputs[i]).where == place::number) return std::nullopt;
      const bool is_image = i <= at.x, is_affine = i >= at.scale;
      out_.inputs.push_back(m_.dense_operand(node_.inputs[i], is_image ? type : is_affine ? affine : dtype::f32));
    }
    const dtype result = result_type_of(node_.outputs[0]);
    add_outputs(type == dtype::f32 || result == type ? result : dtype::f32);
    out_.workspace = static_cast<std::uint64_t>((a.rms != 0 ? 1 : 2) * rows->sums() * rows->width) * sizeof(float);
    return done();
  }

  // Matches pooling and its gradient, of tensors with any strides.
  std::optional<fusion_match> pooling() {
    const auto fits = [](const tensor_shape& s) { return spanned_elements_of(s) <= INT32_MAX; };
    const auto a = node_.attributes.as<pooling_attributes>();
    std::int64_t window = 1;  // the kernels count in 32 bits
    for (const std::int64_t n : a.extents)
      if (n > 0 && __builtin_mul_overflow(window, n, &window)) return std::nullopt;
    if (window > INT32_MAX) return std::nullopt;
    for (std::size_t i = 0; i < node_.input_count; ++i) {
      const std::uint16_t number = node_.inputs[i];
      if (m_.tensor(number).where == place::number || !is_read_as_stored(m_.tensor(number).type)) return std::nullopt;
      out_.inputs.push_back(
          {.number = number, .type = type_of(number), .shape = expected_shape(m_, number), .as_stored = true});
      if (!fits(out_.inputs.back().shape)) return std::nullopt;
    }
    const dtype type = result_type_of(node_.outputs[0]);
    const std::uint16_t at = follow_result(m_, node_.outputs[0], type, out_, [&](std::uint16_t to) {
      return m_.tensor(to).where != place::memory || m_.is_free(to);
    });
    const encoded_tensor& to = m_.tensor(at);
    const tensor_shape* const needed = m_.needed_shape(at);
    // The result has the order of axes of the image.
    out_.outputs.push_back({.number = at,
                            .type = at == node_.outputs[0] ? dtype::f32 : type,
                            .shape = to.where == place::memory ? to.shape
                                     : needed != nullptr       ? *needed
                                                               : packed_like(out_.inputs.back().shape, to.shape)});
    return fits(out_.outputs[0].shape) ? std::optional(done()) : std::nullopt;
  }

  // Matches attention of few queries to many keys, all of one half type.
  std::optional<fusion_match> attention() {
    const attention_inputs at(node_.attributes.as<attention_attributes>(), false);
    for (std::size_t i = 0; i < node_.input_count; ++i) {
      const encoded_tensor& t = m_.tensor(node_.inputs[i]);
      if (t.where == place::number) return std::nullopt;
      out_.inputs.push_back(m_.dense_operand(node_.inputs[i], t.type));
    }
    out_.outputs.push_back(written(node_.outputs[0], m_.tensor(node_.inputs[at.q]).type));
    out_.outputs.push_back(written(node_.outputs[1], dtype::f32));
    const auto located = [](const std::vector<fusion_match::tensor>& all) {
      std::vector<location> out;
      for (const fusion_match::tensor& t : all)
        out.push_back({.is_buffer = true, .number = 0, .type = t.type, .offset = 0, .shape = t.shape});
      return out;
    };
    const operator_step like{node_.what, node_.attributes, located(out_.inputs), located(out_.outputs), {}};
    if (!is_stored_type_attention(like)) return std::nullopt;
    out_.workspace = static_cast<std::uint64_t>(attention_workspace_of(like)) * sizeof(float);
    return done();
  }

 private:
  using place = encoded_tensor::place;

  fusion_match done() {
    std::sort(out_.nodes.begin(), out_.nodes.end());
    out_.at = position_of(out_, m_.uses);
    return std::move(out_);
  }

  // Adds the outputs: dx of type `first`, the others in f32.
  void add_outputs(dtype first) {
    for (std::size_t i = 0; i < node_.output_count; ++i)
      out_.outputs.push_back(written(node_.outputs[i], i == 0 ? first : dtype::f32));
  }
  dtype type_of(std::uint16_t number) const noexcept {
    const dtype t = m_.tensor(number).type;
    return is_read_as_stored(t) ? t : dtype::f32;
  }
  // Returns the type of the inputs from `first` to `end`; f32 if their types differ.
  dtype common_type(std::size_t first, std::size_t end) const noexcept {
    dtype out = first < end ? type_of(node_.inputs[first]) : dtype::f32;
    for (std::size_t i = first; i < end; ++i)
      if (type_of(node_.inputs[i]) != out) out = dtype::f32;
    return out;
  }
  // Returns an output's only reader if it converts or writes the output.
  const encoded_node* storing_reader_of(std::uint16_t number) const noexcept {
    const auto reader = m_.uses.only_reader_of(number);
    if (!reader) return nullptr;
    const encoded_node& n = m_.node(*reader);
    return n.what == op::convert || n.what == op::write ? &n : nullptr;
  }
  // Returns the type in which an output's only reader stores it; f32 if there is no such reader.
  dtype result_type_of(std::uint16_t number) const noexcept {
    const encoded_node* const reader = storing_reader_of(number);
    return reader != nullptr ? type_of(reader->outputs[0]) : dtype::f32;
  }
  // Returns the tensor that stores an output. If its only reader converts or writes it in this type, this is the
  // reader's result, and the reader joins the match; otherwise it is the output itself in f32.
  fusion_match::tensor written(std::uint16_t number, dtype type) {
    if (result_type_of(number) != type) type = dtype::f32;
    const std::uint16_t at = follow_result(m_, number, type, out_, [&](std::uint16_t to) {
      const tensor_shape& s = m_.tensor(to).shape;
      return m_.tensor(to).where != place::memory || (m_.is_free(to) && is_dense(s));
    });
    return m_.dense_operand(at, at == number ? dtype::f32 : type);
  }

  const graph_analysis& m_;
  const encoded_node& node_;
  fusion_match out_;
};

// Launches the kernel for the type of x, which is `type`.
template <fixed_string Name, class A>
result<void> launch_for_rows(const launch_context& on, dtype type, std::int64_t blocks, unsigned of_threads,
                             const A& r) {
  if (type == dtype::f16) return launch_for_type<Name, half>(on, blocks, of_threads, r);
  if (type == dtype::bf16) return launch_for_type<Name, bfloat16>(on, blocks, of_threads, r);
  return launch_for_type<Name, float>(on, blocks, of_threads, r);
}

result<void> enqueue_row_normalization_gradient(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<normalization_attributes>();
  const normalization_gradient_places at(a);
  const location &x = s.inputs[at.x], &dx = s.outputs[at.dx];
  const row_shape rows = *row_shape::of(a, x.shape, nullptr);
  const bool has_offset = at.doffset != absent;
  auto* const sums = static_cast<float*>(on.at(s.workspace));
  const normalize_rows_gradient_arguments r{
      .all = rows.arguments(a),
      .dy = typed_memory_at(s.inputs[at.dy], on),
      .x = typed_memory_at(x, on),
      .scale = typed_memory_at(s.inputs[at.scale], on),
      .mean = static_cast<const float*>(on.at(s.inputs[at.mean])),
      .deviation = static_cast<const float*>(on.at(s.inputs[at.deviation])),
      .dx = on.at(dx),
      .type_of_dx = dx.type,
      .parts = rows.parts(),
      .dscales = sums,
      .doffsets = has_offset ? sums + rows.sums() * rows.width : nullptr,
  };
  TROUPE_TRY(launch_for_rows<"normalize_rows_gradient">(on, r.x.type, r.parts, rows.threads_of_block(), r));
  add_lines_arguments all{rows.sums(), rows.width, rows.width, {{r.dscales, on.at(s.outputs[at.dscale])}}};
  if (has_offset) all.tables[1] = {r.doffsets, on.at(s.outputs[at.doffset])};
  return launch_sums(on, all);
}

}  // namespace

std::vector<fusion_match> stored_type_matches(const graph_analysis& m) {
  std::vector<fusion_match> out;
  if (needs_double(m.graph)) return out;
  for (std::size_t i = 0; i < m.graph.nodes().size(); ++i) {
    if (m.matched[i]) continue;
    std::optional<fusion_match> found;
    if (m.node(i).what == op::attention) found = stored_type_matcher(m, i).attention();
    if (m.node(i).what == op::pooling || m.node(i).what == op::pooling_gradient)
      found = stored_type_matcher(m, i).pooling();
    if (m.node(i).what == op::normalization_gradient) found = stored_type_matcher(m, i).gradient_of_row_normalization();
    if (found) out.push_back(std::move(*found));
  }
  return out;
}

operator_step stored_type_step(const encoded_graph& g, const fusion_match& m, const fused_step& s) {
  const encoded_node& n = g.nodes()[m.nodes.front()];
  return {n.what, n.attributes, s.inputs, s.outputs, s.workspace};
}

result<void> enqueue_stored_type(const operator_step& s, const launch_context& on) {
  if (s.what == op::pooling || s.what == op::pooling_gradient) return enqueue_stored_pooling(s, on);
  return s.what == op::attention ? enqueue_attention(s, on) : enqueue_row_normalization_gradient(s, on);
}

}  // namespace troupe::dnn
