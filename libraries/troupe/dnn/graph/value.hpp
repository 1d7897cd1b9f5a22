// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <troupe/base/dtype.hpp>
#include <troupe/memory/tensor.hpp>
#include <troupe/request/operands/any_operand.hpp>

namespace troupe::dnn {

namespace detail {
struct producer;
}

/// A tensor in a computation: memory, a number, or the result of an operation on other values. Cheap to copy. Nothing
/// is computed before a request writes a value to memory. An operation on values that do not fit returns a refused
/// value: every request that uses it is refused, with the reason.
class value {
 public:
  /// Makes a number. Operations combine it with each element of a tensor.
  value(double number);
  template <class N>
    requires std::is_arithmetic_v<N>
  value(N number) : value(static_cast<double>(number)) {}
  explicit value(in_any memory);
  explicit value(std::shared_ptr<const detail::producer> from, std::uint8_t output = 0) noexcept
      : from_(std::move(from)), output_(output) {}

  /// Returns the type of the elements: the type of the memory or of the conversion; for other values f32, f64 or i32.
  dtype type() const noexcept;
  /// Returns the extents; none for a number or a refused value. The span is valid while the value or a copy of it
  /// exists.
  std::span<const std::int64_t> extents() const noexcept;
  std::size_t rank() const noexcept { return extents().size(); }
  /// Returns the reason why the value is refused; "" if it is not.
  std::string why_refused() const;

  const detail::producer& from() const noexcept { return *from_; }
  std::uint8_t output() const noexcept { return output_; }
  /// Returns another output of the operation that computes this value.
  value sibling(std::uint8_t output) const noexcept { return value(from_, output); }

 private:
  std::shared_ptr<const detail::producer> from_;
  std::uint8_t output_ = 0;
};

/// Reads a tensor or a matrix in memory. For images, axis 0 is the image and axis 1 the channel, however the image is
/// stored:
///   tensor photos(memory, {8, 3, 32, 32}, {3 * 32 * 32, 1, 32 * 3, 3});  // channels last
template <class View>
value read(const View& view) {
  return value(in_any(view));
}
/// Reads a buffer, as a vector.
template <class T>
value read(const buffer<T>& memory) {
  return value(in_any(tensor<T>(memory, {static_cast<std::int64_t>(memory.size())})));
}

/// A value, and the memory to which a request writes it. The memory must have the extents of the value, or both must
/// be single elements. The value is rounded once to the memory's type.
struct written {
  value what;
  out_any to;
};
template <class View>
written write(const value& what, const View& to) {
  return {what, out_any(to)};
}
template <class T>
written write(const value& what, const buffer<T>& to) {
  return {what, out_any(tensor<T>(to, {static_cast<std::int64_t>(to.size())}))};
}

}  // namespace troupe::dnn
