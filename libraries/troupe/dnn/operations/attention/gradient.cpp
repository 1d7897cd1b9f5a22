// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/operations.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>

namespace troupe::dnn::detail {

void differentiate_attention(node_differentiation& d) {
  if (!d.only_first_has_gradient()) return;
  const auto f = d.attributes<attention_attributes>();
  if (f.has_pages != 0) return d.refuse("attention with pages");
  // cuDNN computes the gradient if y, dy and the results are rounded to the half type of the inputs.
  const dtype type = d.in(0).type();
  const bool is_rounded = is_half(type) && d.rounded() && d.rounded()->type() == type;
  const auto as_input_type = [&](const value& v) { return is_rounded ? convert(v, type) : v; };
  std::vector<value> inputs{as_input_type(d.dy()), is_rounded ? *d.rounded() : d.out(0), d.out(1)};
  inputs.insert(inputs.end(), d.node().inputs.begin(), d.node().inputs.end());
  const auto all =
      f.has_bias != 0
          ? d.made(op::attention_gradient, inputs, d.node().attributes, {&d.in(0), &d.in(1), &d.in(2), &d.in(3)})
          : d.made(op::attention_gradient, inputs, d.node().attributes, {&d.in(0), &d.in(1), &d.in(2)});
  for (std::size_t i = 0; i < 3; ++i) d.set(i, [&] { return as_input_type(all[i]); });
  if (f.has_bias != 0) d.set(3, [&] { return all[3]; });
}

// No query has a key.
known_output attention_of_nothing(const producer&, std::size_t output) {
  return {output == 0 ? 0 : -std::numeric_limits<double>::infinity()};
}

}  // namespace troupe::dnn::detail
