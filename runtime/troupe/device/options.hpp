// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <troupe/base/containers/list.hpp>
#include <troupe/base/containers/text.hpp>
#include <troupe/base/time_span.hpp>
#include <troupe/channel/confinement.hpp>
#include <troupe/channel/wait_policy.hpp>
#include <troupe/memory/salvage.hpp>
#include <troupe/request/lane_policy.hpp>

namespace troupe {

/// Where the worker of a device runs.
enum class isolation : std::uint8_t {
  process,  ///< in a process of its own: whatever happens to the worker, the application continues
  thread,   ///< in a thread of the application, for debugging or to share a context: a crash ends the application too
};

/// What happens to a request that is sent while `mailbox_capacity` requests are unanswered.
enum class when_full : std::uint8_t {
  refuse,  ///< it fails with retry_later
  wait,    ///< the calling thread waits for room, and drives the device meanwhile; see also device::room
};

inline constexpr time_span default_start = time_span::of_seconds(30), default_close = time_span::of_seconds(5),
                           default_heartbeat = time_span::of_seconds(5);

/// Options for opening a device. Every field has a sensible default.
struct device_options {
  /// The backend: the part of an engine's file name before .so, such as "host" or "cuda". "auto" selects the one in the
  /// environment variable TROUPE_ENGINE or, without it, "cuda" if there is a GPU with this ordinal that serves
  /// programs, and otherwise "host". device_statistics reports the backend, and why it was selected.
  text engine = "auto";
  std::uint32_t ordinal = 0;  ///< number of the backend's device; the first GPU is 0, and the host has only device 0
  text name = {};             ///< for messages and traces; default "host:0", "host:1" …; "cuda:0" is the first GPU
  enum isolation isolation = isolation::process;
  /// Maximum number of accepted requests without an answer: 1 to 65536, rounded up to a power of two.
  std::uint32_t mailbox_capacity = 1024;
  enum when_full when_full = when_full::wait;
  /// Library actors that must be there: if one is missing, the device stops at the start with an error that names it.
  /// Other library actors are loaded at their first use.
  list<std::string> libraries = {};
  /// Bytes of device memory. 0: all memory of a GPU; on the host, half of the machine's memory, but at most an eighth
  /// of the address space if that is limited (`ulimit -v`).
  std::uint64_t memory_limit = 0;
  /// Bytes of host_buffer, staging and sent memory. 0: a quarter of the machine's memory, but at most a sixteenth of
  /// the address space if that is limited.
  std::uint64_t host_memory_limit = 0;
  enum lane_policy lanes = lane_policy::per_actor;
  std::uint32_t lane_pool = 4;  ///< number of lanes for lane_policy::pooled; 1 to 8
  std::uint32_t helpers = 2;    ///< number of threads for slow work such as compiling; 1 to 4
  wait_policy wait = wait_policy::balanced;
  /// True if copies between this device and another may read the source's memory directly. Otherwise, or if the
  /// hardware does not allow that, they go through host memory.
  bool peer_access = true;
  std::uint64_t inline_bytes = 64 << 10;  ///< host engine: work on at most this many bytes needs no other thread
  bool coalesce = true;  ///< true if small, similar requests that wait may share a call; results stay bit-identical
  /// True if libraries may compile kernels at run time. If false, only kernels that are part of an engine or were
  /// compiled before are available: see docs/jit.md. A request that needs another kernel is refused with its name.
  bool compile = true;
  std::uint32_t standbys = 1;  ///< workers that wait to take over when the serving one fails; 0 to 8
  std::uint32_t restarts = 3;  ///< maximum number within `restart_window`; one more stops the device until `reset()`
  time_span restart_window = time_span::of_seconds(60);
  /// Number of workers that requests of one kind must kill within `restart_window` before requests of that kind are
  /// refused with the data that killed: see docs/when-things-fail.md. 0: none is refused.
  std::uint32_t quarantine_after = 2;
  enum salvage salvage = salvage::strict;   ///< decides which buffers stay valid when a worker fails
  time_span start_timeout = default_start;  ///< from launching a worker until it is ready
  time_span close_timeout = default_close;  ///< for a worker to end after it was asked to
  /// The worker is replaced if a request runs for longer. See call_options::run_timeout, which can be shorter.
  time_span run_timeout = time_span::for_ever();
  /// A worker with unanswered requests is replaced if it gives no sign of life for this long. This does not limit the
  /// time for which requests run: see run_timeout. A worker that a debugger has stopped gives no sign of life.
  time_span heartbeat_timeout = default_heartbeat;
  std::uint64_t worker_memory_limit = 0;  ///< bytes of the worker's private memory, without buffers; 0: no limit
  list<int> worker_cores = {};            ///< cores that a worker may run on; empty: all that the application may use
  bool core_dumps = false;                ///< true if a worker that dies may leave a core file, if the system allows it
  /// What a worker's process may do on the system. On a GPU, `standard` omits all restrictions that could affect the
  /// driver, and `strict` is not supported: see docs/security.md. A worker in a thread is not confined.
  enum confinement confinement = confinement::standard;
  /// Folders that a confined worker may read in addition to the system's, such as those of recipe::include_paths.
  list<std::string> readable_folders = {};
  /// The folder for files with the GPU's state after a kernel's fault, DEVICE-worker-PID.gpucore, for cuda-gdb. Empty:
  /// none are written. The files contain no device memory. See fault_record::gpu_core.
  text gpu_core_folder = {};
  /// The folder for a text file about each fault, DEVICE-TIME-PID-generation-N.txt with the application's process ID.
  /// Empty: none are written. The newest 64 of each device are kept. See also device::last_fault.
  text black_box_folder = {};
  text runtime_folder = {};  ///< contains troupe-worker and engines/; default: TROUPE_RUNTIME, or the installation's
  list<std::string> engine_folders = {};  ///< searched before the installation's own
};

/// Options of one request.
struct call_options {
  /// A request that has not started within this time fails with `retry_later` and never runs. The time counts from the
  /// call and includes waiting for room in the mailbox; with 0 or less the request is refused. A request that has
  /// started continues after this time, but is not run again after a fault: see `retries`.
  time_span timeout = time_span::for_ever();
  /// A request that still runs this long after it has started fails with `context_lost`, and its worker is replaced, as
  /// after any other fault. The device checks a few times within the limit, so this happens a few percent late.
  time_span run_timeout = time_span::for_ever();
  /// The number of times that the request may run again if the worker dies while running it. It runs again only if the
  /// data that it reads has survived, which excludes data that it both reads and writes; otherwise it fails with
  /// `context_lost`.
  std::uint8_t retries = 0;
  /// True if the request may share a library call with its neighbors in the mailbox: see device_options::coalesce.
  bool coalesce = true;
  /// Selects the lane of the request. On a GPU, a lane is a stream of this priority. On the host, low-priority work
  /// begins while nothing else computes, or after 100 ms. See docs/performance.md.
  enum priority priority = priority::normal;
  /// True if the request may wait while the mailbox is full. Otherwise it is refused at once, regardless of
  /// device_options::when_full.
  bool waits_for_room = true;
  /// A name for the request in errors and in the black box, such as "layer 7". It is copied before the call returns.
  std::string_view label = {};
};

}  // namespace troupe
