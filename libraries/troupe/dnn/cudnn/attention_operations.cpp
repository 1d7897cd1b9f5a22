// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <troupe/dnn/cudnn/attention_operations.hpp>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <utility>

// cuDNN recognizes attention by its operations and their order: do not reorder or replace any of them.
namespace troupe::dnn::cudnn {

tensor_shape attention_operations::transposed(tensor_shape s) noexcept {
  std::swap(s.extents[2], s.extents[3]);
  std::swap(s.strides[2], s.strides[3]);
  return s;
}
tensor_shape attention_operations::scores() const noexcept {
  tensor_shape s{.rank = 4, .extents = {q.extents[0], q.extents[1], q.extents[2], k.extents[2]}};
  s.strides = dense_strides(s);
  return s;
}
tensor_shape attention_operations::rows() const noexcept {
  tensor_shape s{.rank = 4, .extents = {q.extents[0], q.extents[1], q.extents[2], 1}};
  s.strides = dense_strides(s);
  return s;
}

tensor_shape attention_operations::dq_sums() const noexcept {
  tensor_shape s = q;
  s.strides = dense_strides(s);
  return s;
}

// Sets scores to -infinity where a key is not visible to the query.
operation_graph::tensor_id attention_operations::masked(operation_graph& to, tensor at) const {
  const tensor_shape s = scores();
  const auto select = [&](tensor first, tensor second, cudnnPointwiseMode_t comparison) {
    const tensor is_visible = to.intermediate(s, dtype::boolean);
    to.pointwise({comparison, dtype::boolean}, {first, second}, is_visible);
    const tensor next = to.intermediate(s);
    to.pointwise({CUDNN_POINTWISE_BINARY_SELECT},
                 {at, to.constant(-std::numeric_limits<float>::infinity()), is_visible}, next);
    at = next;
  };
  const auto index_along = [&](std::int64_t axis) {
    const tensor t = to.intermediate(s, dtype::i32);
    to.pointwise({CUDNN_POINTWISE_GEN_INDEX, dtype::f32, axis}, {at}, t);
    return t;
  };
  const auto combine = [&](cudnnPointwiseMode_t mode, tensor x, tensor y, dtype type, std::int64_t axis) {
    const tensor t = to.intermediate(s, type);
    to.pointwise({mode, type, axis}, {x, y}, t);
    return t;
  };
  const std::int64_t queries = q.extents[2], keys = k.extents[2];
  if (right) {
    tensor row = index_along(2);
    const tensor column = index_along(3);
    if (bottom_right) {
      row = combine(CUDNN_POINTWISE_ADD, row, to.constant(static_cast<double>(keys), dtype::i32), dtype::i32, 3);
      row = combine(CUDNN_POINTWISE_SUB, row, to.constant(static_cast<double>(queries), dtype::i32), dtype::i32, 3);
    }
    if (*right != 0)
      row = combine(CUDNN_POINTWISE_ADD, row, to.constant(static_cast<double>(*right), dtype::i32), dtype::i32, 3);
    select(row, column, CUDNN_POINTWISE_CMP_GE);
  }
  if (left) {
    const tensor row = index_along(2);
    // The limit is one higher because the comparison is strict.
    const std::int64_t reach = *left + 1 - (bottom_right ? keys - queries : 0);
    const tensor column =
        combine(CUDNN_POINTWISE_ADD, index_along(3), to.constant(static_cast<double>(reach)), dtype::f32, 3);
    select(column, row, CUDNN_POINTWISE_CMP_GT);
  }
  return at;
}

void attention_operations::add_attention(operation_graph& to, tensor of_q, tensor of_k, tensor of_v, tensor y,
                                         std::optional<tensor> statistics) const {
  const tensor_shape s = scores(), row = rows();
  const auto apply = [&](cudnnPointwiseMode_t mode, std::initializer_list<tensor> in, const tensor_shape& shape) {
    const tensor t = to.intermediate(shape);
    to.pointwise({mode}, in, t);
    return t;
  };
  const tensor product = to.intermediate(s);
  to.product(of_q, of_k, product);
  const tensor scaled = masked(to, apply(CUDNN_POINTWISE_MUL, {product, to.constant(scale)}, s));
  const tensor largest = to.intermediate(row);
  to.reduce(CUDNN_REDUCE_TENSOR_MAX, scaled, largest);
  const tensor weight = apply(CUDNN_POINTWISE_EXP, {apply(CUDNN_POINTWISE_SUB, {scaled, largest}, s)}, s);
  const tensor sum = to.intermediate(row);
  to.reduce(CUDNN_REDUCE_TENSOR_ADD, weight, sum);
  if (statistics) to.pointwise({CUDNN_POINTWISE_ADD}, {largest, apply(CUDNN_POINTWISE_LOG, {sum}, row)}, *statistics);
  const tensor p = to.intermediate(s, type);
  to.pointwise({CUDNN_POINTWISE_DIV}, {weight, sum}, p);
  to.product(p, of_v, y);
}

void attention_operations::add_gradient(operation_graph& to, const gradient_tensors& g) const {
  const tensor_shape s = scores(), row = rows();
  const auto apply = [&](cudnnPointwiseMode_t mode, std::initializer_list<tensor> in, const tensor_shape& shape) {
    const tensor t = to.intermediate(shape);
    to.pointwise({mode}, in, t);
    return t;
  };
  const auto multiplied = [&](tensor a, tensor b) {
    const tensor t = to.intermediate(s);
    to.product(a, b, t);
    return t;
  };
  // Transposes the attention weights, or the gradients of the scores, for use as the left factor of a product.
  const auto transposed_scores = [&](tensor x) {
    const tensor t = to.intermediate(transposed(s), type);
    to.reshape(x, t);
    return t;
  };
  // Adds a product whose results are summed over the heads that share a key head.
  const auto sum_of_heads = [&](tensor left, tensor right, tensor sum, const tensor_shape& shape, std::int64_t width) {
    if (q.extents[1] == shape.extents[1]) return to.product(left, right, sum);
    tensor_shape all{.rank = 4, .extents = {q.extents[0], q.extents[1], k.extents[2], width}};
    all.strides = dense_strides(all);
    const tensor of_all = to.intermediate(all, type);
    to.product(left, right, of_all);
    to.reduce(CUDNN_REDUCE_TENSOR_ADD, of_all, sum);
  };

  tensor_shape outputs{.rank = 4, .extents = {q.extents[0], q.extents[1], q.extents[2], v.extents[3]}};
  outputs.strides = dense_strides(outputs);
  const tensor products = apply(CUDNN_POINTWISE_MUL, {g.dy, g.y}, outputs);
  const tensor sums = to.intermediate(row);
  to.reduce(CUDNN_REDUCE_TENSOR_ADD, products, sums);
  to.pointwise({CUDNN_POINTWISE_MUL}, {sums, to.constant(1)}, g.row_sums);

  const tensor scaled = apply(CUDNN_POINTWISE_MUL, {multiplied(g.q, g.k), to.constant(scale)}, s);
  const tensor p = apply(CUDNN_POINTWISE_EXP, {masked(to, apply(CUDNN_POINTWISE_SUB, {scaled, g.statistics}, s))}, s);
  sum_of_heads(transposed_scores(p), g.dy, g.dv, v, v.extents[3]);

  const tensor dp = apply(CUDNN_POINTWISE_SUB, {multiplied(g.dy, g.v), g.row_sums}, s);
  const tensor ds = apply(CUDNN_POINTWISE_MUL, {apply(CUDNN_POINTWISE_MUL, {dp, p}, s), to.constant(scale)}, s);
  sum_of_heads(transposed_scores(ds), g.q, g.dk, k, k.extents[3]);

  const tensor keys = to.intermediate(k, type);
  to.reshape(g.k, keys);
  to.product(ds, keys, g.dq_sums.value_or(g.dq));
  if (g.dq_sums) to.pointwise({CUDNN_POINTWISE_IDENTITY}, {*g.dq_sums}, g.dq);
}

}  // namespace troupe::dnn::cudnn
