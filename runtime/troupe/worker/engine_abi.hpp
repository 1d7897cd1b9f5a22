// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <troupe/request/request.hpp>

/// What crosses the border between a worker and the shared object of an engine: plain structs and functions of C, with
/// a version. Engines are written against <troupe/worker/engine.hpp>, which makes these.
extern "C" {

inline constexpr std::uint32_t troupe_engine_abi = 6;

/// Which lane an operation wants: its library's, a helper thread's (slow work), one of the two for copies, or
/// another's.
enum troupe_lane : std::uint32_t {
  troupe_lane_library,
  troupe_lane_helper,
  troupe_lane_upload,
  troupe_lane_download,
  troupe_lane_fence,   ///< waits for everything before it, on a helper's lane
  troupe_lane_behind,  ///< the one of what it waits for, where that is one lane only; else its library's, or an idle
                       ///< one
};

struct troupe_engine_operation;
struct troupe_engine_failure;

/// An operation of some engine in this worker.
struct troupe_found_operation {
  const troupe_engine_operation* operation;
  void* engine;
  std::uint32_t library;  ///< its number
};

/// The engines of a worker, for one that runs the requests of others. From any thread.
struct troupe_engine_neighbours {
  void* set;
  /// Loads the library if need be. False: `failure` says why.
  bool (*find)(void* set, std::uint32_t library_code, std::uint64_t opcode, troupe_found_operation* out,
               troupe_engine_failure* failure);
  /// Another number whenever an engine was closed and opened anew: what was found before is not there any more. Happens
  /// only while no operation runs.
  std::uint64_t (*openings)(void* set);
};

/// What an engine is given when it is opened.
struct troupe_engine_context {
  std::uint32_t abi;
  std::int32_t device;                         ///< ordinal of the device within its backend
  void* native_context;                        ///< CUcontext on CUDA, null on the host
  std::uint32_t lanes;                         ///< lane numbers are below this
  const troupe_engine_neighbours* neighbours;  ///< null outside a worker
};

/// The stream records what is enqueued, to run it later, as often as one likes: so an operation must not leave anything
/// to memory of its lane, nor of its own stack. Memory that lives as long as the recording:
struct troupe_engine_recording {
  void* state;
  /// Device memory for this operation alone while it runs. Asked for before anything that uses it is enqueued:
  /// what is recorded from then on runs after the others that asked for some. Null: `failure` says why.
  void* (*scratch)(void* state, std::uint64_t bytes, troupe_engine_failure* failure);
  /// Host memory that the GPU reads, and that keeps what is written to it now. Null: `failure` says why.
  void* (*constants)(void* state, std::uint64_t bytes, troupe_engine_failure* failure);
};

/// One operation that an engine is to run.
struct troupe_engine_call {
  void* stream;  ///< CUstream on CUDA, null on the host
  std::uint32_t lane;
  std::uint32_t reserved;
  std::uint64_t ticket;
  void* reply;                 ///< where the answer goes: 64 bytes the application reads (mapped on the GPU too)
  void (*news)(void* worker);  ///< wakes the application to look at memory it shares with this operation
  void* worker;
  const troupe_engine_recording* recording;  ///< null: what is enqueued runs once, and now
};

/// Why an operation failed; filled in by the engine.
struct troupe_engine_failure {
  std::uint8_t reaction;
  std::uint8_t restart_library;  ///< not 0: the engine is to be closed and opened anew; see call::restart_library
  std::uint32_t whose;           ///< which engine that is: the number of its library + 1; 0: the one that was called
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
  /// Coalescing. Requests for which this is the same number, not 0, may run as one call when they wait side by side and
  /// none needs another's result. Null: never.
  std::uint64_t (*group)(const void* payload);
  /// Runs `count` of them, to the same bits as `run` one after another. It fails before it has written anything, or not
  /// at all: after a failure each runs by itself.
  bool (*run_group)(void* engine, const void* const* payloads, const troupe_engine_call* calls, std::uint32_t count,
                    troupe_engine_failure* failure);
  /// Asked before a request runs on the thread that serves all lanes: it may, and holds nobody up for long. When not,
  /// it is left to its lane's own thread. Null: it may.
  bool (*ready)(void* engine, const void* payload);
  /// Not 0: it heeds `troupe_engine_call::recording`.
  std::uint32_t recordable;
};

/// What an engine's plug-in returns to the worker.
struct troupe_engine {
  std::uint32_t abi;
  const char* library;
  const char* backend;
  const char* version;  ///< of the vendor library, as it names itself
  const troupe_engine_operation* operations;
  std::uint32_t operation_count;
  void* state;
  void (*close)(const troupe_engine* self);
  /// What a user should know of this engine on this machine, for `troupe doctor`: lines of the form "key: value".
  /// Called by one thread at a time; valid until the next call. Null: nothing.
  const char* (*notes)(const troupe_engine* self);
};

typedef const troupe_engine* (*troupe_engine_open_fn)(const troupe_engine_context* context,
                                                      troupe_engine_failure* failure);
}
