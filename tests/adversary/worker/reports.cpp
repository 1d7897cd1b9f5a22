// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attacks on reports of failures: reports that get lost, occur twice, or were never made. A request without a report
// counts as a success.
#include <array>
#include <cstring>
#include <troupe/protocol/report.hpp>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;

// Waits for a report that the application has not read yet, and replaces its first word.
bool damage_one_stamp(hostile_worker& w, std::uint64_t (*damaged)(const report_ring&, std::uint64_t stamp)) {
  const report_ring ring = w.reports();
  while (w.must_attack()) {
    const std::uint64_t position = ring.tail().load();
    std::uint64_t stamp = position + 1;
    if (ring.stamp(position).compare_exchange_strong(stamp, damaged(ring, stamp))) return false;
  }
  w.withdraw();
  return false;
}

bool zero_one_stamp(hostile_worker& w) {
  return damage_one_stamp(w, [](const report_ring&, std::uint64_t) { return std::uint64_t{0}; });
}
bool restore_old_stamp(hostile_worker& w) {
  return damage_one_stamp(w, [](const report_ring& ring, std::uint64_t stamp) {
    return stamp > ring.granules() ? stamp - ring.granules() : 0;
  });
}
bool flip_one_stamp(hostile_worker& w) {
  return damage_one_stamp(w, [](const report_ring&, std::uint64_t stamp) { return stamp ^ 1u << 7; });
}
bool fill_one_stamp(hostile_worker& w) {
  return damage_one_stamp(w, [](const report_ring&, std::uint64_t) { return UINT64_MAX; });
}

// Clears all reports, as a memset with a wrong size may do.
bool zero_all_reports(hostile_worker& w) {
  while (w.must_attack()) {
    std::memset(w.reports().records().data(), 0, w.reports().records().size());
    pause(std::chrono::microseconds(20));
  }
  return false;
}

// Removes one whole report, and moves up those after it.
bool lose_one_report(hostile_worker& w) {
  const report_ring ring = w.reports();
  while (w.must_attack()) {
    const std::uint64_t position = ring.tail().load();
    if (ring.stamp(position).load() != position + 1) continue;
    std::memset(ring.record(position), 0, 64);
    return false;
  }
  w.withdraw();
  return false;
}

// Exchanges two reports that are both unread.
bool swap_two_reports(hostile_worker& w) {
  const report_ring ring = w.reports();
  while (w.must_attack()) {
    const std::uint64_t first = ring.tail().load();
    std::uint64_t second = first + 1;
    while (second < first + 8 && ring.stamp(second).load() != second + 1) ++second;
    if (second == first + 8 || ring.stamp(first).load() != first + 1) continue;
    std::byte a[56], b[56];  // without the first words
    std::memcpy(a, ring.record(first) + 8, sizeof a);
    std::memcpy(b, ring.record(second) + 8, sizeof b);
    std::memcpy(ring.record(first) + 8, b, sizeof b);
    std::memcpy(ring.record(second) + 8, a, sizeof a);
    return false;
  }
  w.withdraw();
  return false;
}

struct written_report {
  std::uint64_t stamp;
  std::uint32_t size, kind;
  protocol::report_header head;
  std::array<std::uint16_t, 3> texts;
};

// Writes reports instead of the worker, as fast as the application reads them.
bool write_reports(hostile_worker& w, protocol::report_header (*make)(hostile_worker&, std::uint64_t number)) {
  const report_ring ring = w.reports();
  std::uint32_t slot = 0;
  for (std::uint64_t ticket = 0, before = 1; w.must_attack() && ticket != before;
       pause(std::chrono::microseconds(300))) {
    before = ticket;
    w.find_running(slot, ticket);
    if (ticket == 0) before = 1;
  }
  w.freeze_other_threads();
  while (w.must_attack() && ring.stamp(ring.tail().load()).load() != 0) w.wake_application();
  std::uint64_t position = ring.tail().load(), number = ring.newest_number(w.capacity());
  while (w.must_attack()) {
    for (int i = 0; i < 1000; ++i) {
      if (position - ring.tail().load() >= ring.granules() - 2) break;
      written_report r{.stamp = 0, .size = 46, .kind = 0, .head = make(w, ++number), .texts = {}};
      std::memcpy(ring.record(position) + 8, reinterpret_cast<const std::byte*>(&r) + 8, 64 - 8);
      ring.stamp(position).store(position + 1);
      ++position;
    }
    w.wake_application();
  }
  return false;
}

