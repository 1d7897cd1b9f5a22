// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/completion/stale_outputs.hpp>
#include <utility>

namespace troupe {

void expect_marks(const ledger_entry& e, device_memory::marking& marks) {
  for (const auto& [a, where] : e.accesses())
    if (a.mode != access_mode::read && where.get() != nullptr) marks.expect(*where.get());
}

bool touches_marked_memory(const ledger_entry& e) noexcept {
  const auto all = e.accesses();
  return std::any_of(all.begin(), all.end(), [](const block_access& a) {
    return a.where.get() != nullptr && a.where.get()->stale_marks.load(std::memory_order_relaxed) != 0;
  });
}

// Returns false for memory that a lost worker could not write: it stays valid.
static bool makes_stale(const device_memory& memory, const block& b, const error& why) noexcept {
  return why.reaction() != reaction::context_lost || !memory.outlives_workers(b);
}

void mark_outputs_stale(const device_memory& memory, const ledger_entry& e, const error& why,
                        device_memory::marking& marks) {
  for (const auto& [a, where] : e.accesses())
    if (a.mode != access_mode::read && where.get() != nullptr && makes_stale(memory, *where.get(), why))
      marks.fails(*where.get(), a.begin, a.end, e.ticket, why);
}

// `marks` is a device_memory or a device_memory::marking.
template <class Marks>
static void check_inputs(ledger_entry& e, const Marks& marks) {
  for (const auto& [a, where] : e.accesses()) {
    if (!reads(a.mode) || e.answered || e.failure) continue;
    if (auto cause = marks.stale_cause(*where.get(), a.begin, a.end, e.ticket))
      e.failure = std::make_unique<const error>(std::move(*cause));
  }
}

void propagate_marks(ledger_entry& e, device_memory::marking& marks) {
  check_inputs(e, marks);
  for (const auto& [a, where] : e.accesses())
    if (a.mode == access_mode::write) marks.replaces(*where.get(), a.begin, a.end, e.ticket);
}

template <class Marks>
void recheck_inputs(ledger_entry& e, const Marks& marks, std::uint32_t failures) {
  if (std::exchange(e.failures_seen, failures) != failures) check_inputs(e, marks);
}
template void recheck_inputs(ledger_entry&, const device_memory&, std::uint32_t);
template void recheck_inputs(ledger_entry&, const device_memory::marking&, std::uint32_t);

bool reads_what_it_writes(const device_memory& memory, const ledger_entry& e, const error& why) noexcept {
  for (const auto& [read, where] : e.accesses())
    for (const auto& [written, whose] : e.accesses())
      if (reads(read.mode) && written.mode != access_mode::read && where.get() == whose.get() &&
          std::max(read.begin, written.begin) < std::min(read.end, written.end) &&
          makes_stale(memory, *where.get(), why))
        return true;
  return false;
}

}  // namespace troupe
