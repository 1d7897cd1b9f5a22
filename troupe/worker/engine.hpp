// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <troupe/base/result.hpp>
#include <troupe/request/request.hpp>

/// The interface between a worker and its engines. An engine is one shared object per library actor and backend
/// (`blas.host.so`), loaded on first use, linking one vendor library. It is written as a class with one `run` per
/// request:
///
///   struct openblas {
///     static result<std::unique_ptr<openblas>> make(const engine_context&);
///     result<void> run(const gemm<float>& r, call& c);
///     result<float> run(const dot<float>& r, call& c);
///   };
///   TROUPE_ENGINE(openblas, "blas", "host", gemm<float>, dot<float>)
///
/// `run` may be called from several lanes at once. It must not return before its work is done (host) or enqueued on
/// `c.stream` (CUDA). What it throws or returns as an error is answered to the caller, and nobody else notices.

extern "C" {

inline constexpr std::uint32_t troupe_engine_abi = 1;

/// Which lane an operation wants: its library's, a helper thread's (slow work), or one of the two for copies.
enum troupe_lane : std::uint32_t {
  troupe_lane_library,
  troupe_lane_helper,
  troupe_lane_upload,
  troupe_lane_download,
  troupe_lane_fence,  ///< waits for everything before it, on a helper's lane
};

struct troupe_engine_context {
  std::uint32_t abi;
  std::int32_t device;   ///< ordinal of the device within its backend
  void* native_context;  ///< CUcontext on CUDA, null on the host
  std::uint32_t lanes;   ///< lane numbers are below this
};

struct troupe_engine_call {
  void* stream;  ///< CUstream on CUDA, null on the host
  std::uint32_t lane;
  std::uint32_t reserved;
  std::uint64_t ticket;
  void* reply;                 ///< where the answer goes: 64 bytes the application reads (mapped on the GPU too)
  void (*news)(void* worker);  ///< wakes the application to look at memory it shares with this operation
  void* worker;
};

struct troupe_engine_failure {
  std::uint8_t reaction;
  std::int64_t code;
  char domain[32];
  char text[1024];
};

struct troupe_engine_operation {
  std::uint64_t opcode;
  const char* name;
  std::uint32_t payload_bytes;
  std::uint32_t lane;  ///< troupe_lane
  bool (*run)(void* engine, const void* payload, const troupe_engine_call* call, troupe_engine_failure* failure);
};

struct troupe_engine {
  std::uint32_t abi;
  const char* library;
  const char* backend;
  const char* version;  ///< of the vendor library, as it names itself
  const troupe_engine_operation* operations;
  std::uint32_t operation_count;
  void* state;
  void (*close)(const troupe_engine* self);
};

typedef const troupe_engine* (*troupe_engine_open_fn)(const troupe_engine_context* context,
                                                      troupe_engine_failure* failure);
}

namespace troupe {

using engine_context = troupe_engine_context;

/// One operation while it runs.
struct call : troupe_engine_call {
  /// Where to put the answer when the GPU writes it later; `run` then returns result<void>.
  template <class T>
  T* reply_as() noexcept {
    return static_cast<T*>(reply);
  }
};

/// In the list of TROUPE_ENGINE: runs on a helper thread instead of a lane of its library: compiling, searching,
/// waiting.
template <class R>
struct slow {};
/// In the list of TROUPE_ENGINE: runs on the lane for copies to, or from, the device.
template <class R>
struct uploads {};
template <class R>
struct downloads {};
/// In the list of TROUPE_ENGINE: runs when everything before it has run.
template <class R>
struct fences {};

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
    fill(failure, reaction::fatal, 0, domain, "the engine threw something that is not a std::exception");
  }
  return false;
}

template <class Engine, class R>
bool run_operation(void* engine, const void* payload, const troupe_engine_call* c, troupe_engine_failure* failure) {
  return guarded(failure, "engine", [&]() -> result<void> {
    const R r = troupe::decode<R>(static_cast<const std::byte*>(payload));
    call here{*c};
    auto answer = static_cast<Engine*>(engine)->run(r, here);
    if (!answer) return answer.error();
    if constexpr (!std::is_same_v<decltype(answer), result<void>>) {
      static_assert(std::is_same_v<decltype(answer), result<typename R::reply>>,
                    "run must answer the request's reply, or void when the GPU writes it");
      std::memcpy(here.reply, &*answer, sizeof *answer);
    }
    return {};
  });
}

template <class R, std::uint32_t Lane = troupe_lane_library>
struct operation_traits {
  using type = R;
  static constexpr std::uint32_t lane = Lane;
};
template <class R>
struct operation_traits<slow<R>> : operation_traits<R, troupe_lane_helper> {};
template <class R>
struct operation_traits<uploads<R>> : operation_traits<R, troupe_lane_upload> {};
template <class R>
struct operation_traits<downloads<R>> : operation_traits<R, troupe_lane_download> {};
template <class R>
struct operation_traits<fences<R>> : operation_traits<R, troupe_lane_fence> {};

template <class Engine, class Entry>
constexpr troupe_engine_operation operation_of() noexcept {
  using R = typename operation_traits<Entry>::type;
  static_assert(payload_bytes<R> <= max_payload_bytes,
                "the fixed part of this request is too large: put lists in a vector field");
  return {opcode_of<R>, request_label<R>.text, payload_bytes<R>, operation_traits<Entry>::lane,
          &run_operation<Engine, R>};
}

template <class Engine, class... R>
const troupe_engine* open_engine(const char* library, const char* backend, const engine_context* context,
                                 troupe_engine_failure* failure) {
  static constexpr troupe_engine_operation operations[] = {operation_of<Engine, R>()...};
  struct holder : troupe_engine {
    std::unique_ptr<Engine> engine;
  };
  holder* out = nullptr;
  guarded(failure, library, [&]() -> result<void> {
    auto engine = Engine::make(*context);
    if (!engine) return engine.error();
    const char* version = "";
    if constexpr (requires { (*engine)->version(); }) version = (*engine)->version();
    out = new holder{{troupe_engine_abi, library, backend, version, operations, sizeof...(R), engine->get(),
                      [](const troupe_engine* self) { delete static_cast<const holder*>(self); }},
                     std::move(*engine)};
    return {};
  });
  return out;
}

}  // namespace detail
}  // namespace troupe

/// Makes `Engine` the plug-in for (LIBRARY, BACKEND), serving the listed requests.
#define TROUPE_ENGINE(ENGINE, LIBRARY, BACKEND, ...)                                               \
  extern "C" __attribute__((visibility("default"))) const troupe_engine* troupe_engine_open(       \
      const troupe_engine_context* context, troupe_engine_failure* failure) {                      \
    return ::troupe::detail::open_engine<ENGINE, __VA_ARGS__>(LIBRARY, BACKEND, context, failure); \
  }
