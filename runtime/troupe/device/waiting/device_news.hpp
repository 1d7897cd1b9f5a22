// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <troupe/device/waiting/event_stream.hpp>
#include <vector>

namespace troupe {

/// What a device tells those who watch it: events, and its last fault.
class device_news {
 public:
  /// A stream of the events from now on; one that has ended already when nothing more will come.
  std::shared_ptr<event_stream> watch(const std::shared_ptr<device_core>& core);
  /// Puts the event, with the last fault, into every stream.
  void emit(device_event e);
  /// No event comes any more.
  void end();

  void note_fault(std::shared_ptr<const fault_record> record);
  std::shared_ptr<const fault_record> last_fault() const;

 private:
  mutable std::mutex lock_;
  std::vector<std::weak_ptr<event_stream>> streams_;
  std::shared_ptr<const fault_record> last_fault_;
  bool ended_ = false;
};

}  // namespace troupe
