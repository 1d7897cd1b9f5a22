// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Damage that a broken worker does to the memory that it can write.
#include <csignal>
#include <cstring>
#include <troupe/memory/requests.hpp>
#include <troupe/protocol/report.hpp>
#include <troupe/worker/schedule/failure.hpp>

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

// Falsifies the progress of the next chunked transfer, which the worker has not begun.
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
      if (r.percent(50))
        done.store(near(done.load() + 1));
      else
        done.word().store(near(done.word().load()));
      break;
    case 4:  // a log that fits a slot, and a count that covers it
      view_.log(lane, done.load() + 1)
          .store(protocol::log_word(near(commands_->empty() ? 1 : commands_->peek()->ticket), slot));
      done.store(done.load() + 1);
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
                                         .slot = slot,
                                         .reaction = static_cast<std::uint8_t>(r.below(8)),
                                         .chain = static_cast<std::uint8_t>(r.below(3))};
      std::memcpy(bytes.data(), &head, sizeof head);
      if (const ring_claim c = report_ring_->claim(bytes.size())) {
        std::memcpy(c.data, bytes.data(), bytes.size());
        report_ring_->publish(c);
        if (r.percent(70)) view_.page().reports.store(view_.page().reports.load() + 1);
      }
      break;
    }
  }
}

bool simulated_worker::report_twice() {
  const auto next = serving && !dead && !in_pump_ ? commands_->peek() : std::nullopt;
  if (!next) return false;
  dishonest = true;
  scene_.record.note("worker reports twice", id);
  operation op;
  op.ticket = next->ticket;
  op.slot = next->slot;
  for (int i = 0; i < 2; ++i)
    reports_->report(op, {.reaction = reaction::unsupported, .domain = "simulation", .text = "reported twice"});
  return true;
}

// Returns null if there is no such word now. Replies are excluded, because a wrong number there cannot be detected;
// so are the words of the report ring that only the worker reads.
std::atomic<std::uint64_t>* simulated_worker::word_of(std::uint32_t group, std::uint32_t i) const noexcept {
  const auto words = [](void* at) { return static_cast<std::atomic<std::uint64_t>*>(at); };
  const std::uint32_t capacity = settings_.capacity;
  protocol::progress_page& page = view_.page();
  switch (group) {
    case 0:
      return i < max_lanes ? &page.lanes[i].done.word() : &page.reports.word();
    case 1:
      return i < sizeof page / 8 ? words(&page) + i : nullptr;
    case 2:
      return i < capacity ? &view_.slot(i) : i < 2 * capacity ? &view_.gate(i - capacity) : nullptr;
    case 3:
      return i < max_lanes * capacity ? &view_.log(i / capacity, i % capacity) : nullptr;
    case damaged_word::ring: {
      constexpr std::size_t tail = 128, header = 384, words_of_granule = ring_region::granule / 8;
      std::byte* const at = view_.reports().data();
      const std::uint64_t all = view_.at.report_bytes / 8, first = *words(at + tail) * words_of_granule;
      return words(at + header) + (first + i) % all;
    }
    default:
      if (transfers.empty()) return nullptr;
      staging_header& h = *transfers.back();
      return i == 0 ? &h.filled.word() : i == 1 ? &h.emptied.word() : words(&h.turn) + (i - 2);
  }
}

void simulated_worker::remember_words() {
  for (std::uint32_t g = 0; g < damaged_word::groups; ++g)
    for (std::uint32_t i = 0; i < damaged_word::words_in[g]; ++i)
      if (const auto* const word = word_of(g, i)) remembered_words_[word] = word->load();
}

void simulated_worker::damage(const damaged_word& d) {
  std::atomic<std::uint64_t>* const word = word_of(d.group, d.word);
  if (word == nullptr) return;
  const std::uint64_t before = word->load();
  const auto known = remembered_words_.find(word);
  random_bits r(d.seed());
  // The lowest bits of a count give the most plausible counts.
  const std::uint64_t bit = std::uint64_t{1} << (r.percent(50) ? r.between(16, 17) : r.below(64));
  const std::uint64_t after = d.how == damaged_word::becomes::zeros           ? 0
                              : d.how == damaged_word::becomes::ones          ? UINT64_MAX
                              : d.how == damaged_word::becomes::one_bit_wrong ? before ^ bit
                              : known != remembered_words_.end()              ? known->second
                                                                              : before;
  if (after == before) return;
  word->store(after);
  dishonest = true;
  frozen = d.group == 3;  // its own lanes rely on these
  ++scene_.record.garbage;
  scene_.record.note("a word is damaged", before, after);
}

}  // namespace troupe::simulation
