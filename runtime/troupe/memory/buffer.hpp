// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/request/block.hpp>
#include <troupe/request/extent.hpp>

namespace troupe {
namespace detail {

/// Returns elements [first, first + count) of `range`. If they are outside, returns a range that every request refuses
/// with the reason.
memory_range slice_of(const memory_range& range, extent first, extent count, std::size_t element_bytes);
/// Returns the same bytes as elements of another type. If the bytes are not a whole number of aligned elements, every
/// request refuses the range.
memory_range reinterpreted(const memory_range& range, std::size_t element_bytes, std::size_t alignment);
std::optional<error> why_stale(const memory_range& range);
extent size_of(const memory_range& range, std::size_t element_bytes) noexcept;

}  // namespace detail

/// Elements in the memory of a device. This is a handle: copies share the memory, which is freed when the last handle
/// is destroyed and the last request that uses it has completed. The application cannot read it directly: see
/// `device::download`. A buffer can be *stale*: its allocation, a slice of it or a request that should have written it
/// failed. A request that reads a stale buffer is refused with that cause. Writing all of a buffer makes it valid
/// again.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain values");

 public:
  using element_type = T;

  /// Makes an empty handle, which every request refuses. A buffer of 0 elements is not empty in this sense.
  buffer() noexcept = default;
  explicit buffer(memory_range range) noexcept : range_(std::move(range)) {}

  extent size() const noexcept { return detail::size_of(range_, sizeof(T)); }
  std::uint64_t bytes() const noexcept { return range_.bytes; }
  explicit operator bool() const noexcept { return static_cast<bool>(range_.owner); }

  /// Returns elements [first, first + count), which share the memory. If they are outside the buffer, every request
  /// refuses the result with that reason.
  buffer slice(extent first, extent count) const { return buffer(detail::slice_of(range_, first, count, sizeof(T))); }
  /// Returns the elements from `first` to the end.
  buffer slice(extent first) const { return slice(first, size() - first); }
  /// Returns the same memory as elements of another type.
  template <class U>
  buffer<U> as() const {
    return buffer<U>(detail::reinterpreted(range_, sizeof(U), alignof(U)));
  }

  /// Returns true if a request may read the buffer now; otherwise `cause` says why not. A pending request can change
  /// that: await it first.
  bool readable() const { return range_.owner && !cause(); }
  std::optional<error> cause() const { return detail::why_stale(range_); }
  /// Returns true if the memory is read-only in every worker, so that no fault can change it. See `seal`.
  bool sealed() const noexcept {
    return range_.owner && range_.owner->seal.load(std::memory_order_acquire) == seal_state::sealed;
  }
  /// Returns the device's generation, which every restart increases. A buffer of an earlier generation is stale.
  std::uint64_t generation() const noexcept {
    return range_.owner ? range_.owner->generation.load(std::memory_order_relaxed) : 0;
  }

  const memory_range& memory() const& noexcept { return range_; }
  memory_range memory() && noexcept { return std::move(range_); }

 private:
  memory_range range_;
};

}  // namespace troupe
