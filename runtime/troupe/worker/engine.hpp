// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/request/request.hpp>
#include <troupe/request/request_list.hpp>
#include <troupe/worker/engine_abi.hpp>
#include <troupe/worker/engine_call.hpp>
#include <troupe/worker/engine_operation.hpp>
#include <troupe/worker/lane_marks.hpp>
#include <vector>

/// The interface between a worker and its engines. An engine is one shared object for each library actor and backend
/// (`blas.host.so`). It is loaded on first use and links one vendor library, or two if one needs the other (fft.cuda
/// links NVRTC for cuFFT's callbacks). It is a class with one `run` for each request:
///
///   struct openblas {
///     static result<std::unique_ptr<openblas>> make(const engine_context&);
///     const char* version() const;   // optional: the vendor library's name for itself
///     std::string notes() const;     // optional: see troupe_engine::notes
///     result<void> run(const gemm<float>& r, call& c);
///     result<float> run(const dot<float>& r, call& c);
///     bool ready(const dot<float>& r);  // optional, for each request: see troupe_engine_operation::ready
///     static constexpr bool recordable = true;  // optional, on a GPU: supports call::recording
///   };
///   TROUPE_ENGINE(openblas, "blas", "host", gemm<float>, dot<float>)
///
/// A library with many requests spreads them over several sources, each of which lists some of them:
///   std::span<const troupe_engine_operation> level_1() { return operations_of<openblas, dot<float>, axpy<float>>(); }
///   TROUPE_ENGINE_OF_PARTS(openblas, "blas", "host", level_1(), level_3())
///
/// `run` may be called on several lanes at once. It must not return before its work is done (host) or enqueued on
/// `c.stream` (CUDA). An exception or error answers the request and affects no other request, unless the error's
/// reaction is `context_lost`: then the device is unusable, and the worker is replaced.

namespace troupe::detail {

template <class Engine>
const troupe_engine* open_engine(const char* library, const char* backend, const engine_context* context,
                                 troupe_engine_failure* failure,
                                 std::initializer_list<std::span<const troupe_engine_operation>> parts) {
  struct holder : troupe_engine {
    std::unique_ptr<Engine> engine;
    std::vector<troupe_engine_operation> all;
    mutable std::string noted;
  };
  holder* out = nullptr;
  guarded(failure, library, [&]() -> result<void> {
    auto engine = Engine::make(*context);
    if (!engine) return engine.error();
    const char* version = "";
    if constexpr (requires { (*engine)->version(); }) version = (*engine)->version();
    std::vector<troupe_engine_operation> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    const auto count = static_cast<std::uint32_t>(all.size());
    const troupe_engine_operation* const first = all.data();
    out = new holder{{troupe_engine_abi, library, backend, version, first, count, engine->get(),
                      [](const troupe_engine* self) { delete static_cast<const holder*>(self); }, nullptr},
                     std::move(*engine),
                     std::move(all),
                     {}};
    if constexpr (requires(const Engine& e) { std::string(e.notes()); })
      out->notes = [](const troupe_engine* self) {
        const auto* me = static_cast<const holder*>(self);
        me->noted = me->engine->notes();
        return me->noted.c_str();
      };
    return {};
  });
  return out;
}

}  // namespace troupe::detail

/// Makes `Engine` the plug-in for (LIBRARY, BACKEND). It serves the listed requests, or those of a `request_list`.
#define TROUPE_ENGINE(ENGINE, LIBRARY, BACKEND, ...) \
  TROUPE_ENGINE_OF_PARTS(ENGINE, LIBRARY, BACKEND, (::troupe::operations_of<ENGINE, __VA_ARGS__>()))
/// Does the same for requests that are listed in other sources.
#define TROUPE_ENGINE_OF_PARTS(ENGINE, LIBRARY, BACKEND, ...)                                        \
  extern "C" __attribute__((visibility("default"))) const troupe_engine* troupe_engine_open(         \
      const troupe_engine_context* context, troupe_engine_failure* failure) {                        \
    return ::troupe::detail::open_engine<ENGINE>(LIBRARY, BACKEND, context, failure, {__VA_ARGS__}); \
  }
