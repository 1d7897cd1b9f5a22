// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/graph/without_elements.hpp>
#include <troupe/dnn/operations/operation_table.hpp>

namespace troupe::dnn::detail {

bool is_empty(const value& v) noexcept {
  const auto extents = v.extents();
  return std::find(extents.begin(), extents.end(), 0) != extents.end();
}

bool reads_nothing(const producer& p) noexcept { return std::any_of(p.inputs.begin(), p.inputs.end(), is_empty); }

known_output input_or_zero(const producer& p, std::size_t input) {
  if (input >= p.inputs.size()) return {};
  return {.same = p.inputs[input]};
}

known_output zeros(const producer&, std::size_t) { return {}; }

known_output output_of_nothing(const producer& p, std::size_t output) {
  return operations[index_of(p.what)].output_of_nothing(p, output);
}

}  // namespace troupe::dnn::detail
