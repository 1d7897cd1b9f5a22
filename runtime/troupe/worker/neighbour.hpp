// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <troupe/base/try.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

/// Requests of other libraries, for an engine that lets their engines, in the same worker, do a part of its work.
namespace troupe {
namespace detail {

inline error error_of(troupe_engine_failure& f) {
  f.domain[sizeof f.domain - 1] = f.text[sizeof f.text - 1] = '\0';
  const auto how = static_cast<reaction>(std::min(f.reaction, static_cast<std::uint8_t>(reaction::fatal)));
  return error(error::details{.reaction = how, .domain = f.domain, .code = f.code, .text = f.text});
}
inline troupe_engine_failure no_failure() noexcept {
  troupe_engine_failure f{};
  f.reaction = static_cast<std::uint8_t>(reaction::fatal);
  return f;
}

}  // namespace detail

/// Finds an operation of an engine in this worker; loads its library if necessary. Must not be called while the calling
/// engine is opened. What it returns is valid until an engine is reopened, so look it up for each request: that takes
/// some nanoseconds.
inline result<troupe_found_operation> find_operation(const troupe_engine_neighbours& among, std::uint32_t library,
                                                     std::uint64_t opcode) {
  troupe_found_operation out{};
  troupe_engine_failure f = detail::no_failure();
  if (among.find(among.set, library, opcode, &out, &f)) [[likely]]
    return out;
  return detail::error_of(f);
}

/// Runs an operation of another engine as a part of the call `c`: in its stream and on its lane. Its reply is written
/// to `reply`, which has `max_reply_bytes`.
inline result<void> run_operation(const troupe_found_operation& what, const void* payload, void* reply,
                                  const troupe_engine_recording* recording, call& c) {
  troupe_engine_call inner = c;
  inner.reply = reply;
  inner.recording = recording;
  troupe_engine_failure f = detail::no_failure();
  if (what.operation->run(what.engine, payload, &inner, &f)) [[likely]]
    return {};
  if (f.restart_library != 0) c.restart_library(f.whose != 0 ? f.whose - 1 : what.library);
  return detail::error_of(f);
}

/// Runs a request of another library as a part of the call `c`; see run_operation().
template <request R>
result<reply_to<R>> run_request(const troupe_engine_neighbours& among, const R& r, call& c) {
  const troupe_found_operation what = TROUPE_TRY(find_operation(among, library_code(library_of<R>()), opcode_of<R>));
  struct alignas(blob_cursor::align) part {
    std::byte bytes[blob_cursor::align];
  };
  alignas(16) std::byte payload[payload_bytes<R>];
  alignas(64) std::byte reply[max_reply_bytes]{};
  thread_local std::vector<part> blob;  // reused, so that requests do not allocate
  blob.resize(blob_bytes(r) / sizeof(part));
  encode(r, payload, {reinterpret_cast<std::byte*>(blob.data()), reinterpret_cast<std::uintptr_t>(blob.data())});
  TROUPE_TRY(run_operation(what, payload, reply, c.recording, c));
  if constexpr (std::is_void_v<reply_to<R>>) {
    return {};
  } else {
    reply_to<R> out;
    std::memcpy(&out, reply, sizeof out);
    return out;
  }
}

}  // namespace troupe
