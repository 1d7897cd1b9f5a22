// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <troupe/base/dtype.hpp>
#include <troupe/kernel/tensor_map.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/memory/host_buffer.hpp>
#include <vector>

namespace troupe::kernel {

/// One argument of a launch: a buffer with the kernel's access to it, a typed value, or a tensor map.
class argument {
 public:
  enum class kind : std::uint8_t { read = 0, write = 1, read_write = 2, value = 3, map = 4 };

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
  argument(const buffer<T>& b) : argument(in<T>(b)) {}
  template <class T>
  argument(const host_buffer<T>& b) : argument(in<T>(b)) {}
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

  kind is() const noexcept { return is_; }
  access_mode mode() const noexcept { return mode_; }  ///< of the buffer, or of the map's buffer
  /// Precondition: `is() == kind::map`.
  const kernel::tiles& layout() const noexcept { return *tiles_; }
  dtype type() const noexcept { return type_; }
  std::uint32_t bytes() const noexcept { return bytes_; }  ///< of the value, or of an element
  std::uint32_t alignment() const noexcept { return alignment_; }
  const memory_range& range() const noexcept { return range_; }
  /// Returns a copy that refers to another buffer.
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
  std::array<std::byte, 16> small_{};
  std::vector<std::byte> large_;
};

}  // namespace troupe::kernel
