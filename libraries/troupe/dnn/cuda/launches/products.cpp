// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>

namespace troupe::dnn {

result<void> enqueue_product(const operator_step& s, const launch_context& on) {
  const tensor_shape &a = s.inputs[0].shape, &b = s.inputs[1].shape, &c = s.outputs[0].shape;
  const std::size_t rank = c.rank;
  const std::int64_t m = c.extents[rank - 2], n = c.extents[rank - 1], k = a.extents[rank - 1];
  kernel_arguments::product_arguments r{.m = m,
                                        .n = n,
                                        .k = k,
                                        .a_row = k,
                                        .a_column = 1,
                                        .b_row = n,
                                        .b_column = 1,
                                        .c_row = n,
                                        .adds = 0,
                                        .batch = {},
                                        .a = on.at(s.inputs[0]),
                                        .b = on.at(s.inputs[1]),
                                        .c = on.at(s.outputs[0])};
  const axis_values of_a = broadcast_strides(a, rank, c.extents), of_b = broadcast_strides(b, rank, c.extents),
                    of_c = dense_strides(c);
  r.batch.count = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const auto at = static_cast<std::size_t>(r.batch.rank++);
    r.batch.extents[at] = c.extents[i], r.batch.count *= c.extents[i];
    r.batch.a[at] = of_a[i], r.batch.b[at] = of_b[i], r.batch.c[at] = of_c[i];
  }
  return launch_product(on, r);
}

}  // namespace troupe::dnn
