// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <troupe/base/result.hpp>
#include <troupe/request/request.hpp>
#include <troupe/request/request_list.hpp>
#include <troupe/worker/engine_abi.hpp>
#include <troupe/worker/engine_call.hpp>
#include <troupe/worker/lane_marks.hpp>
#include <type_traits>

/// Turns the functions of an engine into the table of operations that a worker calls.
namespace troupe {
namespace detail {

inline void fill(troupe_engine_failure* out, reaction r, std::int64_t code, const char* domain,
                 const char* text) noexcept {
  out->reaction = static_cast<std::uint8_t>(r);
  out->code = code;
  std::snprintf(out->domain, sizeof out->domain, "%s", domain);
  std::snprintf(out->text, sizeof out->text, "%s", text);
}

template <class F>
bool guarded(troupe_engine_failure* failure, const char* domain, F&& f) noexcept {
  try {
    auto done = f();
    if (done) return true;
    const error& e = done.error();
    fill(failure, e.reaction(), e.code(), e.domain().c_str(), e.text().c_str());
  } catch (const std::exception& e) {
    fill(failure, reaction::fatal, 0, domain, e.what());
  } catch (...) {
    fill(failure, reaction::fatal, 0, domain, "the engine threw an object that is not a std::exception");
  }
  return false;
}

template <class Engine, class R>
bool run_operation(void* engine, const void* payload, const troupe_engine_call* c, troupe_engine_failure* failure) {
  call here{*c};
  const bool fine = guarded(failure, "engine", [&]() -> result<void> {
    const R r = troupe::decode<R>(static_cast<const std::byte*>(payload));
    auto answer = static_cast<Engine*>(engine)->run(r, here);
    if (!answer) return answer.error();
    if constexpr (!std::is_same_v<decltype(answer), result<void>>) {
      static_assert(std::is_same_v<decltype(answer), result<reply_to<R>>>,
                    "run must return result<R::reply>, or result<void> if the GPU writes the reply");
      std::memcpy(here.reply, &*answer, sizeof *answer);
    }
    return {};
  });
  failure->restart_library = here.library_is_broken;
  failure->whose = here.whose;
  return fine;
}

template <class Engine, class R>
concept sequences = requires(const R& r) {
  { Engine::sequence_of(r) } -> std::convertible_to<std::uint64_t>;
};

template <class Engine, class R>
std::uint64_t group_of_operation(const void* payload) {
  try {
    const R r = troupe::decode<R>(static_cast<const std::byte*>(payload));
    if constexpr (sequences<Engine, R>)
      return Engine::sequence_of(r);
    else
      return Engine::group_of(r);
  } catch (...) {
    return 0;  // the request runs alone, and a second exception becomes its error
  }
}

template <class Engine, class R>
bool run_group(void* engine, const void* const* payloads, const troupe_engine_call* calls, std::uint32_t count,
               troupe_engine_failure* failure) {
  return guarded(failure, "engine", [&]() -> result<void> {
    call here{calls[0]};
    return static_cast<Engine*>(engine)->run_group(group<R>(payloads, calls, count), here);
  });
}

template <class Engine, class R>
bool run_sequence(void* engine, const void* const* payloads, const troupe_engine_call* calls, std::uint32_t count,
                  troupe_engine_failure*) {
  try {
    call here{calls[0]};
    return static_cast<Engine*>(engine)->run_sequence(group<R>(payloads, calls, count), here);
  } catch (...) {
    return false;  // each request runs alone, and a second exception becomes its error
  }
}

template <class Engine, class R>
bool is_ready(void* engine, const void* payload) {
  try {
    return static_cast<Engine*>(engine)->ready(troupe::decode<R>(static_cast<const std::byte*>(payload)));
  } catch (...) {
    return false;  // the request runs on its lane, and a second exception becomes its error
  }
}

template <class Engine, class R>
concept groups = requires(const R& r) {
  { Engine::group_of(r) } -> std::convertible_to<std::uint64_t>;
};

template <class Engine, class Entry>
constexpr troupe_engine_operation operation_of() noexcept {
  using R = typename operation_traits<Entry>::request_on_lane;
  static_assert(payload_bytes<R> <= max_payload_bytes,
                "the fixed part of this request is too large: put lists in a list field");
  troupe_engine_operation out{opcode_of<R>,
                              request_label<R>.text,
                              payload_bytes<R>,
                              operation_traits<Entry>::lane,
                              &run_operation<Engine, R>,
                              nullptr,
                              nullptr,
                              nullptr,
                              0,
                              0};
  if constexpr (groups<Engine, R>) {
    out.group = &group_of_operation<Engine, R>;
    out.run_group = &run_group<Engine, R>;
  } else if constexpr (sequences<Engine, R>) {
    out.group = &group_of_operation<Engine, R>;
    out.run_group = &run_sequence<Engine, R>;
    out.in_order = 1;
  }
  if constexpr (requires(Engine& e, const R& r) { bool(e.ready(r)); }) out.ready = &is_ready<Engine, R>;
  if constexpr (requires { Engine::recordable; }) out.recordable = Engine::recordable;
  return out;
}

template <class Engine, class... R>
struct operation_table {
  static constexpr troupe_engine_operation all[] = {operation_of<Engine, R>()...};
};
template <class Engine, class... R>
struct operation_table<Engine, request_list<R...>> : operation_table<Engine, R...> {};

}  // namespace detail

/// Returns the operations of some requests, or of one `request_list`, for TROUPE_ENGINE_OF_PARTS.
template <class Engine, class... R>
std::span<const troupe_engine_operation> operations_of() noexcept {
  return detail::operation_table<Engine, R...>::all;
}

}  // namespace troupe
