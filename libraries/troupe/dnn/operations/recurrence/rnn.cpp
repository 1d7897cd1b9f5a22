// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/recurrence/rnn.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>

namespace troupe::dnn {
namespace {

std::size_t directions_of(const rnn_options& o) noexcept { return o.bidirectional ? 2 : 1; }

recurrence_options options_of(const rnn_options& o, std::size_t i, std::span<const recurrent_state> initial) {
  recurrence_options out{.cell = o.cell, .reversed = o.bidirectional && i % 2 != 0, .lengths = o.lengths};
  if (!initial.empty()) out.initial = initial[i];
  return out;
}

value together(std::span<const recurrent_result> directions) {
  return directions.size() == 1 ? directions[0].y : concatenate({directions[0].y, directions[1].y}, 2);
}

// Returns the part of a gradient of y that belongs to one direction. y has the results of both directions.
value part_of(const value& gradient, const value& y, std::size_t direction) {
  if (gradient.rank() != 3 || y.rank() != 3) return gradient;  // the gradient is refused later
  const std::int64_t width = y.extents()[2];
  return slice(gradient, 2, direction == 0 ? 0 : gradient.extents()[2] - width, width);
}

struct list_size {
  std::string_view name;
  std::size_t size;
  bool optional = true;
};
// Returns a refused value, in place of all results, if a list does not have one element for each layer and direction.
std::optional<value> refused(op what, std::string_view name, std::size_t weights, const rnn_options& o,
                             std::initializer_list<list_size> lists) {
  detail::node_maker m(what, name, std::vector<value>());
  if (weights == 0 || weights % directions_of(o) != 0)
    m.refuse("weights", "has " + counted(weights, "element", "elements"),
             o.bidirectional ? "two for each layer, one for each direction" : "at least 1");
  for (const list_size& l : lists)
    if (l.size != weights && !(l.optional && l.size == 0))
      m.refuse(l.name, "has " + counted(l.size, "element", "elements"),
               cat(weights, ", one for each of the weights", l.optional ? ", or none" : ""));
  return m.fine() ? std::nullopt : std::optional(m.done());
}

}  // namespace

rnn_result rnn(const value& x, std::span<const recurrent_weights> weights, const rnn_options& o,
               std::span<const recurrent_state> initial) {
  const std::size_t directions = directions_of(o);
  if (const auto no = refused(op::recurrence, "rnn", weights.size(), o, {{"initial", initial.size()}}))
    return {*no, std::vector<recurrent_result>(weights.size(), {*no, *no, *no, *no})};
  rnn_result out{x, {}};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    out.layers.push_back(recurrence(out.y, weights[i], options_of(o, i, initial)));
    if ((i + 1) % directions == 0) out.y = together(std::span(out.layers).last(directions));
  }
  return out;
}

rnn_gradients rnn_gradient(const value& dy, const value& x, std::span<const recurrent_weights> weights,
                           const rnn_result& of, const rnn_options& o, std::span<const recurrent_state> initial,
                           std::span<const recurrent_output_gradients> dlast) {
  const std::size_t directions = directions_of(o);
  if (const auto no =
          refused(op::recurrence_gradient, "rnn_gradient", weights.size(), o,
                  {{"initial", initial.size()}, {"dlast", dlast.size()}, {"of.layers", of.layers.size(), false}}))
    return {*no, std::vector<recurrence_gradients>(weights.size(), {*no, *no, *no, *no, *no, *no, *no, *no})};
  rnn_gradients out{dy, std::vector<recurrence_gradients>(weights.size(), {dy, dy, dy, dy, dy, dy, dy, dy})};
  for (std::size_t first = weights.size(); first > 0;) {
    first -= directions;
    const value in = first == 0 ? x : together(std::span(of.layers).subspan(first - directions, directions));
    const value gradient = out.dx;
    for (std::size_t k = 0; k < directions; ++k) {
      const std::size_t i = first + k;
      recurrent_output_gradients d = dlast.empty() ? recurrent_output_gradients{} : dlast[i];
      d.y = directions == 1 ? gradient : part_of(gradient, of.layers[i].y, k);
      out.layers[i] = recurrence_gradient(d, in, weights[i], of.layers[i].reserve, options_of(o, i, initial));
    }
    out.dx = directions == 1 ? out.layers[first].dx : out.layers[first].dx + out.layers[first + 1].dx;
  }
  return out;
}

}  // namespace troupe::dnn
