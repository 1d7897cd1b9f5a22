// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <troupe/base/dtype.hpp>
#include <troupe/kernel/tensor_map.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/host_buffer.hpp>
#include <vector>

namespace troupe::kernel {

/// A buffer whose address is part of an argument that is passed by value.
struct held_buffer {
  template <class T, access_mode M>
  held_buffer(const operand<T, M>& o) : range(o.range()), element_bytes(sizeof(T)), mode(M) {}

  memory_range range;
  std::uint64_t element_bytes;
  access_mode mode;
};

/// One argument of a launch: a buffer with the kernel's access to it, a value, a tensor map, or a null pointer.
class argument {
 public:
  enum class kind : std::uint8_t {
    read = 0,        ///< `in(x)`: only read, whatever the parameter's type
    write = 1,       ///< `out(y)`
    read_write = 2,  ///< `inout(y)`
    value = 3,
    map = 4,
    plain = 5,  ///< a buffer without `in`, `out` or `inout`: only read, so the parameter must be a pointer to const
    null = 6,   ///< `nullptr`
  };

  template <class T, access_mode M>
  argument(const operand<T, M>& o)
      : is_(static_cast<kind>(M)),
        mode_(M),
        type_(type_of<T>()),
        bytes_(sizeof(T)),
        alignment_(alignof(T)),
        range_(o.range()) {}
  /// A buffer without `in`, `out` or `inout` is only read.
  template <class T>
  argument(const buffer<T>& b) : argument(in<T>(b)) {
    is_ = kind::plain;
  }
  template <class T>
  argument(const host_buffer<T>& b) : argument(in<T>(b)) {
    is_ = kind::plain;
  }
  /// An optional buffer: a null pointer if there is none.
  template <class T, access_mode M>
  argument(const std::optional<operand<T, M>>& o) : argument(o ? argument(*o) : argument(nullptr)) {}
  /// A null pointer.
  argument(std::nullptr_t) : is_(kind::null), bytes_(sizeof(void*)), alignment_(alignof(void*)) {}
  argument(const tensor_map& m)
      : is_(kind::map),
        mode_(m.mode()),
        type_(m.element()),
        bytes_(m.element_bytes()),
        alignment_(m.element_bytes()),
        range_(m.range()),
        tiles_(std::make_shared<const kernel::tiles>(m.layout())) {}
  /// A number or a struct, passed by value.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_array_v<T>)
  argument(const T& v) : is_(kind::value), type_(type_of<T>()), bytes_(sizeof(T)), alignment_(alignof(T)) {
    set_value(&v);
  }
  /// A size, passed as a 64-bit integer.
  argument(extent e) : argument(e.value()) {}

  /// A struct, passed by value, that contains the addresses of these buffers: see with_buffers.
  template <class T>
  argument(const T& v, std::vector<held_buffer> held) : argument(v) {
    held_ = std::make_shared<const std::vector<held_buffer>>(std::move(held));
  }

  kind is() const noexcept { return is_; }
  /// Returns true for a buffer or a tensor map.
  bool has_memory() const noexcept { return is_ != kind::value && is_ != kind::null; }
  /// Returns the buffers whose addresses the value contains.
  std::span<const held_buffer> held() const noexcept {
    return held_ ? std::span<const held_buffer>(*held_) : std::span<const held_buffer>();
  }
  access_mode mode() const noexcept { return mode_; }  ///< access to the buffer, or to a tensor map's buffer
  /// Precondition: `is() == kind::map`.
  const kernel::tiles& layout() const noexcept { return *tiles_; }
  dtype type() const noexcept { return type_; }
  std::uint32_t bytes() const noexcept { return bytes_; }  ///< size of the value, or of an element of the buffer
  std::uint32_t alignment() const noexcept { return alignment_; }
  const memory_range& range() const noexcept { return range_; }
  /// Returns a copy of this argument with another buffer.
  argument at(memory_range other) const {
    argument out = *this;
    out.range_ = std::move(other);
    return out;
  }
  const void* value() const noexcept { return large_.empty() ? static_cast<const void*>(&small_) : large_.data(); }

 private:
  template <class T>
  static constexpr dtype type_of() noexcept {
    if constexpr (element<T>)
      return dtype_of<T>;
    else
      return dtype{};
  }
  void set_value(const void* from) {
    if (bytes_ > sizeof small_) large_.resize(bytes_);
    std::memcpy(large_.empty() ? static_cast<void*>(&small_) : large_.data(), from, bytes_);
  }

  kind is_;
  access_mode mode_ = access_mode::read;
  dtype type_;
  std::uint32_t bytes_, alignment_;
  memory_range range_;
  std::shared_ptr<const kernel::tiles> tiles_;
  std::shared_ptr<const std::vector<held_buffer>> held_;
  std::array<std::byte, 16> small_{};
  std::vector<std::byte> large_;
};

/// Returns the address at which kernels find a buffer, in every worker of its device, for structs that are passed
/// `with_buffers`. The application must not access memory at this address.
template <class T, access_mode M>
typename operand<T, M>::pointer device_pointer(const operand<T, M>& o) noexcept {
  return o.data();
}

/// An argument that is a struct with the addresses of buffers in it: see with_buffers.
template <class S>
class with : public argument {
 public:
  with(const S& value, std::vector<held_buffer> held) : argument(value, std::move(held)) {}
};

/// Returns an argument that is a struct with the addresses of buffers in it. The operands say how the kernel accesses
/// the buffers: the launch is ordered with other accesses accordingly, and keeps the buffers alive.
///   struct pair { const float* x; float* y; };
///   with_buffers(pair{device_pointer(in(x)), device_pointer(inout(y))}, in(x), inout(y))
template <class S>
with<S> with_buffers(const S& value, std::vector<held_buffer> held) {
  return {value, std::move(held)};
}
template <class S, class... T, access_mode... M>
with<S> with_buffers(const S& value, const operand<T, M>&... held) {
  return {value, std::vector<held_buffer>{held_buffer(held)...}};
}

}  // namespace troupe::kernel
