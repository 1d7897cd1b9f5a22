// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Attacks on other words of shared memory: states, gates, results, wake words, last words, transfers.
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <troupe/base/linux/futex.hpp>
#include <troupe/memory/copying/staging.hpp>

#include "strategy.hpp"

namespace adversary {
namespace {

using namespace troupe;

bool overwrite_words(hostile_worker& w, std::uint64_t begin, std::uint64_t bytes) {
  while (w.must_attack())
    for (int i = 0; i < 4096; ++i) {
      std::atomic<std::uint64_t>& word = w.channel_word(begin + w.random() % (bytes / 8) * 8);
      const std::uint64_t values[] = {w.random(), w.random() % 300, word.load() + 1,
                                      0,          UINT64_MAX,       word.load() ^ std::uint64_t{1} << w.random() % 64};
      word.store(values[w.random() % std::size(values)]);
    }
  return false;
}
bool overwrite_slots(hostile_worker& w) { return overwrite_words(w, w.view.at.slots, 8 * w.capacity()); }
bool overwrite_gates(hostile_worker& w) { return overwrite_words(w, w.view.at.gates, 8 * w.capacity()); }
bool overwrite_results(hostile_worker& w) {
  return overwrite_words(w, w.view.at.cells, sizeof(protocol::reply_cell) * w.capacity());
}
bool overwrite_everything(hostile_worker& w) { return overwrite_words(w, 0, w.view.at.total); }

// Resets the memory, for a moment, to its state when the worker started.
bool zero_everything_once(hostile_worker& w) {
  std::memset(w.view.base, 0, w.view.at.total);
  w.wake_application();
  return false;
}
bool fill_everything_once(hostile_worker& w) {
  std::memset(w.view.base, 0xff, w.view.at.total);
  w.wake_application();
  return false;
}

// Restores the values that all words had a moment ago.
bool restore_everything_once(hostile_worker& w) {
  const std::vector<std::byte> old(w.view.base, w.view.base + w.view.at.total);
  pause(std::chrono::milliseconds(20));
  std::memcpy(w.view.base, old.data(), old.size());
  w.wake_application();
  return false;
}
// Damages one word at a time: sets it to zero, all ones, its value with a bit changed, or an earlier value.
bool damage_single_words(hostile_worker& w) {
  const protocol::layout& at = w.view.at;
  const std::uint64_t parts[][2] = {{0, sizeof(protocol::progress_page)},
                                    {at.slots, 8 * w.capacity()},
                                    {at.logs, 8 * w.capacity() * max_lanes},
                                    {at.reports, 8192}};
  std::vector<std::byte> old(w.view.base, w.view.base + at.total);
  while (w.must_attack()) {
    pause(std::chrono::milliseconds(3));
    const auto& [begin, bytes] = parts[w.random() % std::size(parts)];
    const std::uint64_t offset = begin + w.random() % (bytes / 8) * 8;
    std::atomic<std::uint64_t>& word = w.channel_word(offset);
    std::uint64_t before = 0;
    std::memcpy(&before, old.data() + offset, sizeof before);
    const std::uint64_t values[] = {0, UINT64_MAX, word.load() ^ std::uint64_t{1} << w.random() % 64, before};
    word.store(values[w.random() % std::size(values)]);
  }
  return false;
}

// Keeps wake words unchanged, so that waiting threads detect no change and wakes are lost.
bool hold_epochs_back(hostile_worker& w) {
  const std::uint32_t first = w.view.page().epoch.load(), idle = w.view.page().idle_epoch.load();
  while (w.must_attack()) {
    w.view.page().epoch.store(first);
    w.view.page().idle_epoch.store(idle);
  }
  return false;
}
bool wake_without_end(hostile_worker& w) {
  while (w.must_attack()) w.wake_application();
  return false;
}
// Wakes threads though it has changed nothing: a sleep may end so by itself, too.
bool wake_without_change(hostile_worker& w) {
  while (w.must_attack())
    for (std::atomic<std::uint32_t>* word : {&w.view.page().epoch, &w.view.page().idle_epoch})
      futex_wake(*word, futex_scope::shared);
  return false;
}
bool hide_sleeping_pump(hostile_worker& w) {
  while (w.must_attack()) w.view.page().pump_sleeps.store(0);
  return false;
}
bool claim_pump_sleeps(hostile_worker& w) {
  while (w.must_attack()) w.view.page().pump_sleeps.store(1);
  return false;
}
bool move_pump_core(hostile_worker& w) {
  while (w.must_attack()) w.view.page().pump_core.store(static_cast<std::uint32_t>(w.random()));
  return false;
}

bool lie_about_memory(hostile_worker& w) {
  while (w.must_attack()) {
    w.view.page().free.free_bytes.store(w.random());
    w.view.page().free.looks.fetch_add(1);
    futex_wake(w.view.page().free.looks, futex_scope::shared);
  }
  return false;
}
bool lie_about_signs(hostile_worker& w) {
  auto& page = *reinterpret_cast<protocol::workers_page*>(w.workers_page);
  while (w.must_attack()) {
    w.view.page().probe.store(w.random());
    w.view.page().repeated.store(w.random());
    page.questions.fetch_add(1);
    page.asked.store(w.random());
    page.signs.store(w.random());
    futex_wake(page.questions, futex_scope::shared);
  }
  return false;
}

bool leave_absurd_note(hostile_worker& w) {
  std::uint64_t words[sizeof(protocol::crash_note) / 8] = {};
  for (std::uint64_t& word : words) word = w.random() | 1;
  std::memcpy(reinterpret_cast<std::byte*>(&w.view.page().note), words, sizeof words);
  ::_exit(3);
}
// Names the request of another client as the one that killed the worker.
bool blame_another_request(hostile_worker& w) {
  std::uint32_t slot = 0;
  std::uint64_t ticket = 0;
  w.find_running(slot, ticket);
  w.view.page().note.write({.signal = SIGSEGV, .ticket = ticket + 3, .xid = 79, .work_ended = true});
  ::_exit(0);
}
// A copy of the worker continues to write for a moment after the worker's death.
bool change_note_while_read(hostile_worker& w) {
  auto* const note = reinterpret_cast<std::atomic<std::uint32_t>*>(&w.view.page().note);
  if (::fork() != 0) ::_exit(1);
  for (int i = 0; i < 1'000'000; ++i)
    note[static_cast<std::size_t>(i) % (sizeof(protocol::crash_note) / 4)].store(
        static_cast<std::uint32_t>(w.random() % 5));
  ::_exit(0);
}

// Overwrites the progress words of transfers, which are in shared memory before their chunks.
bool overwrite_transfers(hostile_worker& w) {
  while (w.must_attack())
    for (const std::span<std::byte> segment : w.segments)
      for (std::size_t at = 0; w.must_attack() && at + sizeof(staging_header) < segment.size(); at += 4096) {
        auto& header = *reinterpret_cast<staging_header*>(segment.data() + at);
        header.filled.store(w.random() % 2 != 0 ? w.random() : w.random() % 20);
        header.emptied.store(w.random() % 20);
        header.turn.store(0);
        header.sleepers.store(0);
      }
  return false;
}

constexpr const char* checked = "every word of shared memory is checked";
constexpr const char* wakes = "no request waits for a lost wake";
constexpr const char* hints = "a dead worker's last words are hints";
constexpr strategy strategies[] = {
    {"overwrite_slots", "words", checked, moment::serving, overwrite_slots, false, false, true},
    {"overwrite_gates", "words", checked, moment::serving, overwrite_gates},
    {"overwrite_results", "words", checked, moment::serving, overwrite_results},
    {"overwrite_everything", "words", checked, moment::serving, overwrite_everything, false, false, true},
    {"zero_everything_once", "words", checked, moment::serving, zero_everything_once, true, false, true},
    {"fill_everything_once", "words", checked, moment::serving, fill_everything_once, true, false, true},
    {"restore_everything_once", "words", checked, moment::serving, restore_everything_once, true, false, true},
    {"damage_single_words", "words", "an accident is no success", moment::serving, damage_single_words, true, false,
     true},
    {"overwrite_transfers", "words", checked, moment::serving, overwrite_transfers, false, false, true},
    {"hold_epochs_back", "wakes", wakes, moment::serving, hold_epochs_back, true},
    {"wake_without_end", "wakes", "a waiting thread costs little", moment::serving, wake_without_end},
    {"wake_without_change", "wakes", "a waiting thread costs little", moment::serving, wake_without_change},
    {"hide_sleeping_pump", "wakes", wakes, moment::serving, hide_sleeping_pump, true, false, true},
    {"claim_pump_sleeps", "wakes", wakes, moment::serving, claim_pump_sleeps, true},
    {"move_pump_core", "wakes", "hints are only hints", moment::serving, move_pump_core, true},
    {"lie_about_memory", "wakes", "statistics survive anything", moment::serving, lie_about_memory, true},
    {"lie_about_signs", "wakes", "signs of life are checked", moment::serving, lie_about_signs, true},
    {"leave_absurd_note", "wakes", hints, moment::serving, leave_absurd_note, true},
    {"blame_another_request", "wakes", hints, moment::serving, blame_another_request, true},
    {"change_note_while_read", "wakes", hints, moment::serving, change_note_while_read, true, false, false, false,
     true},
};

}  // namespace

std::span<const strategy> word_strategies() { return strategies; }

}  // namespace adversary
