// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/recovery/supervisor.hpp>

namespace troupe {

/// The interface through which the parts of a device report what they have seen of a worker. The supervisor alone
/// decides what it means.
class supervision {
 public:
  /// Posts the event to the control loop, with the time at which it was seen. Any thread.
  virtual void report(device_supervisor::event e) = 0;
  /// Handles the event immediately. Only on the control loop.
  virtual void report_now(device_supervisor::event e) = 0;

 protected:
  ~supervision() = default;
};

}  // namespace troupe
