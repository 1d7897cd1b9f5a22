// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "execution_rules.hpp"

namespace troupe::simulation {
namespace {

// Returns what the worker finds in the request's inputs; empty if it does not have the memory yet.
std::vector<word> input_words(const client_request& q, const simulated_worker& w) {
  std::vector<word> all;
  for (std::size_t i = 0; i < q.reads.size(); ++i) {
    const auto [address, bytes] = q.memory[i];
    if (!w.has_mapped(address, bytes)) return {};
    const auto* const words = reinterpret_cast<const word*>(address);
    all.insert(all.end(), words, words + bytes / sizeof(word));
  }
  return all;
}

}  // namespace

void execution_rules::note_start(client_request& q, simulated_worker& w) const {
  q.started_by = &w;
  q.started_generation = device_.generation();
}

void execution_rules::request_started(std::uint64_t ticket, simulated_worker& w) {
  run_.record.note("starts", ticket, w.id);
  client_request* const found = log_.find(ticket);
  if (found == nullptr) return;
  client_request& q = *found;
  if (w.kill_wanted) {
    // The worker could not be killed: it may die now, or the device has stopped because of it.
    ++q.starts;
    return note_start(q, w);
  }
  if (q.started_by != nullptr && q.started_by->dishonest) q.suspect = true;
  if (w.dishonest) q.suspect = true;
  q.doubted &= w.dishonest;
  if (++q.starts > 1 + q.retries && !q.suspect)
    run_.violated(q.name() + " was started too often, at last by workers " + std::to_string(q.started_by->id) +
                  " and " + std::to_string(w.id));
  if (!q.suspect && q.is_checked) run_.violated(q.name() + " started after it was answered");
  q.inputs_before_loss.clear();
  q.words_at_start = input_words(q, w);
  note_start(q, w);
  if (q.starts > q.deadly_starts) return;
  random_bits r = run_.random(stream::deadly_request, run_.record.steps);
  w.steps_to_death = run_.settings.repetitive ? 1 : r.between(1, r.percent(50) ? 3 : 20);
  w.dies_of = ticket;
}

void execution_rules::request_joined_call(std::uint64_t ticket, simulated_worker& w) {
  client_request* const q = log_.find(ticket);
  if (q == nullptr) return;
  q->words_at_start = input_words(*q, w);
  note_start(*q, w);
  q->joined_call = true;
  ++q->presumed_starts;
}

void execution_rules::request_left_call(std::uint64_t ticket, simulated_worker& w) {
  client_request* const q = log_.find(ticket);
  if (q == nullptr) return;
  note_start(*q, w);
  ++q->presumed_starts;
}

void execution_rules::request_finished(std::uint64_t ticket, simulated_worker& w) {
  run_.record.note("finishes", ticket, w.id);
  if (client_request* const q = log_.find(ticket); q != nullptr) q->finished_by = &w;
}

void execution_rules::request_failed(std::uint64_t ticket, simulated_worker& w) {
  run_.record.note("fails", ticket, w.id);
  if (client_request* const q = log_.find(ticket); q != nullptr) q->failed_by_worker = true;
}

void execution_rules::chunk_was_overwritten(std::uint64_t ticket, simulated_worker& w) {
  const client_request* const q = log_.find(ticket);
  if (q == nullptr) return;
  if (!q->suspect && !w.dishonest && q->starts + q->presumed_starts < 2)
    run_.violated("a chunk of an upload was overwritten before any worker began it: " + q->name());
}

void execution_rules::wrote_read_only_memory(std::uint64_t ticket, simulated_worker& w) {
  run_.record.note("writes read-only memory", ticket, w.id);
  const client_request* const q = log_.find(ticket);
  if (q == nullptr) return;
  // A dishonest worker may have claimed a seal, or its end, before its turn.
  const bool by_liar = q->writes && q->writes->of->seal.by_liar;
  // The device is about to end a worker that has missed a message about memory.
  if (!q->suspect && !w.dishonest && !by_liar && !w.missed_memory)
    run_.violated(q->name() + " writes memory that its worker can only read");
}

}  // namespace troupe::simulation
