// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <troupe/dnn/cudnn/scores.hpp>
#include <troupe/dnn/encoded_graph.hpp>
#include <utility>

// cuDNN recognises attention by the operations and their order: nothing here may be drawn in another way.
namespace troupe::dnn::cudnn {

tensor_shape attention_drawing::turned(tensor_shape s) noexcept {
  std::swap(s.extents[2], s.extents[3]);
  std::swap(s.strides[2], s.strides[3]);
  return s;
}
tensor_shape attention_drawing::scores() const noexcept {
  tensor_shape s{.rank = 4, .extents = {q.extents[0], q.extents[1], q.extents[2], k.extents[2]}};
  s.strides = dense_strides(s);
  return s;
}
tensor_shape attention_drawing::rows() const noexcept {
  tensor_shape s{.rank = 4, .extents = {q.extents[0], q.extents[1], q.extents[2], 1}};
  s.strides = dense_strides(s);
  return s;
}

tensor_shape attention_drawing::sums_of_q() const noexcept {
  tensor_shape s = q;
  s.strides = dense_strides(s);
  return s;
}

// -infinity where a query does not see a key.
operations::tensor attention_drawing::masked(operations& d, tensor at) const {
  const tensor_shape s = scores();
  const auto select = [&](tensor first, tensor second, cudnnPointwiseMode_t comparison) {
    const tensor seen = d.between(s, dtype::boolean);
    d.pointwise({comparison, dtype::boolean}, {first, second}, seen);
    const tensor next = d.between(s);
    d.pointwise({CUDNN_POINTWISE_BINARY_SELECT}, {at, d.number(-std::numeric_limits<float>::infinity()), seen}, next);
    at = next;
  };
  const auto index = [&](std::int64_t which) {
    const tensor t = d.between(s, dtype::i32);
    d.pointwise({CUDNN_POINTWISE_GEN_INDEX, dtype::f32, which}, {at}, t);
    return t;
  };
  const auto combine = [&](cudnnPointwiseMode_t mode, tensor x, tensor y, dtype type, std::int64_t axis) {
    const tensor t = d.between(s, type);
    d.pointwise({mode, type, axis}, {x, y}, t);
    return t;
  };
  const std::int64_t queries = q.extents[2], keys = k.extents[2];
  if (right) {
    tensor row = index(2);
    const tensor column = index(3);
    if (bottom_right) {
      row = combine(CUDNN_POINTWISE_ADD, row, d.number(static_cast<double>(keys), dtype::i32), dtype::i32, 3);
      row = combine(CUDNN_POINTWISE_SUB, row, d.number(static_cast<double>(queries), dtype::i32), dtype::i32, 3);
    }
    if (*right != 0)
      row = combine(CUDNN_POINTWISE_ADD, row, d.number(static_cast<double>(*right), dtype::i32), dtype::i32, 3);
    select(row, column, CUDNN_POINTWISE_CMP_GE);
  }
  if (left) {
    const tensor row = index(2);
    // One more: the comparison is strict.
    const std::int64_t reach = *left + 1 - (bottom_right ? keys - queries : 0);
    const tensor column = combine(CUDNN_POINTWISE_ADD, index(3), d.number(static_cast<double>(reach)), dtype::f32, 3);
    select(column, row, CUDNN_POINTWISE_CMP_GT);
  }
  return at;
}

void attention_drawing::forward(operations& d, tensor of_q, tensor of_k, tensor of_v, tensor y,
                                std::optional<tensor> statistics) const {
  const tensor_shape s = scores(), row = rows();
  const auto apply = [&](cudnnPointwiseMode_t mode, std::initializer_list<tensor> of, const tensor_shape& shape) {
    const tensor t = d.between(shape);
    d.pointwise({mode}, of, t);
    return t;
  };
  const tensor product = d.between(s);
  d.product(of_q, of_k, product);
  const tensor seen = masked(d, apply(CUDNN_POINTWISE_MUL, {product, d.number(scale)}, s));
  const tensor largest = d.between(row);
  d.reduce(CUDNN_REDUCE_TENSOR_MAX, seen, largest);
  const tensor weight = apply(CUDNN_POINTWISE_EXP, {apply(CUDNN_POINTWISE_SUB, {seen, largest}, s)}, s);
  const tensor sum = d.between(row);
  d.reduce(CUDNN_REDUCE_TENSOR_ADD, weight, sum);
  if (statistics) d.pointwise({CUDNN_POINTWISE_ADD}, {largest, apply(CUDNN_POINTWISE_LOG, {sum}, row)}, *statistics);
  const tensor p = d.between(s, type);
  d.pointwise({CUDNN_POINTWISE_DIV}, {weight, sum}, p);
  d.product(p, of_v, y);
}

void attention_drawing::backward(operations& d, const gradient& g) const {
  const tensor_shape s = scores(), row = rows();
  const auto apply = [&](cudnnPointwiseMode_t mode, std::initializer_list<tensor> of, const tensor_shape& shape) {
    const tensor t = d.between(shape);
    d.pointwise({mode}, of, t);
    return t;
  };
  const auto multiplied = [&](tensor a, tensor b) {
    const tensor t = d.between(s);
    d.product(a, b, t);
    return t;
  };
  // The columns of weights or of their gradients, as the left factor of a product.
  const auto turned_scores = [&](tensor x) {
    const tensor t = d.between(turned(s), type);
    d.reshape(x, t);
    return t;
  };
  // With heads that share keys, the sum over those of each.
  const auto sum_of_heads = [&](tensor left, tensor right, tensor to, const tensor_shape& shape, std::int64_t width) {
    if (q.extents[1] == shape.extents[1]) return d.product(left, right, to);
    tensor_shape all{.rank = 4, .extents = {q.extents[0], q.extents[1], k.extents[2], width}};
    all.strides = dense_strides(all);
    const tensor of_all = d.between(all, type);
    d.product(left, right, of_all);
    d.reduce(CUDNN_REDUCE_TENSOR_ADD, of_all, to);
  };

  tensor_shape outputs{.rank = 4, .extents = {q.extents[0], q.extents[1], q.extents[2], v.extents[3]}};
  outputs.strides = dense_strides(outputs);
  const tensor weighed = apply(CUDNN_POINTWISE_MUL, {g.dy, g.y}, outputs);
  const tensor sums = d.between(row);
  d.reduce(CUDNN_REDUCE_TENSOR_ADD, weighed, sums);
  d.pointwise({CUDNN_POINTWISE_MUL}, {sums, d.number(1)}, g.row_sums);

  const tensor seen = apply(CUDNN_POINTWISE_MUL, {multiplied(g.q, g.k), d.number(scale)}, s);
  const tensor p = apply(CUDNN_POINTWISE_EXP, {masked(d, apply(CUDNN_POINTWISE_SUB, {seen, g.statistics}, s))}, s);
  sum_of_heads(turned_scores(p), g.dy, g.dv, v, v.extents[3]);

  const tensor dp = apply(CUDNN_POINTWISE_SUB, {multiplied(g.dy, g.v), g.row_sums}, s);
  const tensor ds = apply(CUDNN_POINTWISE_MUL, {apply(CUDNN_POINTWISE_MUL, {dp, p}, s), d.number(scale)}, s);
  sum_of_heads(turned_scores(ds), g.q, g.dk, k, k.extents[3]);

  const tensor keys = d.between(k, type);
  d.reshape(g.k, keys);
  d.product(ds, keys, g.sums_of_q.value_or(g.dq));
  if (g.sums_of_q) d.pointwise({CUDNN_POINTWISE_IDENTITY}, {*g.sums_of_q}, g.dq);
}

}  // namespace troupe::dnn::cudnn
