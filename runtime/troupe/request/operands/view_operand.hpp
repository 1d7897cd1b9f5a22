// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <troupe/request/encoding/field_codec.hpp>
#include <troupe/request/operands/operand.hpp>
#include <troupe/request/operands/view_shape.hpp>

namespace troupe {

template <class T>
class matrix;
template <class T>
class tensor;

/// A view as a field of a request: an operand whose memory is everything that the view spans, and its shape.
/// Application and worker use the same C++ type, like `operand`.
template <class T, access_mode Mode, class View, class Shape>
class view_operand : public operand<T, Mode> {
 public:
  using shape_type = Shape;

  view_operand(const View& v) : operand<T, Mode>(v.memory().memory()), shape_(v.shape()) {}
  /// Makes an operand for the worker, or for another buffer to which a recorded request is moved.
  view_operand(operand<T, Mode> memory, const Shape& shape) noexcept
      : operand<T, Mode>(std::move(memory)), shape_(shape) {}

  const Shape& shape() const noexcept { return shape_; }

 private:
  Shape shape_;
};

template <class T, access_mode M>
using matrix_operand = view_operand<T, M, matrix<T>, matrix_shape>;
template <class T, access_mode M>
using tensor_operand = view_operand<T, M, tensor<T>, tensor_shape>;

template <class T>
using in_matrix = matrix_operand<T, access_mode::read>;
template <class T>
using out_matrix = matrix_operand<T, access_mode::write>;
template <class T>
using inout_matrix = matrix_operand<T, access_mode::read_write>;
template <class T>
using in_tensor = tensor_operand<T, access_mode::read>;
template <class T>
using out_tensor = tensor_operand<T, access_mode::write>;
template <class T>
using inout_tensor = tensor_operand<T, access_mode::read_write>;

template <class T, access_mode M, class View, class Shape>
struct operands_in<view_operand<T, M, View, Shape>> : operands_in<operand<T, M>> {};

template <class T, access_mode M, class View, class Shape>
struct field_codec<view_operand<T, M, View, Shape>> {
  using memory = field_codec<operand<T, M>>;
  using field = view_operand<T, M, View, Shape>;
  using element = T;
  static constexpr char kind = "abc"[static_cast<int>(M)];
  static constexpr std::size_t size = memory::size + sizeof(Shape), align = 8;
  static constexpr std::size_t blob_bytes(const field&) noexcept { return 0; }
  static void encode(const field& f, std::byte* at, blob_cursor& blob) noexcept {
    memory::encode(f, at, blob);
    std::memcpy(at + memory::size, &f.shape(), sizeof(Shape));
  }
  static field decode(const std::byte* at) noexcept {
    Shape shape;
    std::memcpy(&shape, at + memory::size, sizeof shape);
    return {memory::decode(at), shape};
  }
};

}  // namespace troupe
