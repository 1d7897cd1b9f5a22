// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that wrong operations with indexes and labels are refused before they are sent, and the exact text.
#include <gtest/gtest.h>

#include <algorithm>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/encoded_graph.hpp>

namespace troupe::dnn {
namespace {

value given(dtype type, std::initializer_list<std::int64_t> extents) {
  tensor_shape s{.rank = extents.size()};
  std::ranges::copy(extents, s.extents.begin());
  s.strides = dense_strides(s);
  return value(in_any(memory_range{{}, 1 << 20, 1 << 10}, s, type));
}
void expect_refusal(const value& v, const std::string& text) { EXPECT_EQ(v.why_refused(), text); }

TEST(dnn_indexing, operations_with_indexes_name_what_is_wrong) {
  const value x = given(dtype::f32, {4, 6}), labels = given(dtype::i32, {4, 1});
  expect_refusal(iota({4, 6}, 1), "");
  expect_refusal(iota({4, 6}, 2), "has an iota whose axis is 2; expected less than 2");
  expect_refusal(iota({16'777'217}, 0),
                 "has an iota whose result has 16777217 elements along the axis; expected at most "
                 "16777216");
  expect_refusal(full({4, 6}, 1), "");
  expect_refusal(full({}, 1), "has a full whose result has 0 axes; expected 1 to 8");
  expect_refusal(full({4}, 1, dtype::i32), "has a full whose type is i32; expected f32 or f64");
  expect_refusal(expand(x, {2, 4, 6}), "");
  expect_refusal(expand(x, {2, 8, 6}),
                 "has an expand whose x is 4 x 6; expected 2 x 8 x 6 at the end, where each "
                 "extent may be 1");
  expect_refusal(expand(x, {6}), "has an expand whose x has 2 axes; expected at most 1, as the result has");
  expect_refusal(slice(x, 1, 1, 3, 2), "");
  expect_refusal(slice(x, 1, 1, 3, 0), "has a slice whose step is 0; expected at least 1");
  expect_refusal(slice(x, 1, 2, 3, 2),
                 "has a slice whose range begins at 2 and has 3 elements at every 2 indexes; expected a range within "
                 "the 6 elements along axis 1");
  expect_refusal(one_hot(labels, 6), "");
  expect_refusal(one_hot(labels, 0), "has a one_hot whose classes is 0; expected 1 to 16777216");
  expect_refusal(arg_max(x, 1), "");
  expect_refusal(arg_max(x, 2), "has an arg_max whose axis is 2; expected less than 2");
  expect_refusal(arg_min(given(dtype::f32, {4, 0}), 1),
                 "has an arg_min whose x has 0 elements along the axis; expected 1 to 16777216");
  expect_refusal(gather(x, labels, 0), "");
  expect_refusal(gather(x, given(dtype::i64, {4, 1}), 0), "");
  expect_refusal(cross_entropy(x, given(dtype::i64, {4, 1}), 1), "");
  expect_refusal(gather(x, x, 0), "has a gather whose indexes holds f32; expected i32 or i64");
  expect_refusal(gather(x, labels * 2, 0),
                 "has a gather whose indexes is computed; expected i32 or i64 that are read from "
                 "memory");
  expect_refusal(gather(x, labels, 2), "has a gather whose axis is 2; expected less than 2");
  expect_refusal(scatter_add(x, labels, given(dtype::f32, {4, 1, 6}), 0), "");
  expect_refusal(scatter_add(x, labels, x, 0),
                 "has a scatter_add whose parts is 4 x 6; expected 4 x 1 x 6, as gather returns");
  expect_refusal(cross_entropy(x, labels, 1), "");
  expect_refusal(cross_entropy(x, labels, 2), "has a cross_entropy whose axis is 2; expected less than 2");
  expect_refusal(cross_entropy(x, labels, 0),
                 "has a cross_entropy whose labels is 4 x 1; expected 1 x 6, as x has, but 1 for the classes");
  expect_refusal(cross_entropy(x, given(dtype::f32, {4, 1}), 1),
                 "has a cross_entropy whose labels hold f32; expected i32 or i64");
  expect_refusal(cross_entropy(x, labels, 1, {.label_smoothing = 2}),
                 "has a cross_entropy whose label_smoothing is 2.000000; expected 0 to 1");
  expect_refusal(cross_entropy(x, labels, 1, {.ignored = -16'777'216}),
                 "has a cross_entropy whose ignored is -16777216; expected -16777215 to 16777215");
}

}  // namespace
}  // namespace troupe::dnn
