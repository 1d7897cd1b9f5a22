// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <troupe/dnn/testing/reference/reference.hpp>
#include <troupe/dnn/testing/reference/roundings.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::dnn {
namespace {

using detail::for_each_index, detail::input_values, detail::output_values, detail::tensor_index;

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
    for (std::size_t k = 0; k < n.input_count; ++k) {
      const encoded_tensor& t = graph_.tensors()[n.inputs[k]];
      in.push_back({t.type, t.shape, input(n, k)});
    }
    for (const std::uint16_t t : std::span(n.outputs).first(n.output_count))
      out.push_back({graph_.tensors()[t].type, graph_.tensors()[t].shape, numbers_[t]});
    detail::definitions[n.what].compute(n.attributes, in, out);
  }

  const encoded_graph& graph_;
  std::vector<std::vector<double>> numbers_;
  std::vector<std::vector<double>> read_;  // elements of the memory that is read, from before all writes
  std::optional<detail::roundings> moved_;
  std::vector<double> moved_inputs_[encoded_node::most_inputs];  // the node's inputs, moved by rounding errors
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
