// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/log.hpp>
#include <troupe/device/device.hpp>

namespace troupe {

namespace detail {
#ifdef TROUPE_RUNTIME_DIR
// Defined by the build: find_package(troupe) knows the installation.
inline constexpr const char* runtime_folder = TROUPE_RUNTIME_DIR;
#else
// Without CMake, for example with pkg-config, the installation is found through the path of this header.
inline constexpr const char* runtime_folder = __FILE__;
#endif
}  // namespace detail

/// Options for all devices of a runtime.
struct runtime_options {
  /// Receives log messages about the devices; nothing is logged by default. See <troupe/base/log.hpp>.
  log_sink log = {};
};

/// Owns the devices of a program. One runtime is enough; several are independent of each other. A device closes when
/// its last handle is destroyed. The destructor closes all other devices and waits until queued requests are answered.
/// Handles of closed devices stay safe to use. The destructor may run on any thread, also in the continuation of an
/// answer.
class runtime {
 public:
  explicit runtime(runtime_options options = {});
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Opens the best device of the machine: a GPU if one serves programs, otherwise the host engine (see
  /// device_options::engine). Returns at once; requests are queued until its worker is ready. Never fails: if the
  /// device cannot start, `started()` and every request report the error. Each call opens another device with a worker
  /// of its own, which closes when its last handle is destroyed.
  [[nodiscard]] device open_device(device_options options = {}) {
    return open(std::move(options), detail::runtime_folder);
  }
  /// Opens a device and waits until it serves. Fails with the reason if it never will.
  result<device> open_ready(device_options options = {}) {
    device opened = open_device(std::move(options));
    if (auto ready = opened.started().get(); !ready) return ready.error();
    return opened;
  }
  /// Returns the devices that have handles and have not stopped, in the order in which they were opened.
  std::vector<device> devices() const;

 private:
  struct state;
  device open(device_options options, const char* built_in_folder);

  std::unique_ptr<state> state_;
};

}  // namespace troupe
