// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/events/requests.hpp>

namespace troupe::events {
namespace {

template <class Operand>
void check_event(checker& c, const Operand& event) {
  c.elements(event, sizeof(event_memory));
}

// Checks a recording's number, which distinguishes it from earlier recordings.
void check_recording(checker& c, const out<std::byte>& event, const std::uint64_t& number) {
  check_event(c, event);
  c.require(number != 0, number, "is 0", "1 for the first recording, 2 for the next");
}

}  // namespace

void record::check(checker& c) const {
  check_recording(c, event, number);
  for (const in<std::byte>& one : after) c.elements(one, one.size());
}
void record_all::check(checker& c) const { check_recording(c, event, number); }
void hold_back::check(checker& c) const {
  check_event(c, event);
  for (const inout<std::byte>& one : before) c.elements(one, one.size());
}
void reach::check(checker& c) const { check_event(c, event); }
void elapsed_time::check(checker& c) const {
  check_event(c, from);
  check_event(c, to);
}
void share::check(checker& c) const {
  check_event(c, event);
  c.elements(event, 0);
}
void open::check(checker& c) const { check_event(c, event); }
void forget::check(checker& c) const { check_event(c, event); }

}  // namespace troupe::events
