// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/request/block.hpp>
#include <troupe/request/extent.hpp>

namespace troupe {
namespace detail {

/// [first, first + count) elements of `range`; a range that is refused on use, with the reason, when that lies outside.
memory_range slice_of(const memory_range& range, extent first, extent count, std::size_t element_bytes);
/// The same bytes as elements of another type; refused on use when they do not divide or align.
memory_range reinterpreted(const memory_range& range, std::size_t element_bytes, std::size_t alignment);
std::optional<error> why_stale(const memory_range& range);
extent size_of(const memory_range& range, std::size_t element_bytes) noexcept;

}  // namespace detail

/// Elements in the memory of a device. A handle: copies share the memory, which goes back to the device when the last
/// handle and the last request that uses it are done. The application cannot read it directly: see `device::download`.
/// A buffer can be *stale*: its content is not what was promised (the allocation, the slice or the request that should
/// have written it failed). Using it as an input is refused with that cause; writing all of it makes it valid again.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain values");

 public:
  using element_type = T;

  /// An empty buffer: refused wherever one is needed.
  buffer() noexcept = default;
  explicit buffer(memory_range range) noexcept : range_(std::move(range)) {}

  extent size() const noexcept { return detail::size_of(range_, sizeof(T)); }
  std::uint64_t bytes() const noexcept { return range_.bytes; }
  explicit operator bool() const noexcept { return static_cast<bool>(range_.owner); }

  /// The elements [first, first + count). Shares the memory. Outside the buffer: a buffer whose every use is refused,
  /// saying so.
  buffer slice(extent first, extent count) const { return buffer(detail::slice_of(range_, first, count, sizeof(T))); }
  /// From `first` to the end.
  buffer slice(extent first) const { return slice(first, size() - first); }
  /// The same memory seen as elements of another type.
  template <class U>
  buffer<U> as() const {
    return buffer<U>(detail::reinterpreted(range_, sizeof(U), alignof(U)));
  }

  /// May it be read now? `cause` says why not. A request still under way can change the answer: await it first.
  bool valid() const { return range_.owner && !cause(); }
  std::optional<error> cause() const { return detail::why_stale(range_); }
  /// Is its memory read-only in every worker, so that no fault can take it along? See `seal`.
  bool sealed() const noexcept {
    return range_.owner && range_.owner->seal.load(std::memory_order_acquire) == seal_state::sealed;
  }
  /// Counts the restarts of its device; a buffer of an earlier generation is stale.
  std::uint64_t generation() const noexcept {
    return range_.owner ? range_.owner->generation.load(std::memory_order_relaxed) : 0;
  }

  const memory_range& memory() const& noexcept { return range_; }
  memory_range memory() && noexcept { return std::move(range_); }

 private:
  memory_range range_;
};

}  // namespace troupe
