// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/testing/reference/nodes.hpp>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <troupe/dnn/testing/reference/roundings.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::dnn {
namespace {

using detail::for_each_index, detail::input_values, detail::output_values, detail::tensor_index;

constexpr double infinite = std::numeric_limits<double>::infinity();

void round_to(dtype type, input_values x, output_values y) {
  for_each_index(y.shape, [&](const tensor_index& at) { y[at] = epilogue::nearest_of(type, x[at]); });
}

void compute_pointwise(epilogue::op function, std::span<const input_values> in, output_values y) {
  for_each_index(y.shape, [&](const tensor_index& at) {
    const double second = in.size() > 1 ? in[1][at] : 0, third = in.size() > 2 ? in[2][at] : 0;
    y[at] = epilogue::value_of(function, in[0][at], second, third);
  });
}

void multiply(input_values a, input_values b, output_values y) {
  const std::size_t row = y.shape.rank - 2, column = y.shape.rank - 1;
  for_each_index(y.shape, [&](const tensor_index& at) {
    tensor_index left = at, right = at;
    for (std::int64_t k = 0; k < a.shape.extents[column]; ++k) {
      left[column] = right[row] = k;
      y[at] += a[left] * b[right];
    }
  });
}

double start_of(reduction_kind kind) noexcept {
  switch (kind) {
    case reduction_kind::maximum:
      return -infinite;
    case reduction_kind::minimum:
      return infinite;
    case reduction_kind::product:
      return 1;
    default:
      return 0;
  }
}
double combined(reduction_kind kind, double so_far, double x) noexcept {
  switch (kind) {
    case reduction_kind::sum:
    case reduction_kind::mean:
      return so_far + x;
    case reduction_kind::maximum:
      return epilogue::value_of(epilogue::op::maximum, so_far, x);
    case reduction_kind::minimum:
      return epilogue::value_of(epilogue::op::minimum, so_far, x);
    case reduction_kind::product:
      return so_far * x;
    case reduction_kind::absolute_maximum:
      return epilogue::value_of(epilogue::op::maximum, so_far, std::fabs(x));
    case reduction_kind::norm1:
      return so_far + std::fabs(x);
    case reduction_kind::norm2:
      return so_far + x * x;
  }
  return x;
}

void reduce(const reduction_attributes& f, input_values x, output_values y) {
  std::fill(y.numbers.begin(), y.numbers.end(), start_of(f.kind));
  for_each_index(x.shape, [&](tensor_index at) {
    const double number = x[at];
    for (std::size_t i = 0; i < x.shape.rank; ++i)
      if ((f.over >> i & 1) != 0) at[i] = 0;
    y[at] = combined(f.kind, y[at], number);
  });
  const double count = static_cast<double>(x.numbers.size()) / static_cast<double>(y.numbers.size());
  for (double& number : y.numbers) {
    if (f.kind == reduction_kind::mean) number /= count;
    if (f.kind == reduction_kind::norm2) number = std::sqrt(number);
  }
}

// Calls `f(indexes)` for each row along an axis, with the indexes of the row's elements.
template <class F>
void for_each_row(const tensor_shape& s, std::int64_t along, F&& f) {
  const auto i = static_cast<std::size_t>(along);
  tensor_shape rows = s;
  rows.extents[i] = 1;
  std::vector<tensor_index> indexes(static_cast<std::size_t>(s.extents[i]));
  for_each_index(rows, [&](tensor_index at) {
    for (tensor_index& each : indexes) {
      each = at;
      ++at[i];
    }
    f(std::as_const(indexes));
  });
}

void compute_softmax(const softmax_attributes& f, input_values x, output_values y) {
  for_each_row(x.shape, f.over, [&](const std::vector<tensor_index>& row) {
    double largest = -infinite, sum = 0;
    for (const tensor_index& at : row) largest = epilogue::value_of(epilogue::op::maximum, largest, x[at]);
    for (const tensor_index& at : row) sum += std::exp(x[at] - largest);
    for (const tensor_index& at : row)
      y[at] = f.logarithmic ? x[at] - largest - std::log(sum) : std::exp(x[at] - largest) / sum;
  });
}

void find_softmax_gradient(const softmax_attributes& f, input_values dy, input_values y, output_values dx) {
  for_each_row(y.shape, f.over, [&](const std::vector<tensor_index>& row) {
    double sum = 0;
    for (const tensor_index& at : row) sum += f.logarithmic ? dy[at] : dy[at] * y[at];
    for (const tensor_index& at : row) dx[at] = f.logarithmic ? dy[at] - std::exp(y[at]) * sum : y[at] * (dy[at] - sum);
  });
}

void transpose(const transposition_attributes& f, input_values x, output_values y) {
  for_each_index(y.shape, [&](const tensor_index& at) {
    tensor_index from{};
    for (std::size_t i = 0; i < y.shape.rank; ++i) from[static_cast<std::size_t>(f.from[i])] = at[i];
    y[at] = x[from];
  });
}

void concatenate(const concatenation_attributes& f, std::span<const input_values> in, output_values y) {
  const auto along = static_cast<std::size_t>(f.along);
  std::int64_t first = 0;
  for (const input_values& x : in) {
    for_each_index(x.shape, [&](const tensor_index& at) {
      tensor_index to = at;
      to[along] += first;
      y[to] = x[at];
    });
    first += x.shape.extents[along];
  }
}

void take_slice(const slice_attributes& f, input_values x, output_values y) {
  for_each_index(y.shape, [&](const tensor_index& at) {
    tensor_index from = at;
    for (std::size_t i = 0; i < y.shape.rank; ++i) from[i] += f.first[i];
    y[at] = x[from];
  });
}

std::vector<double> numbers_in_memory(const encoded_tensor& t, std::uint64_t address) {
  std::vector<double> out;
  const auto* memory = reinterpret_cast<const std::byte*>(address);
  for_each_index(t.shape, [&](const tensor_index& at) {
    std::int64_t element = 0;
    for (std::size_t i = 0; i < t.shape.rank; ++i) element += at[i] * t.shape.strides[i];
    out.push_back(epilogue::number_at(memory + element * static_cast<std::int64_t>(bytes_of(t.type)), t.type));
  });
  return out;
}

class evaluation {
 public:
  evaluation(const encoded_graph& g, std::vector<std::vector<double>> read, std::optional<detail::roundings> moved = {})
      : graph_(g), numbers_(g.tensors().size()), read_(std::move(read)), moved_(std::move(moved)) {
    for (const encoded_node& n : g.nodes())
      for (const std::uint16_t t : std::span(n.outputs).first(n.output_count))
        numbers_[t].resize(static_cast<std::size_t>(elements_of(g.tensors()[t].shape)));
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const encoded_tensor& t = g.tensors()[i];
      if (t.where == encoded_tensor::place::number) numbers_[i] = {t.number};
      if (t.where == encoded_tensor::place::memory && numbers_[i].empty()) numbers_[i] = read_[i];
    }
  }

