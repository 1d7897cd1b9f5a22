// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

#include <cstring>

namespace troupe::simulation {

void rules::check() {
  const bool some = judge_answers(distrust_ || device_.is_current_dishonest());
  log_.skip_judged();
  of_device_.check_killed();
  of_device_.check_state();
  of_answers_.check_quarantine();
  check_seals();
  check_deadlines();
  if (some && log_.none_open()) check_validity();
  distrust_ = device_.is_current_dishonest();
}

// Checks the answers of one step in the order in which they came about: finished requests, the loss, failures caused by
// it. Returns true if there were any.
bool rules::judge_answers(bool distrust) {
  bool some = false;
  const auto begin_judging = [&some](client_request& q) {
    if (q.kind >= request_kind::seal) --q.reads.front().of->seal.under_way;
    q.is_checked = some = true;
  };
  log_.for_each_open([&](client_request& q) {
    if (!q.answer || q.is_checked) return;
    if (!q.answered && !q.continued && q.answer->done()) q.collect(*q.answer, q);
    // A download whose outcome is decided may still wait for its data, and a fence for a download.
    if (distrust && (q.answered || q.kind == request_kind::fence)) q.suspect = true;
    q.doubted |= distrust && q.kind == request_kind::download;
    q.suspect |= q.doubted && q.answered;
    if (!q.answered || q.outcome == client_request::verdict::failure) return;
    begin_judging(q);
    of_answers_.judge_success(q);
  });
  const std::uint64_t generation = device_.generation();
  if (generation != log_.generation()) {
    if (distrust)
      for (client_request& q : log_.all()) q.presumed_starts += !q.answered;
    of_device_.begin_generation(generation);
  }
  log_.for_each_open([&](client_request& q) {
    if (!q.answer || q.is_checked || !q.answered) return;
    begin_judging(q);
    if (q.ticket != 0)
      of_answers_.judge_failure(q);
    else
      of_answers_.judge_refusal(q);
  });
  return some;
}

void rules::check_seals() const {
  for (const client_buffer& b : buffers_.all()) {
    const model_buffer::sealing& s = b.model->seal;
    if (b.handle.sealed() != s.done)
      run_.violated(s.done ? "a buffer is no longer sealed" : "a buffer is sealed but should not be");
    if (s.done && !s.content.empty() &&
        std::memcmp(reinterpret_cast<const void*>(b.handle.memory().address), s.content.data(),
                    s.content.size() * sizeof(word)) != 0)
      run_.violated("sealed memory has changed");
  }
}

// Applies once no timer is due. If a dishonest worker may have written the state of a request, nothing is known; and an
// operation whose input has failed counts as started, though no worker runs it.
void rules::check_deadlines() {
  if (distrust_ || device_.loop().due()) return;
  log_.for_each_open([this](const client_request& q) {
    const auto waits = [&] {
      return q.answer && q.ticket != 0 && !q.answered && !q.answer->done() && device_.cancels_at_once(q);
    };
    if (device_.now() < q.deadline || !waits()) return;
    device_.core().completion.drive();
    if (waits()) run_.violated(q.name() + " is not answered although its time-out passed before it started");
  });
}

// With no request open, a buffer is valid exactly if nothing of it is lost.
void rules::check_validity() const {
  if (device_.core().admission.refusing()) return;
  for (const client_buffer& b : buffers_.all()) {
    bool lost = false, doubtful = false;
    for (std::uint32_t i = 0; i < b.model->size(); ++i) {
      const auto state = b.model->before(log_.next_number(), i).state;
      lost |= state == model_buffer::content::lost;
      doubtful |= state == model_buffer::content::doubtful;
    }
    if (doubtful) continue;
    if (lost && b.handle.readable()) run_.violated("a buffer is readable although its content is lost");
    if (!lost && !b.handle.readable())
      run_.violated("a buffer is not valid although nothing of it is lost: " + b.handle.cause()->text());
  }
}

}  // namespace troupe::simulation
