// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/products/batches.hpp>
#include <troupe/matmul/shapes.hpp>

namespace troupe::dnn::products {

std::optional<tensor_shape> batch_of(const tensor_shape& s) noexcept {
  const std::size_t rows = s.rank - 2, columns = s.rank - 1;
  if (!matmul::has_lines({s.extents[rows], s.extents[columns], s.strides[rows], s.strides[columns]}))
    return std::nullopt;
  std::int64_t count = 1, stride = 0;
  for (std::size_t i = rows; i-- > 0;) {
    if (s.extents[i] == 1) continue;
    if (count == 1)
      stride = s.strides[i];
    else if (s.strides[i] != stride * count)
      return std::nullopt;
    count *= s.extents[i];
  }
  return tensor_shape{.rank = 3,
                      .extents = {count, s.extents[rows], s.extents[columns]},
                      .strides = {stride, s.strides[rows], s.strides[columns]}};
}

void product_shapes::join_rows() noexcept {
  const auto rows_continue = [](const tensor_shape& s) {
    return s.extents[0] == 1 || (s.strides[2] == 1 && s.strides[0] == s.extents[1] * s.strides[1]);
  };
  const auto join = [](tensor_shape& s) {
    s = {.rank = 2, .extents = {s.extents[0] * s.extents[1], s.extents[2]}, .strides = {s.strides[1], s.strides[2]}};
  };
  const bool as_many_rows = a.extents[0] == d.extents[0] && (!c || c->extents[0] == d.extents[0]);
  if (b.extents[0] != 1 || !as_many_rows || !rows_continue(a) || !rows_continue(d) || (c && !rows_continue(*c))) return;
  for (tensor_shape* const s : {&a, &b, &d}) join(*s);
  if (c) join(*c);
}

}  // namespace troupe::dnn::products
