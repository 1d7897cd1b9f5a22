// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/recovery/supervisor.hpp>

namespace troupe {

/// The interface through which the parts of a device report what they have detected about a worker. Only the supervisor
/// decides what follows.
class supervision {
 public:
  /// Posts the event to the control loop, with the time at which it was detected. Any thread.
  virtual void report(device_supervisor::event e) = 0;
  /// Handles the event immediately. May be called only on the control loop.
  virtual void report_now(device_supervisor::event e) = 0;

 protected:
  ~supervision() = default;
};

}  // namespace troupe
