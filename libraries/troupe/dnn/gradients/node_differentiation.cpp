// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>

namespace troupe::dnn::detail {

value spread_over(const value& gradient, const value& tensor) {
  const auto is = gradient.extents(), expected = tensor.extents();
  if (std::equal(is.begin(), is.end(), expected.begin(), expected.end())) return gradient;
  return select(tensor, gradient, gradient);  // both choices are the gradient, broadcast to the tensor
}

value as_factor(const value& gradient, const value& other) {
  if (gradient.type() == other.type()) return gradient;
  if (!is_half(other.type()) && other.type() != dtype::f32 && other.type() != dtype::f64)
    return no_gradient(cat("a product of ", to_string(other.type())));
  return convert(gradient, other.type());
}

value summed(value gradient, std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  double repetitions = 1;
  std::vector<std::size_t> over;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (to[i] == from[i]) continue;
    if (gradient.rank() == 0 || gradient.extents()[i] == 1)
      repetitions *= static_cast<double>(from[i]);
    else
      over.push_back(i);
  }
  if (!over.empty()) gradient = reduce(gradient, reduction_kind::sum, over);
  return times(gradient, repetitions);
}

bool node_differentiation::only_first_has_gradient() {
  const bool only =
      p_.gradients[0] && std::none_of(p_.gradients.begin() + 1, p_.gradients.end(), [](auto& g) { return !!g; });
  if (!only) refuse(cat("statistics of ", to_string(node_.what)));
  return only;
}

void node_differentiation::refuse(std::string_view through) {
  for (std::size_t i = 0; i < gradients_.size(); ++i) set(i, [&] { return no_gradient(through); });
}

std::vector<value> node_differentiation::made(op what, std::vector<value> inputs, const node_attributes& numbers,
                                              std::initializer_list<const value*> like) const {
  const dtype type = std::any_of(inputs.begin(), inputs.end(), [](const value& v) { return v.type() == dtype::f64; })
                         ? dtype::f64
                         : dtype::f32;
  node_maker m(what, to_string(what), std::move(inputs));
  m.with(numbers);
  for (const value* v : like) m.add_output(type, v->extents());
  return m.all(like.size());
}

void not_differentiable(node_differentiation& d) { d.refuse(to_string(d.node().what)); }

std::vector<optional_gradient> gradients_of_inputs(const differentiated_node& p) {
  node_differentiation d(p);
  operations[index_of(d.node().what)].differentiate(d);
  return d.take();
}

}  // namespace troupe::dnn::detail
