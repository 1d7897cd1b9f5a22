// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/request/lane_policy.hpp>
#include <troupe/worker/plugins/plug_in_files.hpp>
#include <vector>

namespace troupe {

/// The memory and lanes of a backend that computes on a GPU. One plug-in for each backend, `platform.<backend>.so`
/// beside the engines; a backend without one computes on the host. It is built together with the worker and is not an
/// interface for users, unlike worker/engine.hpp.
///
/// A thread must call `enter` before any other function. After an error with the reaction `context_lost`, nothing works
/// any more, and the worker is replaced.
class platform {
 public:
  virtual ~platform() = default;

  /// Returns the value of engine_context::native_context.
  virtual void* context() const noexcept = 0;
  /// Must be called once by each thread, before any other function.
  virtual result<void> enter() = 0;
  /// Returns the text of a protocol::gpu_description.
  virtual std::string description() const = 0;

  /// Reserves addresses for the device's memory.
  virtual result<void> reserve(std::uint64_t address, std::uint64_t bytes) = 0;
  /// Makes new memory, which exists as long as a process has its descriptor open or has it mapped.
  virtual result<file_descriptor> make_memory(std::uint64_t bytes) = 0;
  /// Fails if memory of another process cannot be mapped as a whole.
  virtual result<void> try_to_map(std::uint64_t bytes, const file_descriptor& memory) = 0;
  virtual result<void> map(std::uint64_t address, std::uint64_t bytes, const file_descriptor& memory,
                           map_access access) = 0;
  virtual void unmap(std::uint64_t address) noexcept = 0;
  /// Changes the access to a range. Precondition: the range is exactly one that `map` has mapped.
  virtual result<void> protect(std::uint64_t address, std::uint64_t bytes, map_access access) = 0;
  /// Lets the device read host memory that is mapped in this process, at the same addresses, and write it if `access`
  /// allows.
  virtual result<void> pin(std::byte* at, std::uint64_t bytes, map_access access) = 0;
  virtual void unpin(std::byte* at) noexcept = 0;

  /// Allocates memory of this worker that the driver moves between the host and the device as it is used. Returns its
  /// address.
  virtual result<std::uint64_t> make_managed(std::uint64_t bytes) = 0;
  virtual void free_managed(std::uint64_t address) noexcept = 0;

  /// Returns the bytes of the device's memory that no program uses.
  virtual result<std::uint64_t> free_bytes() = 0;

  /// Makes a queue of operations on the device, a CUstream. Sets `counts` to its priority as the device counts.
  virtual result<void*> make_stream(priority urgency, std::int32_t& counts) = 0;
  /// Enqueues a write of `value` to pinned memory, after everything in the stream.
  virtual result<void> write(void* stream, std::atomic<std::uint64_t>& where, std::uint64_t value) = 0;
  /// Makes later operations of the stream wait until the value at `where` is at least `value`.
  virtual result<void> wait(void* stream, std::atomic<std::uint64_t>& where, std::uint64_t value) = 0;
  /// Fails if an operation in the stream has failed so that nothing works any more.
  virtual result<void> check(void* stream) = 0;
  /// Returns true if an error of the device implies that it runs no kernel of this process any more.
  virtual bool has_ended_kernels(const error& why) const noexcept = 0;
};

struct platform_options {
  int device = 0;
  /// True if the worker is a thread of the application. It then uses the application's context, so that kernels of both
  /// can access the same memory.
  bool in_application = false;
  /// The file for the device's state after a fault. Empty: none is written.
  std::string core_file = {};
};

/// Loads a platform from its plug-in. Returns null if no folder has a plug-in for this backend.
result<std::unique_ptr<platform>> load_platform(const std::string& backend, const std::vector<std::string>& folders,
                                                const platform_options& o,
                                                const std::vector<opened_plug_in>& opened = {});

}  // namespace troupe

extern "C" {
/// The function that a plug-in exports. Change its name with every change of `platform`.
using troupe_platform_open_fn = void (*)(const troupe::platform_options& o,
                                         troupe::result<std::unique_ptr<troupe::platform>>* out);
}
#define TROUPE_PLATFORM(MAKE)                                                                            \
  extern "C" __attribute__((visibility("default"))) void troupe_platform_open_5(                         \
      const ::troupe::platform_options& o, ::troupe::result<std::unique_ptr<::troupe::platform>>* out) { \
    *out = MAKE(o);                                                                                      \
  }
