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

/// The lane that an operation requires: its library's, a helper thread's for slow work, or one of the others below.
enum troupe_lane : std::uint32_t {
  troupe_lane_library,
  troupe_lane_helper,
  troupe_lane_upload,
  troupe_lane_download,
  troupe_lane_fence,  ///< a helper's lane, after everything before it
  /// The lane of the operations that it waits for, if that is a single one; otherwise its library's, or an idle one.
  troupe_lane_behind,
  /// Its library's. On a GPU also that of the operation that it waits for, if nothing follows that one, because a
  /// stream's wait for another stream takes the GPU longer than a small kernel.
  troupe_lane_anywhere,
};

struct troupe_engine_operation;
struct troupe_engine_failure;

/// An operation of some engine in this worker.
struct troupe_found_operation {
  const troupe_engine_operation* operation;
  void* engine;
  std::uint32_t library;  ///< its number
};

/// The engines of a worker, for an engine that runs requests of others. Thread-safe.
struct troupe_engine_neighbours {
  void* set;
  /// Finds an operation, and loads its library if necessary. Returns false and sets `failure` if that fails.
  bool (*find)(void* set, std::uint32_t library_code, std::uint64_t opcode, troupe_found_operation* out,
               troupe_engine_failure* failure);
  /// Returns a number that changes when an engine is reopened, which invalidates operations found before. That happens
  /// only while no operation runs.
  std::uint64_t (*openings)(void* set);
};

/// The arguments with which an engine is opened.
struct troupe_engine_context {
  std::uint32_t abi;
  std::int32_t device;                         ///< ordinal of the device within its backend
  void* native_context;                        ///< CUcontext on CUDA, null on the host
  std::uint32_t lanes;                         ///< lane numbers are below this
  std::uint32_t forbids_compiling;             ///< whether kernels may not be compiled at run time
  const troupe_engine_neighbours* neighbours;  ///< null outside a worker
  void* remarks;                               ///< what `remark` is called with
  /// Writes a line to the application's log: see troupe::remark. Null outside a worker. Thread-safe.
  void (*remark)(void* remarks, const char* text);
};

/// Memory that lives as long as a recording. The stream records what is enqueued, to run it later any number of times,
/// so an operation must not use memory of its lane or of its own stack for that.
struct troupe_engine_recording {
  void* state;
  /// Returns device memory for this operation alone while it runs. Must be called before anything that uses it is
  /// enqueued: what is recorded from then on runs after other operations with such memory. Returns null and sets
  /// `failure` if that fails.
  void* (*scratch)(void* state, std::uint64_t bytes, troupe_engine_failure* failure);
  /// Returns host memory that the GPU reads and that keeps what is written to it now. Returns null and sets `failure`
  /// if that fails.
  void* (*constants)(void* state, std::uint64_t bytes, troupe_engine_failure* failure);
};

/// One operation that an engine must run.
struct troupe_engine_call {
  void* stream;  ///< CUstream on CUDA, null on the host
  std::uint32_t lane;
  std::uint32_t reserved;
  std::uint64_t ticket;
  void* reply;                 ///< 64 bytes for the answer, which the application reads; mapped on the GPU too
  void (*news)(void* worker);  ///< wakes the application, which then reads memory that it shares with this operation
  void* worker;
  const troupe_engine_recording* recording;  ///< null: what is enqueued runs once, at once
};

/// Why an operation failed; filled in by the engine.
struct troupe_engine_failure {
  std::uint8_t reaction;
  std::uint8_t restart_library;  ///< not 0: an engine must be reopened; see call::restart_library
  std::uint32_t whose;           ///< which one: the number of its library + 1; 0: the engine that was called
  std::int64_t code;
  char domain[32];
  char text[1024];
};

/// One kind of request, and the functions that serve it.
struct troupe_engine_operation {
  std::uint64_t opcode;
  const char* name;
  std::uint32_t payload_bytes;
  std::uint32_t lane;  ///< troupe_lane
  bool (*run)(void* engine, const void* payload, const troupe_engine_call* call, troupe_engine_failure* failure);
  /// Returns a number for coalescing. Requests with the same number, not 0, may run as one call if they wait side by
  /// side and none needs another's result. If they run `in_order`, all may whose number is not 0: it says what comes
  /// again when the request does, and a sequence of the same numbers is cut into the same calls. Null: never.
  std::uint64_t (*group)(const void* payload);
  /// Runs `count` of them, with bitwise the same results as `run` one after another. Must not fail once it has written
  /// anything: after a failure each request runs alone.
  bool (*run_group)(void* engine, const void* const* payloads, const troupe_engine_call* calls, std::uint32_t count,
                    troupe_engine_failure* failure);
  /// Returns true if a request may run on the pump, which serves all lanes, because it does not block for long. If not,
  /// its lane's own thread runs it. Null: always true.
  bool (*ready)(void* engine, const void* payload);
  /// Not 0: the operation supports `troupe_engine_call::recording`.
  std::uint32_t recordable;
  /// Not 0: those that share a call run one after the other, so each may need the results of those before it, and the
  /// call takes as long as all of them.
  std::uint32_t in_order;
};

/// The result that an engine's plug-in returns to the worker.
struct troupe_engine {
  std::uint32_t abi;
  const char* library;
  const char* backend;
  const char* version;  ///< of the vendor library, in its own words
  const troupe_engine_operation* operations;
  std::uint32_t operation_count;
  void* state;
  void (*close)(const troupe_engine* self);
  /// Returns what a user should know about this engine on this machine, for `troupe doctor`: lines of the form
  /// "key: value". Called by one thread at a time; the text is valid until the next call. Null: nothing.
  const char* (*notes)(const troupe_engine* self);
};

typedef const troupe_engine* (*troupe_engine_open_fn)(const troupe_engine_context* context,
                                                      troupe_engine_failure* failure);
}
