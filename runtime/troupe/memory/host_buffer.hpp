// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/memory/buffer.hpp>

namespace troupe {

/// Memory of the application that the worker can access too, pinned on a GPU: copies to and from it need no staging. A
/// handle, like `buffer`. The library does not order the application's own accesses with requests: await the requests
/// first.
template <class T>
class host_buffer {
  static_assert(std::is_trivially_copyable_v<T>, "memory that is shared with a worker holds plain values");

 public:
  using element_type = T;

  host_buffer() noexcept = default;
  explicit host_buffer(memory_range range) noexcept : range_(std::move(range)) {}

  extent size() const noexcept { return detail::size_of(range_, sizeof(T)); }
  std::uint64_t bytes() const noexcept { return range_.bytes; }
  explicit operator bool() const noexcept { return static_cast<bool>(range_.owner); }

  /// Returns null if the handle is empty, or if its allocation failed (`cause` says why).
  T* data() const noexcept {
    if (!range_.owner || range_.owner->host == nullptr) return nullptr;
    return reinterpret_cast<T*>(range_.owner->host + (range_.address - range_.owner->address));
  }
  std::span<T> span() const noexcept {
    return data() ? std::span<T>(data(), range_.bytes / sizeof(T)) : std::span<T>();
  }
  T& operator[](std::size_t i) const noexcept { return data()[i]; }
  T* begin() const noexcept { return data(); }
  T* end() const noexcept { return data() + span().size(); }

  host_buffer slice(extent first, extent count) const {
    return host_buffer(detail::slice_of(range_, first, count, sizeof(T)));
  }

  bool readable() const { return range_.owner && !cause(); }
  std::optional<error> cause() const { return detail::why_stale(range_); }

  const memory_range& memory() const& noexcept { return range_; }
  memory_range memory() && noexcept { return std::move(range_); }

 private:
  memory_range range_;
};

}  // namespace troupe
