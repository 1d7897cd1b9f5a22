// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <initializer_list>
#include <ranges>
#include <span>
#include <troupe/memory/matrix.hpp>
#include <vector>

namespace troupe {
namespace detail {

/// A range of memory with the shape of the tensor in it: see viewed_matrix.
struct viewed_tensor {
  memory_range memory;
  tensor_shape shape;
};
viewed_tensor view_tensor(const memory_range& memory, std::span<const extent> extents, element_order o,
                          std::size_t element_bytes);
viewed_tensor view_tensor(const memory_range& memory, std::span<const extent> extents, std::span<const extent> strides,
                          std::size_t element_bytes);
viewed_tensor view_tensor(const viewed_matrix& m) noexcept;
viewed_tensor slice_of(const viewed_tensor& t, std::size_t axis, extent first, extent count, std::size_t element_bytes);
viewed_tensor index_of(const viewed_tensor& t, std::size_t axis, extent index, std::size_t element_bytes);
viewed_tensor permuted(const viewed_tensor& t, std::span<const std::size_t> from);
viewed_tensor reshaped(const viewed_tensor& t, std::span<const extent> extents, std::size_t element_bytes);
viewed_matrix matrix_of(const viewed_tensor& t);
bool is_dense(const tensor_shape& s, element_order o) noexcept;
template <class R>
std::vector<extent> extents_of(const R& integers) {
  return {std::ranges::begin(integers), std::ranges::end(integers)};
}

}  // namespace detail

/// Any other range of integers, such as a `std::vector<int>`, accepted where a span of extents is.
template <class R>
concept integer_range = std::ranges::input_range<R> && std::convertible_to<std::ranges::range_reference_t<R>, extent> &&
                        !std::convertible_to<R, std::span<const extent>>;

/// A tensor with 1 to 8 axes in the memory of a device: a view of a buffer, which it keeps alive. Slices and
/// permutations are views of the same memory; nothing is copied. If a view does not fit its buffer, every request
/// refuses it with the reason. An extent may be 0: the tensor then has no elements, and its strides do not matter.
///   tensor images(gpu.alloc<float>(8 * 3 * 32 * 32), {8, 3, 32, 32});
///   tensor first = images.at(0, 0);  // 3 x 32 x 32
template <class T>
class tensor {
 public:
  using element_type = T;
  static constexpr std::size_t max_rank = tensor_shape::max_rank;

  /// Makes an empty view, which every request refuses.
  tensor() noexcept = default;
  /// Makes a tensor of the first elements of `memory`.
  tensor(const buffer<T>& memory, std::span<const extent> extents, element_order o = element_order::row_major)
      : view_(detail::view_tensor(memory.memory(), extents, o, sizeof(T))) {}
  tensor(const buffer<T>& memory, std::initializer_list<extent> extents, element_order o = element_order::row_major)
      : tensor(memory, std::span(extents.begin(), extents.size()), o) {}
  template <integer_range R>
  tensor(const buffer<T>& memory, const R& extents, element_order o = element_order::row_major)
      : tensor(memory, std::span<const extent>(detail::extents_of(extents)), o) {}
  /// Makes a tensor of elements of `memory` at these strides, beginning with the first element. Strides must be at
  /// least 1, and no two elements may share an address.
  tensor(const buffer<T>& memory, std::span<const extent> extents, std::span<const extent> strides)
      : view_(detail::view_tensor(memory.memory(), extents, strides, sizeof(T))) {}
  tensor(const buffer<T>& memory, std::initializer_list<extent> extents, std::initializer_list<extent> strides)
      : tensor(memory, std::span(extents.begin(), extents.size()), std::span(strides.begin(), strides.size())) {}
  template <integer_range E, integer_range S>
  tensor(const buffer<T>& memory, const E& extents, const S& strides)
      : tensor(memory, std::span<const extent>(detail::extents_of(extents)),
               std::span<const extent>(detail::extents_of(strides))) {}
  /// Makes a tensor with two axes of the same elements.
  tensor(const matrix<T>& m) : view_(detail::view_tensor(detail::viewed_matrix{m.memory().memory(), m.shape()})) {}

  std::size_t rank() const noexcept { return view_.shape.rank; }
  /// Returns the extent, or the stride, of an axis. Precondition: `axis < rank()`.
  extent size(std::size_t axis) const noexcept { return view_.shape.extents[axis]; }
  extent stride(std::size_t axis) const noexcept { return view_.shape.strides[axis]; }
  extent elements() const noexcept {
    extent n = 1;
    for (std::size_t i = 0; i < rank(); ++i) n = n * size(i);
    return n;
  }
  const tensor_shape& shape() const noexcept { return view_.shape; }
  /// Returns true if the elements follow each other in this order without gaps.
  bool is_dense(element_order o) const noexcept { return detail::is_dense(view_.shape, o); }
  /// Returns the memory from the first element to the last, including gaps.
  buffer<T> memory() const { return buffer<T>(view_.memory); }

  /// Returns the elements whose index along `axis` is in [first, first + count).
  tensor slice(std::size_t axis, extent first, extent count) const {
    return tensor(detail::slice_of(view_, axis, first, count, sizeof(T)));
  }
  /// Returns the elements whose index along `axis` is `index`, as a tensor without that axis.
  tensor at(std::size_t axis, extent index) const { return tensor(detail::index_of(view_, axis, index, sizeof(T))); }
  /// Returns the same elements with the axes in another order: axis `i` of the result is axis `from[i]` of this tensor.
  /// `{0, 2, 3, 1}` turns NCHW into NHWC.
  tensor permuted(std::span<const std::size_t> from) const { return tensor(detail::permuted(view_, from)); }
  tensor permuted(std::initializer_list<std::size_t> from) const {
    return permuted(std::span(from.begin(), from.size()));
  }
  /// Returns the same elements with other extents. The elements must be in row-major order without gaps.
  tensor reshaped(std::span<const extent> extents) const { return tensor(detail::reshaped(view_, extents, sizeof(T))); }
  tensor reshaped(std::initializer_list<extent> extents) const {
    return reshaped(std::span(extents.begin(), extents.size()));
  }
  template <integer_range R>
  tensor reshaped(const R& extents) const {
    return reshaped(std::span<const extent>(detail::extents_of(extents)));
  }
  /// Returns the same elements as a matrix. The tensor must have two axes.
  explicit operator matrix<T>() const { return matrix<T>(detail::matrix_of(view_)); }

 private:
  explicit tensor(detail::viewed_tensor view) noexcept : view_(std::move(view)) {}

  detail::viewed_tensor view_;
};

}  // namespace troupe
