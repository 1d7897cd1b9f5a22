// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/operations.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/recurrence/recurrence.hpp>

namespace troupe::dnn::detail {

void differentiate_recurrence(node_differentiation& d) {
  const auto f = d.attributes<recurrence_attributes>();
  const recurrence_places at(f);
  if (d.gradient_of_output(at.reserve)) return d.refuse("the reserve of a recurrence");
  const auto input = [&](std::size_t place) { return place != absent ? std::optional(d.in(place)) : std::nullopt; };
  const auto gradient = [&](std::size_t place) {
    return place != absent && d.gradient_of_output(place) ? std::optional(d.dy(place)) : std::nullopt;
  };
  recurrent_weights w{.input = d.in(1), .recurrent = d.in(2), .projection = input(at.projection)};
  if (f.has_biases != 0) w.biases = {d.in(at.input_bias), d.in(at.recurrent_bias)};
  recurrence_options o{.cell = f.cell, .reversed = f.reversed != 0, .lengths = input(at.lengths)};
  if (f.has_state != 0) o.initial = {d.in(at.h), input(at.c)};
  const recurrence_gradients g =
      recurrence_gradient({gradient(0), gradient(at.last_h), gradient(at.last_c)}, d.in(0), w, d.out(at.reserve), o);
  const std::pair<std::size_t, const value*> all[] = {{0, &g.dx},
                                                      {1, &g.dinput},
                                                      {2, &g.drecurrent},
                                                      {at.input_bias, &g.dinput_bias},
                                                      {at.recurrent_bias, &g.drecurrent_bias},
                                                      {at.projection, &g.dprojection},
                                                      {at.h, &g.dh},
                                                      {at.c, &g.dc}};
  for (const auto& [place, result] : all)
    if (place != absent) d.set(place, [of = result] { return *of; });
}

// The last state of a recurrence without steps is the initial one.
known_output recurrence_of_nothing(const producer& p, std::size_t output) {
  const recurrence_places at(p.attributes.as<recurrence_attributes>());
  if (output == at.last_h) return input_or_zero(p, at.h);
  return output == at.last_c ? input_or_zero(p, at.c) : known_output{};
}

known_output recurrence_gradient_of_nothing(const producer& p, std::size_t output) {
  const recurrence_gradient_places at(p.attributes.as<recurrence_gradient_attributes>());
  if (output == at.dh) return input_or_zero(p, at.dlast_h);
  return output == at.dc ? input_or_zero(p, at.dlast_c) : known_output{};
}

}  // namespace troupe::dnn::detail
