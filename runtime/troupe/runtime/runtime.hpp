// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/log.hpp>
#include <troupe/device/device.hpp>

namespace troupe {

namespace detail {
#ifdef TROUPE_RUNTIME_DIR
// Set by the build: find_package(troupe) knows the installation.
inline constexpr const char* runtime_folder = TROUPE_RUNTIME_DIR;
#else
inline constexpr const char* runtime_folder = "";
#endif
}  // namespace detail

/// What the devices of a runtime have in common.
struct runtime_options {
  /// Where it says what happens to them; nothing is said by default. See <troupe/base/log.hpp>.
  log_sink log = {};
};

/// Owns the devices of a program. One is enough; several do not disturb each other.
/// Its destructor closes every device orderly and waits for that: queued requests are answered. Handles stay safe to
/// use. It may run anywhere, also in the continuation of an answer.
class runtime {
 public:
  explicit runtime(runtime_options options = {});
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Opens a device and returns at once: requests queue up until its worker is there. Never fails here: `ready()` and
  /// every request say what is wrong. Each call makes another device with a worker of its own.
  device open_device(device_options options = {}) { return open(std::move(options), detail::runtime_folder); }
  /// The devices that have not stopped, in the order in which they were opened.
  std::vector<device> devices() const;

 private:
  struct state;
  device open(device_options options, const char* built_in_folder);

  std::unique_ptr<state> state_;
};

}  // namespace troupe
