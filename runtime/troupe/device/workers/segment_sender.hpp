// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>

namespace troupe {

class worker_link;

/// The interface through which the pool makes a new worker map the device's memory.
class segment_sender {
 public:
  /// Sends a new worker all segments and read-only ranges. The caller holds the pool's lock.
  virtual result<void> send_all_to(worker_link& fresh) const = 0;

 protected:
  ~segment_sender() = default;
};

}  // namespace troupe
