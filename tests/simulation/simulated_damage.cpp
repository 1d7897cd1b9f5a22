// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Damage that a broken worker does to the memory that it can write.
#include <csignal>
#include <cstring>
#include <troupe/memory/requests.hpp>
#include <troupe/protocol/report.hpp>

#include "simulated_worker.hpp"

namespace troupe::simulation {

void simulated_worker::write_wildly(random_bits& r) {
  const auto [address, bytes] = scene_.any_memory(r);
  if (!serving || dead || bytes == 0) return;
  scene_.record.note("worker writes wildly", id);
  if (!can_write(address, bytes)) return die({exit_status::ending::signalled, SIGSEGV});
  dishonest = true;
  for (std::uint64_t i = 0; i < bytes; ++i) reinterpret_cast<std::uint8_t*>(address)[i] = r.next() & 0xff;
  scene_.memory_was_overwritten();
}

// Falsifies the progress of the next chunked transfer, which it has not begun.
bool simulated_worker::claim_progress(random_bits& r) {
  const auto next = commands_->peek();
  if (!next) return false;
  const protocol::command_header head = protocol::header_of(next->record);
  const std::byte* const payload = protocol::payload_of(next->record).data();
  if (head.opcode == opcode_of<memory::stream_out>) {
    const auto t = decode<memory::stream_out>(payload);
    if (!has_mapped(t.staging, sizeof(staging_header))) return false;
    auto& h = *reinterpret_cast<staging_header*>(t.staging);
    h.filled.store(r.between(1, static_cast<std::uint32_t>(t.chunks.value())));
  } else if (head.opcode == opcode_of<memory::stream_in>) {
    const memory_range progress = decode<memory::stream_in>(payload).progress.range();
    if (!has_mapped(progress.address, progress.bytes)) return false;
    reinterpret_cast<staging_header*>(progress.address)->emptied.store(r.between(1, 4));
  } else {
    return false;
  }
  dishonest = true;
  scene_.record.note("worker claims progress", id);
  return true;
}

void simulated_worker::write_garbage(random_bits& r) {
  if (!begun_ || dead) return;
  if (serving && r.percent(80) && claim_progress(r)) return;
  dishonest = true;
  scene_.record.note("worker writes garbage", id);
  ++scene_.record.garbage;
  const std::uint32_t slot = r.below(settings_.capacity), lane = r.below(max_lanes);
  const auto near = [&r](std::uint64_t v) { return r.percent(50) ? v + r.below(5) - 2 : r.next() >> r.below(64); };
  auto& done = view_.page().lanes[lane].done;
  const std::uint32_t kind = r.below(transfers.empty() ? 7 : 10);
  if (kind > 2) frozen = true;  // its own lanes rely on these
  switch (kind) {
    case 0:
      view_.slot(slot).store(near(view_.slot(slot).load()));
      break;
    case 1:
      for (std::byte& b : view_.cell(slot).bytes) b = static_cast<std::byte>(r.next());
      break;
    case 2:
      view_.page().epoch.store(static_cast<std::uint32_t>(r.next()));
      view_.page().idle_epoch.store(static_cast<std::uint32_t>(r.next()));
      view_.page().pump_sleeps.store(static_cast<std::uint32_t>(r.next()));
      break;
    case 3:
      done.store(near(done.load() + 1));
      break;
    case 4:  // a log that fits a slot, and a count that covers it
      view_.log(lane, done.load() + 1)
          .store(protocol::log_word(near(commands_->empty() ? 1 : commands_->peek()->ticket), slot));
      done.fetch_add(1);
      break;
    case 5: {
      const auto ring = view_.reports();
      for (std::uint32_t n = r.between(1, 40); n > 0; --n)
        ring[r.below(r.percent(50) ? 512 : ring.size())] = static_cast<std::byte>(r.next());
      break;
    }
    case 7:
    case 8:
    case 9: {
      staging_header& h = *transfers[r.below(transfers.size())];
      auto& count = r.percent(50) ? h.filled : h.emptied;
      count.store(near(count.load()));
      break;
    }
    case 6: {  // a plausible report
      std::array<std::byte, sizeof(protocol::report_header) + 16> bytes{};
      const std::uint64_t ticket = near(commands_->empty() ? 1 : commands_->peek()->ticket);
      const protocol::report_header head{.number = near(1),
                                         .ticket = ticket,
                                         .cause_ticket = ticket,
                                         .code = 0,
                                         .slot = slot,
                                         .reaction = static_cast<std::uint8_t>(r.below(8)),
                                         .chain = static_cast<std::uint8_t>(r.below(3)),
                                         .reserved = 0};
      std::memcpy(bytes.data(), &head, sizeof head);
      if (const ring_claim c = report_ring_->claim(bytes.size())) {
        std::memcpy(c.data, bytes.data(), bytes.size());
        report_ring_->publish(c);
      }
      break;
    }
  }
}

}  // namespace troupe::simulation