  std::vector<std::vector<double>> all() {
    for (const encoded_node& n : graph_.nodes()) {
      compute(n);
      for (const std::uint16_t t : std::span(n.outputs).first(n.output_count))
        if (moved_ && detail::roundings::rounds(n.what, graph_.tensors()[t].type)) moved_->move(numbers_[t]);
    }
    return std::move(numbers_);
  }

 private:
  std::span<const double> input(const encoded_node& n, std::size_t k) {
    const std::uint16_t t = n.inputs[k];
    const std::vector<double>& numbers = read_[t].empty() ? numbers_[t] : read_[t];
    const bool is_integer = troupe::info(graph_.tensors()[t].type).kind != dtype_kind::floating;
    if (!moved_ || is_integer || k >= n.count_value_inputs() || !detail::roundings::adds_up(n.what)) return numbers;
    moved_inputs_[k] = numbers;
    moved_->move(moved_inputs_[k]);
    return moved_inputs_[k];
  }

  void compute(const encoded_node& n) {
    std::vector<input_values> in;
    std::vector<output_values> out;
    for (std::size_t k = 0; k < n.input_count; ++k) in.push_back({graph_.tensors()[n.inputs[k]].shape, input(n, k)});
    for (const std::uint16_t t : std::span(n.outputs).first(n.output_count))
      out.push_back({graph_.tensors()[t].shape, numbers_[t]});
    const node_attributes& f = n.attributes;
    switch (n.what) {
      case op::none:
        return;
      case op::write:
      case op::convert:
        return round_to(graph_.tensors()[n.outputs[0]].type, in[0], out[0]);
      case op::pointwise:
        return compute_pointwise(f.as<pointwise_attributes>().function, in, out[0]);
      case op::convolution:
        return detail::convolve(f.as<convolution_attributes>(), in[0], in[1], out[0]);
      case op::convolution_data_gradient:
        return detail::find_data_gradient(f.as<convolution_attributes>(), in[0], in[1], out[0]);
      case op::convolution_weight_gradient:
        return detail::find_weight_gradient(f.as<convolution_attributes>(), in[0], in[1], out[0]);
      case op::product:
        return multiply(in[0], in[1], out[0]);
      case op::reduction:
        return reduce(f.as<reduction_attributes>(), in[0], out[0]);
      case op::normalization:
        return detail::normalize(f.as<normalization_attributes>(), in, out);
      case op::normalization_gradient:
        return detail::find_normalization_gradient(f.as<normalization_gradient_attributes>(), in, out);
      case op::pooling:
        return detail::pool(f.as<pooling_attributes>(), in[0], out[0]);
      case op::pooling_gradient:
        return detail::find_pooling_gradient(f.as<pooling_attributes>(), in[0], in.back(), out[0]);
      case op::softmax:
        return compute_softmax(f.as<softmax_attributes>(), in[0], out[0]);
      case op::softmax_gradient:
        return find_softmax_gradient(f.as<softmax_attributes>(), in[0], in[1], out[0]);
      case op::reshape:
        std::copy(in[0].numbers.begin(), in[0].numbers.end(), out[0].numbers.begin());
        return;
      case op::transposition:
        return transpose(f.as<transposition_attributes>(), in[0], out[0]);
      case op::concatenation:
        return concatenate(f.as<concatenation_attributes>(), in, out[0]);
      case op::slice:
        return take_slice(f.as<slice_attributes>(), in[0], out[0]);
      case op::attention:
        return detail::attend(f.as<attention_attributes>(), in, out);
      case op::attention_gradient:
        return detail::find_attention_gradient(f.as<attention_gradient_attributes>(), in, out);
      case op::random:
        return detail::make_random(f.as<random_attributes>(), in, out[0]);
      case op::local_response_norm:
        return detail::normalize_responses(f.as<local_response_norm_attributes>(), in[0], out[0]);
      case op::local_response_norm_gradient:
        return detail::find_response_gradient(f.as<local_response_norm_attributes>(), in[0], in[1], out[0]);
      case op::resampling:
        return detail::resample(f.as<resampling_attributes>(), in[0], out[0]);
      case op::resampling_gradient:
        return detail::find_resampling_gradient(f.as<resampling_attributes>(), in[0], out[0]);
      case op::pooling_with_indexes:
        return detail::find_largest(f.as<pooling_attributes>(), in[0], out[0], out[1]);
      case op::pooling_index_gradient:
        return detail::find_index_gradient(f.as<pooling_attributes>(), in[0], in[1], out[0]);
      case op::block_quantization:
        return detail::quantize_blocks(f.as<block_attributes>(), in[0], out[0], out[1]);
      case op::block_dequantization:
        return detail::dequantize_blocks(f.as<block_attributes>(), in[0], in[1], out[0]);
      case op::recurrence:
        return detail::recur(f.as<recurrence_attributes>(), in, out);
      case op::recurrence_gradient:
        return detail::find_recurrence_gradient(f.as<recurrence_gradient_attributes>(), in, out);
      case op::ctc_loss:
        return detail::find_ctc_loss(f.as<ctc_attributes>(), in, out[0]);
      case op::ctc_loss_gradient:
        return detail::find_ctc_loss_gradient(f.as<ctc_attributes>(), in, out[0]);
    }
  }

