// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/result.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/request/lane_policy.hpp>
#include <vector>

namespace troupe {

/// What a backend brings along whose memory and lanes are not the host's: a GPU. One plug-in per backend,
/// `platform.<backend>.so` beside the engines; a backend without one computes on the host. It is built together with
/// the worker, so it is no interface for users: theirs is worker/engine.hpp.
///
/// All but `enter` are called by threads that have entered. An error that says `context_lost` means that nothing works
/// any more: the worker is replaced.
class platform {
 public:
  virtual ~platform() = default;

  /// For engines: engine_context::native_context.
  virtual void* context() const noexcept = 0;
  /// Once per thread, before anything else.
  virtual result<void> enter() = 0;
  /// What the device is, as lines "key value".
  virtual std::string description() const = 0;

  /// Keeps addresses free for its memory.
  virtual result<void> reserve(std::uint64_t address, std::uint64_t bytes) = 0;
  /// New memory; it lives as long as somebody has its descriptor or has it mapped.
  virtual result<file_descriptor> make_memory(std::uint64_t bytes) = 0;
  /// Whether memory that came from elsewhere can be mapped, all of it.
  virtual result<void> try_to_map(std::uint64_t bytes, const file_descriptor& memory) = 0;
  virtual result<void> map(std::uint64_t address, std::uint64_t bytes, const file_descriptor& memory,
                           map_access access) = 0;
  virtual void unmap(std::uint64_t address) noexcept = 0;
  /// Of what one `map` has mapped, all.
  virtual result<void> protect(std::uint64_t address, std::uint64_t bytes, map_access access) = 0;
  /// Memory of the host, mapped in this process: the device reads, and writes if it may, at the same addresses.
  virtual result<void> pin(std::byte* at, std::uint64_t bytes, map_access access) = 0;
  virtual void unpin(std::byte* at) noexcept = 0;

  /// Memory that moves between the host and the device as it is used, where the driver likes; this worker's alone.
  virtual result<std::uint64_t> make_managed(std::uint64_t bytes) = 0;
  virtual void free_managed(std::uint64_t address) noexcept = 0;

  /// Bytes of the device's memory that nobody uses.
  virtual result<std::uint64_t> free_bytes() = 0;

  /// A queue of operations on the device; a CUstream. `counts` becomes its priority as the device counts.
  virtual result<void*> make_stream(priority urgency, std::int32_t& counts) = 0;
  /// Writes the value into pinned memory when everything before it in the stream is done.
  virtual result<void> write(void* stream, std::atomic<std::uint64_t>& where, std::uint64_t value) = 0;
  /// What comes later in the stream waits until the value there is at least this.
  virtual result<void> wait(void* stream, std::atomic<std::uint64_t>& where, std::uint64_t value) = 0;
  /// Whether anything in it has gone so wrong that nothing works any more.
  virtual result<void> check(void* stream) = 0;
};

struct platform_options {
  int device = 0;
  /// The process is not the worker's own, and what it does on the device itself shall see the worker's memory, and the
  /// other way round.
  bool shared = false;
  /// Where to leave what the device was doing when something on it goes wrong; empty: nowhere.
  std::string core_file = {};
};

/// A platform from its plug-in; null when none of the folders has one for this backend.
result<std::unique_ptr<platform>> load_platform(const std::string& backend, const std::vector<std::string>& folders,
                                                const platform_options& o);

}  // namespace troupe

extern "C" {
/// What a plug-in exports. Its name changes with the class above.
using troupe_platform_open_fn = void (*)(const troupe::platform_options& o,
                                         troupe::result<std::unique_ptr<troupe::platform>>* out);
}
#define TROUPE_PLATFORM(MAKE)                                                                            \
  extern "C" __attribute__((visibility("default"))) void troupe_platform_open_4(                         \
      const ::troupe::platform_options& o, ::troupe::result<std::unique_ptr<::troupe::platform>>* out) { \
    *out = MAKE(o);                                                                                      \
  }
