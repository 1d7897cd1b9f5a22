// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>

namespace troupe::dnn::detail {

void count_along(const iota_attributes& a, inputs, outputs out) {
  const output_values y = out[0];
  for_each_index(y.shape,
                 [&](const tensor_index& at) { y[at] = static_cast<double>(at[static_cast<std::size_t>(a.along)]); });
}

}  // namespace troupe::dnn::detail
