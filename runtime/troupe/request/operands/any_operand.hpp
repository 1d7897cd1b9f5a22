// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/base/dtype.hpp>
#include <troupe/request/operands/view_operand.hpp>

namespace troupe {

/// A matrix or a tensor of any element type as a field of a request. Its type is a value, `type()`, so that one request
/// serves all combinations of types. Application and worker use the same C++ type, like `operand`.
template <access_mode Mode>
class any_operand {
 public:
  using pointer = std::conditional_t<Mode == access_mode::read, const void*, void*>;
  static constexpr access_mode mode = Mode;

  template <class T>
  any_operand(const tensor<T>& t) : range_(t.memory().memory()), shape_(t.shape()), type_(dtype_of<T>) {}
  template <class T>
  any_operand(const matrix<T>& m) : any_operand(tensor<T>(m)) {}
  /// Makes an operand from its parts: when a worker decodes a request, or when a recorded request is moved to another
  /// buffer.
  any_operand(memory_range range, const tensor_shape& shape, dtype type) noexcept
      : range_(std::move(range)), shape_(shape), type_(type) {}

  const memory_range& range() const noexcept { return range_; }
  const tensor_shape& shape() const noexcept { return shape_; }
  dtype type() const noexcept { return type_; }
  /// Returns the memory. Call it only in a worker.
  pointer data() const noexcept { return reinterpret_cast<pointer>(static_cast<std::uintptr_t>(range_.address)); }

  /// Calls `f(range)` with the operand's memory range, which `f` may replace.
  template <class F>
  void visit_memory(F&& f) {
    f(range_);
  }

 private:
  memory_range range_;
  tensor_shape shape_;
  dtype type_;
};

namespace detail {
std::string text(std::string_view type, const memory_range& r, std::uint64_t elements);
std::string text(const tensor_shape& s);
}  // namespace detail
/// Returns the operand in words: "f16[64]@200000000000 as 8 x 8 with strides 8, 1".
template <access_mode M>
std::string to_string(const any_operand<M>& o) {
  const std::string_view type = to_string(o.type());
  return detail::text(type, o.range(), o.range().bytes / bytes_of(o.type())) + " as " + detail::text(o.shape());
}

using in_any = any_operand<access_mode::read>;
using out_any = any_operand<access_mode::write>;
using inout_any = any_operand<access_mode::read_write>;

template <access_mode M>
struct operands_in<any_operand<M>> : unnumbered_operands {
  template <class V>
  static void visit(const any_operand<M>& o, V&& f) {
    f(&o, o.range(), bytes_of(o.type()), M);
  }
};

template <access_mode M>
struct field_codec<any_operand<M>> {
  /// The fixed part: extents and strides of up to `few` axes. With more axes, `extents[0]` is the address of the shape
  /// in the blob.
  struct encoded {
    static constexpr std::size_t few = 3;
    std::uint64_t address, bytes, type_and_rank;
    std::int64_t extents[few], strides[few];
  };
  using element = std::byte;
  static constexpr char kind = "456"[static_cast<int>(M)];
  static constexpr std::size_t size = sizeof(encoded), align = 8;
  static bool has_few(const any_operand<M>& f) noexcept { return f.shape().rank <= encoded::few; }
  static std::size_t blob_bytes(const any_operand<M>& f) noexcept {
    return has_few(f) ? 0 : blob_cursor::padded(sizeof(tensor_shape));
  }
  static void encode(const any_operand<M>& f, std::byte* at, blob_cursor& blob) noexcept {
    const tensor_shape& s = f.shape();
    encoded e{
        f.range().address, f.range().bytes, static_cast<std::uint64_t>(f.type()) | std::uint64_t{s.rank} << 8, {}, {}};
    if (has_few(f)) {
      for (std::size_t i = 0; i < s.rank; ++i) e.extents[i] = s.extents[i], e.strides[i] = s.strides[i];
    } else {
      e.extents[0] = static_cast<std::int64_t>(blob.address);
      std::memcpy(blob.host, &s, sizeof s);
      blob.advance(sizeof s);
    }
    std::memcpy(at, &e, sizeof e);
  }
  static any_operand<M> decode(const std::byte* at) noexcept {
    encoded e;
    std::memcpy(&e, at, sizeof e);
    tensor_shape s{.rank = e.type_and_rank >> 8};
    if (s.rank <= encoded::few)
      for (std::size_t i = 0; i < s.rank; ++i) s.extents[i] = e.extents[i], s.strides[i] = e.strides[i];
    else
      std::memcpy(&s, reinterpret_cast<const std::byte*>(e.extents[0]), sizeof s);
    return {memory_range{{}, e.address, e.bytes}, s, static_cast<dtype>(e.type_and_rank & 0xff)};
  }
};

/// The fixed part is an address, 0 if the operand was left out; the encoded operand is in the blob.
template <access_mode M>
struct field_codec<std::optional<any_operand<M>>> {
  using given = field_codec<any_operand<M>>;
  using element = std::byte;
  static constexpr char kind = "789"[static_cast<int>(M)];
  static constexpr std::size_t size = 8, align = 8;
  static std::size_t blob_bytes(const std::optional<any_operand<M>>& f) noexcept {
    return f ? blob_cursor::padded(given::size) + given::blob_bytes(*f) : 0;
  }
  static void encode(const std::optional<any_operand<M>>& f, std::byte* at, blob_cursor& blob) noexcept {
    const std::uint64_t address = f ? blob.address : 0;
    std::memcpy(at, &address, sizeof address);
    if (!f) return;
    std::byte* const place = blob.host;
    blob.advance(given::size);
    given::encode(*f, place, blob);
  }
  static std::optional<any_operand<M>> decode(const std::byte* at) noexcept {
    std::uint64_t address = 0;
    std::memcpy(&address, at, sizeof address);
    return address == 0 ? std::nullopt : std::optional(given::decode(reinterpret_cast<const std::byte*>(address)));
  }
};

}  // namespace troupe
