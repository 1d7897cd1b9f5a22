// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/request/request.hpp>
#include <troupe/request/request_list.hpp>
#include <troupe/worker/engine_abi.hpp>
#include <vector>

/// The interface between a worker and its engines. An engine is one shared object per library actor and backend
/// (`blas.host.so`), loaded on first use, linking one vendor library. It is written as a class with one `run` per
/// request:
///
///   struct openblas {
///     static result<std::unique_ptr<openblas>> make(const engine_context&);
///     const char* version() const;   // optional: the vendor library, as it names itself
///     std::string notes() const;     // optional: see troupe_engine::notes
///     result<void> run(const gemm<float>& r, call& c);
///     result<float> run(const dot<float>& r, call& c);
///     bool ready(const dot<float>& r);  // optional, for each request: see troupe_engine_operation::ready
///     static constexpr bool recordable = true;  // optional, on a GPU: heeds call::recording
///   };
///   TROUPE_ENGINE(openblas, "blas", "host", gemm<float>, dot<float>)
///
/// A library with many requests spreads them over several sources, each with a part of the list:
///   std::span<const troupe_engine_operation> level_1() { return operations_of<openblas, dot<float>, axpy<float>>(); }
///   TROUPE_ENGINE_OF_PARTS(openblas, "blas", "host", level_1(), level_3())
///
/// `run` may be called from several lanes at once. It must not return before its work is done (host) or enqueued on
/// `c.stream` (CUDA). What it throws or returns as an error is answered to the caller, and nobody else notices; but an
/// error that says `context_lost` means that nothing works any more: the worker is replaced.

namespace troupe {
using engine_context = troupe_engine_context;

/// One operation while it runs.
struct call : troupe_engine_call {
  /// For a request that fails because the vendor library's handle is broken while everything else is sound: when what
  /// was queued before has run, the engine is closed and opened anew. The other libraries go on.
  void restart_library() noexcept { library_is_broken = true; }
  /// The same of the library with this number, one of whose operations it has run.
  void restart_library(std::uint32_t library) noexcept {
    library_is_broken = true;
    whose = library + 1;
  }
  bool library_is_broken = false;
  std::uint32_t whose = 0;
  /// Of `recording`, which must be there.
  result<void*> scratch(std::uint64_t bytes) const { return from(recording->scratch, bytes); }
  result<void*> constants(std::uint64_t bytes) const { return from(recording->constants, bytes); }

