// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <troupe/dnn/graph/without_elements.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/recurrence/layout.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>

namespace troupe::dnn::detail {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

known_output input_or_zero(const producer& p, std::size_t input) {
  if (input >= p.inputs.size()) return {};
  return {.same = p.inputs[input]};
}

// Returns the reduction of no elements. Maxima and minima of none are refused earlier.
known_output reduced(reduction_kind kind) noexcept {
  return {kind == reduction_kind::mean ? no_number : kind == reduction_kind::product ? 1.0 : 0.0};
}

// Returns an output of a normalization of no elements. Running averages do not change.
known_output normalized(const producer& p, std::size_t output) {
  const auto f = p.attributes.as<normalization_attributes>();
  const normalization_places at(f);
  if (output == at.next_mean) return input_or_zero(p, at.running_mean);
  if (output == at.next_variance) return input_or_zero(p, at.running_variance);
  return {output == at.mean && f.rms != 0 ? 0 : no_number};
}

// Returns an output of a recurrence without steps: the last state is the initial one.
known_output recurred(const producer& p, std::size_t output) {
  const recurrence_places at(p.attributes.as<recurrence_attributes>());
  if (output == at.last_h) return input_or_zero(p, at.h);
  return output == at.last_c ? input_or_zero(p, at.c) : known_output{};
}
known_output gradient_of_recurrence(const producer& p, std::size_t output) {
  const recurrence_gradient_places at(p.attributes.as<recurrence_gradient_attributes>());
  if (output == at.dh) return input_or_zero(p, at.dlast_h);
  return output == at.dc ? input_or_zero(p, at.dlast_c) : known_output{};
}

}  // namespace

bool is_empty(const value& v) noexcept {
  const auto extents = v.extents();
  return std::find(extents.begin(), extents.end(), 0) != extents.end();
}

bool reads_nothing(const producer& p) noexcept { return std::any_of(p.inputs.begin(), p.inputs.end(), is_empty); }

known_output output_of_nothing(const producer& p, std::size_t output) {
  switch (p.what) {
    case op::reduction:
      return reduced(p.attributes.as<reduction_attributes>().kind);
    case op::normalization:
      return normalized(p, output);
    case op::attention:  // no query has a key
      return {output == 0 ? 0 : -infinity};
    case op::recurrence:
      return recurred(p, output);
    case op::recurrence_gradient:
      return gradient_of_recurrence(p, output);
    default:  // sums of nothing
      return {};
  }
}

}  // namespace troupe::dnn::detail