  const encoded_graph& graph_;
  std::vector<std::vector<double>> numbers_;
  std::vector<std::vector<double>> read_;  // elements of the memory that is read, from before any write
  std::optional<detail::roundings> moved_;
  std::vector<double> moved_inputs_[encoded_node::most_inputs];  // moved elements of one node's inputs
};

}  // namespace

std::vector<std::vector<double>> elements_read(const encoded_graph& g) {
  std::vector<bool> is_made(g.tensors().size()), is_read(g.tensors().size());
  for (const encoded_node& n : g.nodes()) {
    for (const std::uint16_t t : std::span(n.inputs).first(n.input_count)) is_read[t] = true;
    for (const std::uint16_t t : std::span(n.outputs).first(n.output_count)) is_made[t] = true;
  }
  std::vector<std::vector<double>> out(g.tensors().size());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (const encoded_tensor& t = g.tensors()[i];
        t.where == encoded_tensor::place::memory && (is_read[i] || !is_made[i]))
      out[i] = numbers_in_memory(t, g.memory()[t.memory].address);
  return out;
}

std::vector<std::vector<double>> evaluate(const encoded_graph& g) { return evaluation(g, elements_read(g)).all(); }

std::vector<std::vector<double>> evaluate_with_roundings(const encoded_graph& g,
                                                         const std::vector<std::vector<double>>& read,
                                                         std::uint64_t seed) {
  return evaluation(g, read, detail::roundings(g, seed)).all();
}

}  // namespace troupe::dnn
