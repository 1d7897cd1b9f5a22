// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <troupe/request/request.hpp>

/// The interface between a worker and the shared object of an engine: plain structs and C functions, with a version.
/// Engines are written against <troupe/worker/engine.hpp>, which fills these in.
extern "C" {

inline constexpr std::uint32_t troupe_engine_abi = 11;

/// The lane that an operation requires: that of its library, that of a helper thread, or one of the others below.
enum troupe_lane : std::uint32_t {
  troupe_lane_library,
  troupe_lane_helper,
  troupe_lane_upload,
  troupe_lane_download,
  troupe_lane_fence,  ///< that of a helper thread, when everything before the operation has run
  /// The lane of the operations that it waits for, if they are on one lane; otherwise that of its library, or an idle
  /// one.
  troupe_lane_behind,
  /// The lane of its library. On a GPU also that of the operation that it waits for, if nothing follows that one: a
  /// stream's wait for another stream takes the GPU longer than a small kernel.
  troupe_lane_anywhere,
};

struct troupe_engine_operation;
struct troupe_engine_failure;

/// An operation of one of the engines in this worker.
struct troupe_found_operation {
  const troupe_engine_operation* operation;
  void* engine;
  std::uint32_t library;  ///< number of its library
};

/// The engines of a worker, for an engine that runs requests of other libraries. Thread-safe.
struct troupe_engine_neighbours {
  void* set;
  /// Finds an operation; loads its library if necessary. On failure returns false and sets `failure`.
  bool (*find)(void* set, std::uint32_t library_code, std::uint64_t opcode, troupe_found_operation* out,
               troupe_engine_failure* failure);
  /// Returns a number that changes when an engine is reopened, which invalidates operations found before. Engines are
  /// reopened only while no operation runs.
  std::uint64_t (*openings)(void* set);
};

/// The arguments with which an engine is opened.
struct troupe_engine_context {
  std::uint32_t abi;
  std::int32_t device;                         ///< number of the device within its backend
  void* native_context;                        ///< CUcontext on CUDA, null on the host
  std::uint32_t lanes;                         ///< number of lanes
  std::uint32_t forbids_compiling;             ///< not 0: kernels must not be compiled at run time
  const troupe_engine_neighbours* neighbours;  ///< null outside a worker
  void* remarks;                               ///< the first argument for `remark`
  /// Writes a line to the application's log: see troupe::remark. Null outside a worker. Thread-safe.
  void (*remark)(void* remarks, const char* text);
};

/// Memory that lives as long as a recording. Operations that are enqueued while a stream records are run later, any
/// number of times, so they must not use memory of their lane or of the caller's stack.
struct troupe_engine_recording {
  void* state;
  /// Returns device memory for this operation alone while it runs. Call it before you enqueue anything that uses the
  /// memory: what is recorded from then on runs after other operations with such memory. On failure returns null and
  /// sets `failure`.
  void* (*scratch)(void* state, std::uint64_t bytes, troupe_engine_failure* failure);
  /// Returns host memory that the GPU reads, and that keeps what is written to it now. On failure returns null and sets
  /// `failure`.
  void* (*constants)(void* state, std::uint64_t bytes, troupe_engine_failure* failure);
};

/// One operation that an engine must run.
struct troupe_engine_call {
  void* stream;  ///< CUstream on CUDA, null on the host
  std::uint32_t lane;
  std::uint32_t reserved;
  std::uint64_t ticket;
  void* reply;                 ///< 64 bytes for the reply, which the application reads; mapped on the GPU too
  void (*news)(void* worker);  ///< wakes the application, which reads memory shared with this operation
  void* worker;
  const troupe_engine_recording* recording;  ///< null: nothing is recorded; what is enqueued runs once
};

/// The error of an operation that failed; filled in by the engine.
struct troupe_engine_failure {
  std::uint8_t reaction;
  std::uint8_t restart_library;  ///< not 0: an engine must be reopened: see call::restart_library
  std::uint32_t whose;           ///< the number of that engine's library + 1; 0: the called engine
  std::int64_t code;
  char domain[32];
  char text[1024];
};

/// A kind of request, and the functions that serve it.
struct troupe_engine_operation {
  std::uint64_t opcode;
  const char* name;
  std::uint32_t payload_bytes;
  std::uint32_t lane;  ///< a value of troupe_lane
  bool (*run)(void* engine, const void* payload, const troupe_engine_call* call, troupe_engine_failure* failure);
  /// Returns a number for coalescing, or 0. Requests with the same number may run as one call if they wait next to each
  /// other and none needs another's result. If `in_order` is set, all requests with a number other than 0 may: the
  /// number identifies what the request repeats, and a sequence of the same numbers is cut into the same calls. Null:
  /// never.
  std::uint64_t (*group)(const void* payload);
  /// Runs `count` requests, with bitwise the same results as calls of `run` one after another. Must not fail after it
  /// has written anything: after a failure each request runs alone.
  bool (*run_group)(void* engine, const void* const* payloads, const troupe_engine_call* calls, std::uint32_t count,
                    troupe_engine_failure* failure);
  /// Returns true if a request may run on the pump, which serves all lanes, because it does not block for long.
  /// Otherwise the thread of its lane runs it. Null: always true.
  bool (*ready)(void* engine, const void* payload);
  /// Not 0: the operation supports `troupe_engine_call::recording`.
  std::uint32_t recordable;
  /// Not 0: requests that share a call run one after the other, so each may need the results of earlier ones, and the
  /// call takes as long as all of them.
  std::uint32_t in_order;
};

/// What an engine's plug-in returns to the worker.
struct troupe_engine {
  std::uint32_t abi;
  const char* library;
  const char* backend;
  const char* version;  ///< version of the vendor library, in its own words
  const troupe_engine_operation* operations;
  std::uint32_t operation_count;
  void* state;
  void (*close)(const troupe_engine* self);
  /// Returns what a user should know about this engine on this machine, for `troupe doctor`: lines "key: value". Called
  /// by one thread at a time; the text is valid until the next call. Null: nothing.
  const char* (*notes)(const troupe_engine* self);
};

typedef const troupe_engine* (*troupe_engine_open_fn)(const troupe_engine_context* context,
                                                      troupe_engine_failure* failure);
}