protocol::report_header header_for(std::uint64_t number, std::uint64_t ticket, std::uint32_t slot) {
  return {.number = number, .ticket = ticket, .cause_ticket = ticket, .code = 1, .slot = slot, .reaction = 1};
}

// Repeats a well-formed report about one request in flight.
bool repeat_report(hostile_worker& w) {
  return write_reports(w, [](hostile_worker& me, std::uint64_t number) {
    std::uint32_t slot = 0;
    std::uint64_t ticket = 0;
    while (me.must_attack() && !me.find_running(slot, ticket)) pause(std::chrono::microseconds(100));
    return header_for(number, ticket, slot);
  });
}
bool report_no_request(hostile_worker& w) {
  return write_reports(w, [](hostile_worker& me, std::uint64_t number) {
    return header_for(number, me.random() >> me.random() % 60, static_cast<std::uint32_t>(me.random()));
  });
}
bool number_reports_wrongly(hostile_worker& w) {
  return write_reports(w, [](hostile_worker& me, std::uint64_t) { return header_for(me.random() % 300, 1, 0); });
}

// Writes records with sizes and kinds that the ring cannot have.
bool write_impossible_records(hostile_worker& w) {
  const report_ring ring = w.reports();
  while (w.must_attack()) {
    const std::uint64_t position = ring.tail().load();
    const std::uint64_t size_and_kind = w.random() % 2 != 0 ? UINT64_MAX : w.random();
    std::memcpy(ring.record(position) + 8, &size_and_kind, sizeof size_and_kind);
    ring.stamp(position).store(position + 1);
    w.wake_application();
    pause(std::chrono::microseconds(50));
  }
  return false;
}

// Changes the bytes of a valid report while the application reads it.
bool change_reports_while_read(hostile_worker& w) {
  const report_ring ring = w.reports();
  while (w.must_attack()) {
    std::byte* const record = ring.record(ring.tail().load());
    std::uint64_t right = 0;
    std::memcpy(&right, record + 8, sizeof right);
    for (const std::uint64_t wrong : {std::uint64_t{UINT64_MAX}, std::uint64_t{0}, right << 1, right})
      std::memcpy(record + 8, &wrong, sizeof wrong);
  }
  return false;
}

constexpr const char* lost = "a failed request never counts as a success";
constexpr const char* checked = "every word of shared memory is checked";
constexpr strategy strategies[] = {
    {"zero_one_stamp", "reports", lost, moment::serving, zero_one_stamp, true},
    {"restore_old_stamp", "reports", lost, moment::serving, restore_old_stamp, true},
    {"flip_one_stamp", "reports", lost, moment::serving, flip_one_stamp, true},
    {"fill_one_stamp", "reports", lost, moment::serving, fill_one_stamp, true},
    {"lose_one_report", "reports", lost, moment::serving, lose_one_report, true},
    {"swap_two_reports", "reports", lost, moment::serving, swap_two_reports, true},
    {"zero_all_reports", "reports", lost, moment::serving, zero_all_reports, true},
    // These attacks write where the worker itself reports, so the worker may stall until the time limits of its
    // requests. The application reads no more reports than are counted, so the first attack is not a flood.
    {"repeat_report", "reports", "reading reports ends", moment::serving, repeat_report, false, false, true},
    {"report_no_request", "reports", checked, moment::serving, report_no_request, false, true, true},
    {"number_reports_wrongly", "reports", checked, moment::serving, number_reports_wrongly, false, true, true},
    {"write_impossible_records", "reports", checked, moment::serving, write_impossible_records, false, true, true},
    {"change_reports_while_read", "reports", checked, moment::serving, change_reports_while_read},
};

}  // namespace

std::span<const strategy> report_strategies() { return strategies; }

}  // namespace adversary
