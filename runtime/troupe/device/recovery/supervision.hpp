// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/recovery/supervisor.hpp>

namespace troupe {

/// Where the parts of a device bring what they have seen of a worker; the supervisor alone decides what it means.
class supervision {
 public:
  /// Any thread: it is decided upon on the control loop, with the time at which it was seen.
  virtual void report(device_supervisor::event e) = 0;
  /// On the control loop: now.
  virtual void decide(device_supervisor::event e) = 0;

 protected:
  ~supervision() = default;
};

}  // namespace troupe
