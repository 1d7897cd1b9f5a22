// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <troupe/base/containers/list.hpp>
#include <troupe/request/block.hpp>
#include <type_traits>

namespace troupe {

template <class T>
class buffer;
template <class T>
class host_buffer;

/// A buffer as a field of a request. Application and worker use the same C++ type: in the application it keeps the
/// buffer alive, in the worker `data()` is the memory. It has no default constructor, so that a request cannot omit
/// one.
template <class T, access_mode Mode>
class operand {
 public:
  using element_type = T;
  using pointer = std::conditional_t<Mode == access_mode::read, const T*, T*>;
  static constexpr access_mode mode = Mode;

  operand(const buffer<T>& b) : range_(b.memory()) {}
  operand(buffer<T>&& b) : range_(std::move(b).memory()) {}
  operand(const host_buffer<T>& b) : range_(b.memory()) {}
  /// Makes an operand of any memory of a device, whatever its element type.
  explicit operand(memory_range range) noexcept : range_(std::move(range)) {}
  /// Makes an operand for the worker: memory without an owner.
  operand(std::uint64_t address, std::uint64_t elements) noexcept : range_{{}, address, elements * sizeof(T)} {}

  const memory_range& range() const noexcept { return range_; }
  std::uint64_t size() const noexcept { return range_.bytes / sizeof(T); }

  /// Returns the memory. Call it only in a worker.
  pointer data() const noexcept { return reinterpret_cast<pointer>(static_cast<std::uintptr_t>(range_.address)); }

 private:
  memory_range range_;
};

/// An operand that the request reads.
template <class T>
using in = operand<T, access_mode::read>;
/// An operand that the request replaces as a whole and never reads.
template <class T>
using out = operand<T, access_mode::write>;
/// An operand that the request reads and writes.
template <class T>
using inout = operand<T, access_mode::read_write>;

template <class F>
inline constexpr bool is_operand = false;
template <class T, access_mode M>
inline constexpr bool is_operand<operand<T, M>> = true;

/// The operands in a field; most kinds of fields have none. Specialize this template and `field_codec` for a field type
/// of your own that holds operands. `visit` calls `f(place, range, element_bytes, mode)` for each operand; errors refer
/// to an operand by its address, `place`. If a list also holds other things, define `index_of(field, place)`, which
/// returns the number that errors show, or `text_of(field, place)`, which returns the text that follows the field's
/// name in errors, such as .read[1].
template <class F>
struct operands_in {
  static constexpr bool any = false;
};
/// The base of a specialization for a field whose operands have no numbers in errors: "a", not "a[0]".
struct unnumbered_operands {
  static constexpr bool any = true, list = false;
};
/// The base of a specialization for a field whose operands have numbers in errors: "a[0]".
struct numbered_operands {
  static constexpr bool any = true, list = true;
};
template <class T, access_mode M>
struct operands_in<operand<T, M>> : unnumbered_operands {
  template <class V>
  static void visit(const operand<T, M>& o, V&& f) {
    f(&o, o.range(), sizeof(T), M);
  }
};
template <class O>
  requires operands_in<O>::any
struct operands_in<list<O>> : numbered_operands {
  template <class V>
  static void visit(const troupe::list<O>& all, V&& f) {
    for (const O& o : all) operands_in<O>::visit(o, f);
  }
};
/// An operand that may be left out has no operand to visit then.
template <class O>
  requires operands_in<O>::any
struct operands_in<std::optional<O>> : unnumbered_operands {
  template <class V>
  static void visit(const std::optional<O>& o, V&& f) {
    if (o) operands_in<O>::visit(*o, f);
  }
};

}  // namespace troupe
