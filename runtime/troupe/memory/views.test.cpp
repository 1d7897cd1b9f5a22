// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Views of buffers: which elements they have, and the errors of views that do not fit.
#include <troupe/memory/tensor.hpp>
#include <troupe/memory/testing/buffers.hpp>

namespace troupe {
namespace {

struct views : buffers {
  static constexpr extent rows = 4, columns = 6;
  buffer<float> memory = alloc<float>(24);
  matrix<float> by_rows{memory, rows, columns};
  tensor<float> cube{memory, {2, 3, 4}};

  // Returns the offset of a view's first element from the start of the buffer, and the number of elements it spans.
  template <class View>
  std::pair<std::int64_t, std::int64_t> place(const View& v) const {
    const memory_range& r = v.memory().memory();
    return {static_cast<std::int64_t>(r.address - memory.memory().address) / std::int64_t{sizeof(float)},
            v.memory().size().value()};
  }
  template <class View>
  std::string why(const View& v) const {
    return cause(v.memory());
  }
};
using span_of = std::pair<std::int64_t, std::int64_t>;

TEST_F(views, a_matrix_without_strides_is_dense_in_its_element_order) {
  EXPECT_EQ(by_rows.shape(), (matrix_shape{4, 6, 6, 1}));
  EXPECT_TRUE(by_rows.is_dense(element_order::row_major));
  EXPECT_FALSE(by_rows.is_dense(element_order::column_major));
  const matrix by_columns(memory, rows, columns, element_order::column_major);
  EXPECT_EQ(by_columns.shape(), (matrix_shape{4, 6, 1, 4}));
  EXPECT_TRUE(by_columns.is_dense(element_order::column_major));
  EXPECT_EQ(by_columns.elements(), 24);
  EXPECT_EQ(why(by_columns), "");
}

TEST_F(views, a_transpose_is_a_view_of_the_memory_of_its_matrix) {
  const auto transposed = by_rows.transposed();
  EXPECT_EQ(transposed.shape(), (matrix_shape{6, 4, 1, 6}));
  EXPECT_EQ(place(transposed), (span_of{0, 24}));
  EXPECT_TRUE(transposed.is_dense(element_order::column_major));
  EXPECT_EQ(transposed.transposed().shape(), by_rows.shape());
}

TEST_F(views, a_block_spans_from_its_first_to_its_last_element) {
  const auto block = by_rows.block(1, 2, 2, 3);
  EXPECT_EQ(block.shape(), (matrix_shape{2, 3, 6, 1}));
  EXPECT_EQ(place(block), (span_of{8, 9}));
  EXPECT_FALSE(block.is_dense(element_order::row_major));
  EXPECT_EQ(place(block.block(1, 1, 1, 2)), (span_of{15, 2}));
  EXPECT_EQ(place(by_rows.row(3)), (span_of{18, 6}));
  EXPECT_TRUE(by_rows.row(3).is_dense(element_order::row_major));
  EXPECT_EQ(place(by_rows.column(5)), (span_of{5, 19}));
  EXPECT_EQ(by_rows.transposed().row(5).shape(), (matrix_shape{1, 4, 1, 6}));
}

TEST_F(views, a_matrix_can_have_strides_of_its_own) {
  const matrix every_other(memory, 3, 2, matrix_strides{8, 2});
  EXPECT_EQ(place(every_other), (span_of{0, 19}));
  EXPECT_EQ(why(every_other), "");
  EXPECT_EQ(why(matrix(memory, 4, 6, matrix_strides{5, 1})),
            "matrix: strides 5 and 1 interleave its rows with its columns; expected a row stride of at least 6, or a "
            "column stride of at least 16");
}

TEST_F(views, a_matrix_that_does_not_fit_its_buffer_is_refused_with_its_shape) {
  EXPECT_EQ(why(matrix(memory, 5, 6)),
            "matrix: 5 x 6 elements with strides 6 and 1 span 30 elements; the buffer has 24");
  EXPECT_EQ(why(matrix(memory, -2, 6)), "matrix: rows is -2; expected at least 0");
  EXPECT_EQ(why(matrix(memory, 2, -1)), "matrix: columns is -1; expected at least 0");
  EXPECT_EQ(why(matrix(memory, std::int64_t{1} << 62, 4)),
            "matrix: 4611686018427387904 x 4 elements with strides 4 and 1 span too large for 64 bits; the buffer has "
            "24");
  EXPECT_EQ(why(by_rows.block(2, 0, 3, 6)),
            "block: 3 x 6 elements from row 2, column 0 on do not fit a matrix of 4 x 6");
  EXPECT_EQ(why(by_rows.row(-1)), "block: 1 x 6 elements from row -1, column 0 on do not fit a matrix of 4 x 6");
  EXPECT_EQ(why(by_rows.block(2, 0, 3, 6).row(0)), why(by_rows.block(2, 0, 3, 6))) << "the first cause is kept";
}

TEST_F(views, without_elements_span_nothing_whatever_their_strides) {
  const auto none = alloc<float>(0);
  for (const auto& m :
       {matrix(none, 0, 6), matrix(none, 6, 0), matrix(none, 0, 0), matrix(memory, 0, 1000), matrix(memory, 1000, 0),
        matrix(none, 0, 6, matrix_strides{-3, 0}), by_rows.block(4, 0, 0, 6), by_rows.block(0, 6, 4, 0),
        by_rows.block(2, 3, 0, 0), matrix(none, 5, 0).row(4), matrix(none, 5, 0).transposed()}) {
    EXPECT_EQ(why(m), "");
    EXPECT_EQ(m.elements(), 0);
    EXPECT_EQ(m.memory().size(), extent(0));
    EXPECT_TRUE(m.is_dense(element_order::row_major) && m.is_dense(element_order::column_major));
  }
  EXPECT_EQ(why(by_rows.block(5, 0, 0, 6)),
            "block: 0 x 6 elements from row 5, column 0 on do not fit a matrix of 4 x 6");
  for (const auto& t :
       {tensor<float>(none, {2, 0, 3}), tensor<float>(memory, {0, 1000}), tensor<float>(none, {4, 0}, {0, -1}),
        cube.slice(1, 3, 0), cube.slice(0, 1, 0), cube.slice(1, 0, 0).permuted({2, 1, 0}),
        cube.slice(0, 2, 0).reshaped({0, 7}), tensor<float>(none, {0, 3}).at(1, 2)}) {
    EXPECT_EQ(why(t), "");
    EXPECT_EQ(t.elements(), 0);
    EXPECT_EQ(t.memory().size(), extent(0));
    EXPECT_TRUE(t.is_dense(element_order::row_major));
  }
  EXPECT_EQ(why(cube.slice(1, 4, 0)), "slice: first is 4 and count is 0 along axis 1; the tensor is 2 x 3 x 4");
  EXPECT_EQ(why(tensor<float>(none, {0, 3}).at(0, 0)),
            "slice: first is 0 and count is 1 along axis 0; the tensor is 0 x 3");
}

TEST_F(views, are_refused_like_buffers_if_they_are_empty) {
  EXPECT_EQ(why(matrix<float>()), "an empty buffer (never allocated, or moved from)");
  EXPECT_EQ(why(matrix<float>().row(0)), "an empty buffer (never allocated, or moved from)");
  EXPECT_EQ(why(tensor<float>()), "an empty buffer (never allocated, or moved from)");
  EXPECT_EQ(why(tensor<float>().at(0, 0)), "an empty buffer (never allocated, or moved from)");
}

TEST_F(views, a_tensor_without_strides_is_dense_in_its_element_order) {
  EXPECT_EQ(cube.rank(), 3u);
  EXPECT_EQ(cube.stride(0), 12);
  EXPECT_EQ(cube.stride(1), 4);
  EXPECT_EQ(cube.stride(2), 1);
  EXPECT_EQ(cube.elements(), 24);
  EXPECT_TRUE(cube.is_dense(element_order::row_major));
  const tensor by_first(memory, {2, 3, 4}, element_order::column_major);
  EXPECT_EQ(by_first.stride(2), 6);
  EXPECT_TRUE(by_first.is_dense(element_order::column_major));
  EXPECT_FALSE(by_first.is_dense(element_order::row_major));
}

TEST_F(views, slices_permutations_and_reshaped_tensors_are_views_of_the_memory_of_their_tensor) {
  const auto part = cube.slice(1, 1, 2);
  EXPECT_EQ(part.size(1), 2);
  EXPECT_EQ(place(part), (span_of{4, 20}));
  const auto second = cube.at(0, 1);
  EXPECT_EQ(second.rank(), 2u);
  EXPECT_EQ(place(second), (span_of{12, 12}));
  EXPECT_EQ(matrix<float>(second).shape(), (matrix_shape{3, 4, 4, 1}));
  const auto permuted = cube.permuted({2, 0, 1});
  EXPECT_EQ(permuted.size(0), 4);
  EXPECT_EQ(permuted.stride(0), 1);
  EXPECT_EQ(permuted.size(1), 2);
  const auto flat = cube.reshaped({6, 4});
  EXPECT_EQ(flat.rank(), 2u);
  EXPECT_EQ(flat.stride(0), 4);
  EXPECT_EQ(tensor<float>(by_rows.transposed()).stride(1), 6);
}

TEST_F(views, a_tensor_takes_its_shape_from_any_range_of_integers) {
  const std::vector<std::int64_t> longs{2, 3, 4}, strides{12, 4, 1};
  const std::array<int, 3> ints{2, 3, 4};
  const std::initializer_list<std::int64_t> list{2, 3, 4};
  const std::vector<extent> extents{2, 3, 4};
  for (const tensor<float>& t : {tensor(memory, longs), tensor(memory, ints), tensor(memory, list),
                                 tensor(memory, extents), tensor(memory, longs, strides)})
    EXPECT_EQ(t.shape(), cube.shape());
  EXPECT_EQ(cube.reshaped(std::vector<int>{6, 4}).shape(), cube.reshaped({6, 4}).shape());
  EXPECT_EQ(why(tensor(memory, std::vector<int>{2, -1})), "tensor: extent 1 is -1; expected at least 0");
}

TEST_F(views, a_tensor_that_does_not_fit_its_buffer_is_refused_with_its_shape) {
  EXPECT_EQ(why(tensor<float>(memory, {2, 3, 5})),
            "tensor: 2 x 3 x 5 elements with strides 15 x 5 x 1 span 30 elements; the buffer has 24");
  EXPECT_EQ(why(tensor<float>(memory, std::span<const extent>())), "tensor: 0 extents; expected 1 to 8");
  EXPECT_EQ(why(tensor<float>(memory, {1, 1, 1, 1, 1, 1, 1, 1, 1})), "tensor: 9 extents; expected 1 to 8");
  EXPECT_EQ(why(tensor<float>(memory, {2, -1})), "tensor: extent 1 is -1; expected at least 0");
  EXPECT_EQ(why(tensor<float>(memory, {2, 3}, {3})), "tensor: 1 strides; expected 2, one for each extent");
  EXPECT_EQ(why(tensor<float>(memory, {2, 3}, {2, 1})),
            "tensor: extents 2 x 3 with strides 2 x 1 interleave; expected larger strides, so that no two elements can "
            "share an address");
  EXPECT_EQ(why(cube.slice(1, 2, 2)), "slice: first is 2 and count is 2 along axis 1; the tensor is 2 x 3 x 4");
  EXPECT_EQ(why(cube.slice(3, 0, 1)), "slice: axis is 3; expected less than 3, the number of axes");
  EXPECT_EQ(why(cube.permuted({0, 0, 1})), "permuted: the axes are (0, 0, 1); expected each number from 0 to 2 once");
  EXPECT_EQ(why(cube.reshaped({5, 5})),
            "reshaped: 5 x 5 has another number of elements than 2 x 3 x 4, the extents of the tensor");
  EXPECT_EQ(why(cube.permuted({2, 1, 0}).reshaped({24})),
            "reshaped: the elements of the tensor, which is 4 x 3 x 2, are not in row-major order without gaps; copy "
            "it first");
  EXPECT_EQ(why(matrix<float>(cube)), "matrix: the tensor is 2 x 3 x 4; expected 2 extents");
  EXPECT_EQ(why(cube.at(0, 0).at(0, 0).at(0, 0)),
            "at: the tensor has 1 axis; expected at least 2: use slice() to get one element");
}

}  // namespace
}  // namespace troupe