 private:
  result<void*> from(void* (*take)(void*, std::uint64_t, troupe_engine_failure*), std::uint64_t bytes) const {
    troupe_engine_failure why{};
    if (void* const out = take(recording->state, bytes, &why)) return out;
    return error(error::details{
        .reaction = static_cast<reaction>(why.reaction), .domain = why.domain, .code = why.code, .text = why.text});
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
/// In the list of TROUPE_ENGINE: takes no time itself, and is to come right behind what it waits for.
template <class R>
struct follows {};
namespace detail {
template <template <class> class Mark, class List, class... Marked>
struct marked_among;
template <template <class> class Mark, class... R, class... Marked>
struct marked_among<Mark, request_list<R...>, Marked...> {
  template <class One>
  static constexpr bool is_marked = (std::is_same_v<One, Marked> || ...);
  static_assert((is_marked<R> + ... + 0) == sizeof...(Marked), "what is marked must be in the list, once");
  using type = request_list<std::conditional_t<is_marked<R>, Mark<R>, R>...>;
};
}  // namespace detail
/// A library's list, in which these requests are marked with one of the above:
///   TROUPE_ENGINE(openblas, "blas", "host", marked<slow, all_requests, load, search>)
template <template <class> class Mark, class List, class... Marked>
using marked = typename detail::marked_among<Mark, List, Marked...>::type;
template <class List, class... Slow>
using with_slow = marked<slow, List, Slow...>;

/// Requests that run as one call. An engine that has these two for a request R coalesces it:
///   static std::uint64_t group_of(const R&);       // the same number for those that may share a call; 0: this never
///   result<void> run_group(const group<R>&, call&);  // fails before it has written anything, or not at all
template <class R>
class group {
 public:
  group(const void* const* payloads, const troupe_engine_call* calls, std::uint32_t size) noexcept
      : payloads_(payloads), calls_(calls), size_(size) {}
  std::size_t size() const noexcept { return size_; }
  R operator[](std::size_t i) const { return decode<R>(static_cast<const std::byte*>(payloads_[i])); }
  /// Gives request `i` its answer, where it has one.
  template <class Reply = typename R::reply>
    requires(!std::is_void_v<Reply>)
  void answer(std::size_t i, const std::type_identity_t<Reply>& reply) const noexcept {
    std::memcpy(calls_[i].reply, &reply, sizeof reply);
  }

 private:
  const void* const* payloads_;
  const troupe_engine_call* calls_;
  std::uint32_t size_;
};

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
  call here{*c};
  const bool fine = guarded(failure, "engine", [&]() -> result<void> {
    const R r = troupe::decode<R>(static_cast<const std::byte*>(payload));
    auto answer = static_cast<Engine*>(engine)->run(r, here);
    if (!answer) return answer.error();
    if constexpr (!std::is_same_v<decltype(answer), result<void>>) {
      static_assert(std::is_same_v<decltype(answer), result<typename R::reply>>,
                    "run must answer the request's reply, or void when the GPU writes it");
      std::memcpy(here.reply, &*answer, sizeof *answer);
    }
    return {};
  });
  failure->restart_library = here.library_is_broken;
  failure->whose = here.whose;
  return fine;
}

template <class Engine, class R>
std::uint64_t group_of_operation(const void* payload) {
  try {
    return Engine::group_of(troupe::decode<R>(static_cast<const std::byte*>(payload)));
  } catch (...) {
    return 0;  // alone, where an exception becomes the request's error
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
bool is_ready(void* engine, const void* payload) {
  try {
    return static_cast<Engine*>(engine)->ready(troupe::decode<R>(static_cast<const std::byte*>(payload)));
  } catch (...) {
    return false;  // on its lane, where an exception becomes the request's error
  }
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
struct operation_traits<follows<R>> : operation_traits<R, troupe_lane_behind> {};
template <class R>
struct operation_traits<fences<R>> : operation_traits<R, troupe_lane_fence> {};

template <class Engine, class R>
concept groups = requires(const R& r) {
  { Engine::group_of(r) } -> std::convertible_to<std::uint64_t>;
};

template <class Engine, class Entry>
constexpr troupe_engine_operation operation_of() noexcept {
  using R = typename operation_traits<Entry>::type;
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
                              0};
  if constexpr (groups<Engine, R>) {
    out.group = &group_of_operation<Engine, R>;
    out.run_group = &run_group<Engine, R>;
  }
  if constexpr (requires(Engine& e, const R& r) { bool(e.ready(r)); }) out.ready = &is_ready<Engine, R>;
  if constexpr (requires { Engine::recordable; }) out.recordable = Engine::recordable;
  return out;
}

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

template <class Engine, class... R>
struct operation_table {
  static constexpr troupe_engine_operation all[] = {operation_of<Engine, R>()...};
};
template <class Engine, class... R>
struct operation_table<Engine, request_list<R...>> : operation_table<Engine, R...> {};

}  // namespace detail

/// A part of an engine's list, for TROUPE_ENGINE_OF_PARTS: requests, or one `request_list`.
template <class Engine, class... R>
std::span<const troupe_engine_operation> operations_of() noexcept {
  return detail::operation_table<Engine, R...>::all;
}

}  // namespace troupe

/// Makes `Engine` the plug-in for (LIBRARY, BACKEND), serving the listed requests, or those of a `request_list`.
#define TROUPE_ENGINE(ENGINE, LIBRARY, BACKEND, ...) \
  TROUPE_ENGINE_OF_PARTS(ENGINE, LIBRARY, BACKEND, (::troupe::operations_of<ENGINE, __VA_ARGS__>()))
/// The same, with the requests listed elsewhere.
#define TROUPE_ENGINE_OF_PARTS(ENGINE, LIBRARY, BACKEND, ...)                                        \
  extern "C" __attribute__((visibility("default"))) const troupe_engine* troupe_engine_open(         \
      const troupe_engine_context* context, troupe_engine_failure* failure) {                        \
    return ::troupe::detail::open_engine<ENGINE>(LIBRARY, BACKEND, context, failure, {__VA_ARGS__}); \
  }
