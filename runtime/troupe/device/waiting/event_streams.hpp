// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <troupe/device/waiting/event_stream.hpp>
#include <vector>

namespace troupe {

class answering;

/// The event streams of a device's watches, and the last fault.
class event_streams {
 public:
  /// Returns a stream of the events from now on. It has ended already if no more events follow.
  std::shared_ptr<event_stream> watch(const std::shared_ptr<device_core>& core);
  /// Appends the event, with the last fault, to every stream.
  void emit(const answering& now, device_event e);
  /// Ends all streams: no more events follow.
  void end(const answering& now);

  void note_fault(std::shared_ptr<const fault_record> record);
  std::shared_ptr<const fault_record> last_fault() const;

 private:
  mutable std::mutex lock_;
  std::vector<std::weak_ptr<event_stream>> streams_;
  std::shared_ptr<const fault_record> last_fault_;
  bool ended_ = false;
};

}  // namespace troupe
