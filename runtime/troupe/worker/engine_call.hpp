// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/request/request.hpp>
#include <troupe/worker/engine_abi.hpp>
#include <type_traits>

namespace troupe {

using engine_context = troupe_engine_context;

/// Writes a line to the application's log, as a warning. For problems that make no request fail but that a person
/// should know, such as a damaged file that was ignored. Report each once: only a worker's first hundred lines are
/// logged.
inline void remark(const engine_context& to, const std::string& text) {
  if (to.remark != nullptr) to.remark(to.remarks, text.c_str());
}

/// An operation while it runs.
struct call : troupe_engine_call {
  /// Reopens the engine when the operations queued before have run. For a request that fails because the vendor
  /// library's handle is broken while everything else works. Other libraries continue.
  void restart_library() noexcept { library_is_broken = true; }
  /// Reopens the engine of the library with this number, one of whose operations this one has run.
  void restart_library(std::uint32_t library) noexcept {
    library_is_broken = true;
    whose = library + 1;
  }
  bool library_is_broken = false;
  std::uint32_t whose = 0;
  /// Return memory for a recorded operation. Precondition: `recording` is not null.
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

/// Requests that run as one call. An engine coalesces the requests R for which it has these two functions:
///   static std::uint64_t group_of(const R&);  // the same number for requests that may share a call; 0: never
///   result<void> run_group(const group<R>&, call&);  // must not fail once it has written anything
/// If it has these two instead, requests R run as one call in their order, and each may need the results of earlier
/// ones:
///   static std::uint64_t sequence_of(const R&);
///   bool run_sequence(const group<R>&, call&);  // false: nothing was done, and each must run alone
template <class R>
class group {
 public:
  group(const void* const* payloads, const troupe_engine_call* calls, std::uint32_t size) noexcept
      : payloads_(payloads), calls_(calls), size_(size) {}
  std::size_t size() const noexcept { return size_; }
  R operator[](std::size_t i) const { return decode<R>(static_cast<const std::byte*>(payloads_[i])); }
  /// Sets the reply of request `i`. Only for requests with a reply.
  template <class Reply = reply_to<R>>
    requires(!std::is_void_v<Reply>)
  void answer(std::size_t i, const std::type_identity_t<Reply>& reply) const noexcept {
    std::memcpy(calls_[i].reply, &reply, sizeof reply);
  }

 private:
  const void* const* payloads_;
  const troupe_engine_call* calls_;
  std::uint32_t size_;
};

}  // namespace troupe
