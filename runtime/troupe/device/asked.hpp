// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <troupe/async/answers/pending_state.hpp>
#include <type_traits>
#include <vector>

namespace troupe {

class device_core;

/// The request that an answer comes from, and the device, which must live until then.
struct request_link {
  std::shared_ptr<device_core> core;
  std::uint32_t slot = UINT32_MAX;  ///< UINT32_MAX: the request cannot be cancelled
  std::uint64_t ticket = 0;
  void cancel() noexcept;
};

namespace detail {

waiter* helper_of(const std::shared_ptr<device_core>& core) noexcept;

/// The state of a request's answer.
template <class T>
struct asked : pending_state<T> {
  explicit asked(std::shared_ptr<device_core> core) : pending_state<T>(helper_of(core)) { link.core = std::move(core); }
  void cancel() noexcept override { link.cancel(); }
  answer_source source() const noexcept override { return {link.slot, link.ticket}; }
  request_link link;
};

/// The element type of the vector that a download fills: a byte for bool, because std::vector<bool> packs bits.
template <class T>
using downloaded = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// The state of the answer of a download, with the vector that it fills.
template <class T>
struct vector_download final : asked<std::vector<downloaded<T>>> {
  using asked<std::vector<downloaded<T>>>::asked;
  std::vector<downloaded<T>> data;

  static std::byte* room(pending_core& s, std::size_t bytes) noexcept {
    auto& self = static_cast<vector_download&>(s);
    try {
      self.data.resize(bytes / sizeof(T));
    } catch (const std::exception&) {
      return nullptr;  // out of memory
    }
    return reinterpret_cast<std::byte*>(self.data.data());
  }
  static void finish(pending_core& s, const error* why) noexcept {
    auto& self = static_cast<vector_download&>(s);
    if (why != nullptr)
      self.complete(*why);
    else
      self.complete(std::move(self.data));
  }
};

}  // namespace detail
}  // namespace troupe
