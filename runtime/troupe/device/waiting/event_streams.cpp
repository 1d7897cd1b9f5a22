// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/waiting/event_streams.hpp>

namespace troupe {

std::shared_ptr<event_stream> event_streams::watch(const std::shared_ptr<device_core>& core) {
  auto stream = std::make_shared<event_stream>(core);
  const std::scoped_lock guard(lock_);
  if (ended_) {
    stream->end();
  } else {
    std::erase_if(streams_, [](const auto& s) { return s.expired(); });
    streams_.push_back(stream);
  }
  return stream;
}

void event_streams::emit(const answering&, device_event e) {
  std::vector<std::shared_ptr<event_stream>> to;
  {
    const std::scoped_lock guard(lock_);
    e.fault = last_fault_;
    for (const auto& s : streams_)
      if (auto stream = s.lock()) to.push_back(std::move(stream));
  }
  for (const auto& stream : to) stream->put(e);
}

void event_streams::end(const answering&) {
  std::vector<std::weak_ptr<event_stream>> all;
  {
    const std::scoped_lock guard(lock_);
    ended_ = true;
    all.swap(streams_);
  }
  for (const auto& s : all)
    if (auto stream = s.lock()) stream->end();
}

void event_streams::note_fault(std::shared_ptr<const fault_record> record) {
  const std::scoped_lock guard(lock_);
  last_fault_ = std::move(record);
}

std::shared_ptr<const fault_record> event_streams::last_fault() const {
  const std::scoped_lock guard(lock_);
  return last_fault_;
}

}  // namespace troupe
