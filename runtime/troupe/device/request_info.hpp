// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <optional>
#include <troupe/async/answers/pending_state.hpp>
#include <troupe/request/encoding/encoded_field.hpp>
#include <troupe/request/ready_request.hpp>

namespace troupe {

/// Describes a request type for untyped code: how to encode a request, how to answer it, and how to decode it.
struct request_info {
  std::string_view label;
  std::uint64_t opcode;
  std::uint32_t library;
  std::uint32_t payload_bytes;
  bool has_own_time_limit;  ///< true if it limits its own time: device_options::run_timeout does not apply
  std::size_t (*blob_bytes)(const void* request) noexcept;
  void (*encode)(const void* request, std::byte* payload, blob_cursor blob) noexcept;
  /// Completes the pending of a request: with the error if `why` is not null, otherwise from the bytes of the reply.
  void (*answer)(pending_core& pending, const std::byte* reply, const error* why) noexcept;
  /// Returns the error of a request that its worker completed, from the bytes of the reply, which a GPU may have
  /// written; nullopt if it succeeded. Null if the request has no such function: see completion::fail_by_replies.
  std::optional<error> (*failure_in)(const std::byte* reply);
  std::span<const encoded_field_info> fields;  ///< fields of the request that is sent, to decode it for error texts
  std::string_view field_names;
  bool exchanges_operands = false;  ///< true if the first two operands have each other's name
};

namespace detail {

template <class Reply>
void answer(pending_core& pending, [[maybe_unused]] const std::byte* reply, const error* why) noexcept {
  auto& state = static_cast<pending_state<Reply>&>(pending);
  if (why != nullptr) {
    state.complete(*why);
  } else if constexpr (std::is_void_v<Reply>) {
    state.complete({});
  } else {
    static_assert(std::is_trivially_copyable_v<Reply> && sizeof(Reply) <= max_reply_bytes,
                  "a reply is a small plain value; larger results go to a buffer");
    Reply value;
    std::memcpy(&value, reply, sizeof value);
    state.complete(value);
  }
}

template <class R>
constexpr auto failure_in() noexcept -> std::optional<error> (*)(const std::byte*) {
  if constexpr (requires(const reply_to<R>& reply) { R::failure_in(reply); })
    return [](const std::byte* reply) {
      reply_to<R> value;
      std::memcpy(&value, reply, sizeof value);
      return R::failure_in(value);
    };
  else
    return nullptr;
}

template <class R>
constexpr std::uint32_t sendable_bytes() {
  static_assert(payload_bytes<R> <= max_payload_bytes,
                "a request is a small record; what is larger goes into a buffer, or into a list field");
  return payload_bytes<R>;
}

template <class R>
inline constexpr bool limits_itself = requires { requires R::has_own_time_limit; };
template <class R>
inline constexpr request_info info_of{
    .label = name_of<R>(),
    .opcode = opcode_of<R>,
    .library = library_code(library_of<R>()),
    .payload_bytes = sendable_bytes<R>(),
    .has_own_time_limit = limits_itself<R>,
    .blob_bytes = [](const void* r) noexcept { return troupe::blob_bytes(*static_cast<const R*>(r)); },
    .encode = [](const void* r, std::byte* payload,
                 blob_cursor blob) noexcept { troupe::encode(*static_cast<const R*>(r), payload, blob); },
    .answer = &answer<reply_to<R>>,
    .failure_in = failure_in<R>(),
    .fields = encoded_fields_of<R>,
    .field_names = R::request_fields,
};
/// Equals that of the request that is sent, except for the name.
template <ready_request R>
inline constexpr request_info info_of<R> = [] {
  request_info out = info_of<sent_as<R>>;
  out.label = name_of<R>();
  return out;
}();
template <ready_request R>
inline constexpr request_info exchanged_info_of = [] {
  request_info out = info_of<R>;
  out.exchanges_operands = true;
  return out;
}();
template <ready_request R>
const request_info& info_for(const R& r) noexcept {
  if constexpr (requires { r.exchanges_operands(); })
    if (r.exchanges_operands()) return exchanged_info_of<R>;
  return info_of<R>;
}

}  // namespace detail
}  // namespace troupe
