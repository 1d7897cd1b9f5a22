// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/list.hpp>
#include <troupe/base/text.hpp>
#include <troupe/base/time_span.hpp>
#include <troupe/channel/wait_policy.hpp>
#include <troupe/memory/salvage.hpp>
#include <troupe/request/lane_policy.hpp>

namespace troupe {

/// Where the worker of a device runs.
enum class isolation : std::uint8_t {
  process,  ///< the worker is a process of its own: whatever happens to it, the application goes on
  thread,   ///< the worker is a thread of the application: for debugging, or to share a context; a crash takes the
            ///< application along
};

/// What happens to a request when `mailbox_capacity` requests are unanswered.
enum class when_full : std::uint8_t {
  refuse,  ///< retry_later
  wait,    ///< the calling thread waits until there is room, and helps to make it; see also device::room
};

inline constexpr time_span default_start = time_span::of_seconds(30), default_close = time_span::of_seconds(5),
                           default_heartbeat = time_span::of_seconds(5);

/// How to open a device. Every field has a sensible default.
struct device_options {
  text engine = "host";       ///< which backend: the part of an engine's file name before .so
  std::uint32_t ordinal = 0;  ///< which of the backend's devices: the first GPU is 0. the host has only device 0
  text name = {};             ///< in texts and traces; default "host:0", "host:1" …; "cuda:0" is the first GPU
  enum isolation isolation = isolation::process;
  /// Requests accepted and not yet answered; 1 to 65536, rounded up to a power of two.
  std::uint32_t mailbox_capacity = 1024;
  enum when_full when_full = when_full::wait;
  /// Library actors that must be there: the device stops at the start, naming the one that is missing. Others load on
  /// first use.
  list<std::string> libraries = {};
  std::uint64_t memory_limit = 0;  ///< bytes of device memory; 0: all of a GPU's, half of the machine's on the host
  /// Bytes of host_buffer, staging and sent memory; 0: a quarter of the machine's.
  std::uint64_t host_memory_limit = 0;
  enum lane_policy lanes = lane_policy::per_actor;
  std::uint32_t lane_pool = 4;  ///< for lane_policy::pooled; 1 to 8
  std::uint32_t helpers = 2;    ///< threads for slow work such as compiling; 1 to 4
  wait_policy wait = wait_policy::balanced;
  /// Whether copies between this device and others may read the one's memory from the other directly. False: they go
  /// through host memory, as they do where the hardware allows nothing else.
  bool peer_access = true;
  std::uint64_t inline_bytes = 64 << 10;  ///< host engine: work on at most this many bytes needs no other thread
  bool coalesce = true;  ///< small equal requests that wait together may be done by one call; results are the same bits
  std::uint32_t standbys = 1;  ///< workers that wait to take over when the one that serves fails; 0 to 8
  std::uint32_t restarts = 3;  ///< so many within `restart_window`; after one more the device stops, until `reset()`
  time_span restart_window = time_span::of_seconds(60);
  /// Once so many workers have died of requests of one kind within `restart_window`, those of them that did so are
  /// refused with the data that they had: see docs/when-things-fail.md. 0: nothing is refused.
  std::uint32_t quarantine_after = 2;
  enum salvage salvage = salvage::strict;   ///< what happens to buffers when a worker fails
  time_span start_timeout = default_start;  ///< from launching the worker until it is ready
  time_span close_timeout = default_close;  ///< for the worker to end when asked to
  /// A request that runs for longer brings its worker down: see call_options::run_timeout, which can be shorter.
  time_span run_timeout = time_span::for_ever();
  /// A worker with requests to answer that gives no sign of life for so long is replaced. Not what runs too long in it:
  /// see run_timeout. A debugger that stops the worker stops its signs of life.
  time_span heartbeat_timeout = default_heartbeat;
  std::uint64_t worker_memory_limit = 0;  ///< bytes a worker may have of its own, buffers not counted; 0: no limit
  list<int> worker_cores = {};            ///< a worker may run on these; empty: on all that the application may
  bool core_dumps = false;                ///< a worker that dies may leave a core file, as the system is set up
  /// Where a worker on a GPU leaves what the GPU was doing when a kernel went wrong, DEVICE-worker-PID.gpucore, for
  /// cuda-gdb; empty: nowhere. Of the device's memory there is nothing in it. See fault_record::gpu_core.
  text gpu_core_folder = {};
  /// Where a text file is left for each fault, DEVICE-generation-N.txt; empty: nowhere. See also device::last_fault.
  text black_box_folder = {};
  text runtime_folder = {};  ///< where troupe-worker and engines/ are; default: of this installation, or TROUPE_RUNTIME
  list<std::string> engine_folders = {};  ///< searched before the installation's own
};

/// How to send one request.
struct call_options {
  /// A request that has not started by then is answered `retry_later` and never runs. The time counts from the call, so
  /// waiting for room in the mailbox is part of it; 0 or less: it is refused. Once started, a request is not stopped by
  /// this, but it is not run again after a fault when the time has passed: see `retries`.
  time_span timeout = time_span::for_ever();
  /// A request that has started and still runs after this much time is answered `context_lost`: its worker is replaced,
  /// as after any other fault. The device looks a few times within that time, so it is some per cent late.
  time_span run_timeout = time_span::for_ever();
  /// When the worker dies while the request runs, the next one runs it again, so many times at most, if what it reads
  /// has survived: not what it both reads and writes. Otherwise it is answered `context_lost`.
  std::uint8_t retries = 0;
  /// Whether it may share one call of the library with its neighbours in the mailbox; see device_options::coalesce.
  bool coalesce = true;
  /// Its lane. On a GPU that is a stream of such a priority. On the host what is low begins while nothing else
  /// computes, or after 100 ms. See docs/performance.md.
  enum priority priority = priority::normal;
  /// False: when the mailbox is full, it is refused at once, whatever device_options::when_full says.
  bool waits_for_room = true;
};

}  // namespace troupe
