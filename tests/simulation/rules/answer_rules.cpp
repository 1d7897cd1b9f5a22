// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "answer_rules.hpp"

#include <algorithm>

#include <tests/simulation/requests.hpp>

namespace troupe::simulation {

using content = model_buffer::content;

void answer_rules::wrong(const char* what, const client_request& q) const {
  run_.violated(std::string(what) + " of " + q.name() + " is wrong");
}

std::vector<word> answer_rules::input_values(const client_request& q, bool& certain) const {
  std::vector<word> values;
  for (const model_buffer::cell& c : q.inputs_before_loss.empty() ? q.inputs() : q.inputs_before_loss) {
    if (c.state == content::lost) run_.violated(q.name() + " has read lost data");
    if (c.state == content::pending) run_.violated(q.name() + " was answered before one that it depends on");
    certain &= c.state == content::known;
    values.push_back(c.value);
  }
  return values;
}

void answer_rules::judge_success(client_request& q) {
  ++run_.record.answers;
  run_.record.note("succeeded", q.number, q.reply);
  if (q.kind >= request_kind::seal && q.suspect) q.reads.front().of->seal.by_liar = true;
  if (q.kind == request_kind::seal) judge_seal(q);
  if (q.suspect) {
    if (run_.damage) judge_despite_damage(q);
    if (q.writes) q.writes->of->settle(q.number, content::doubtful);
    return;
  }
  if (q.finished_by == nullptr) run_.violated("success of " + q.name() + ", which no worker has finished");
  bool certain = true;
  const std::vector<word> inputs = input_values(q, certain);
  const std::vector<word> written = expect_answer(q, inputs, certain);
  simulated::hash_of_words h;
  h.mix(inputs);
  const bool answers_hash = q.kind >= request_kind::add && q.kind <= request_kind::look;
  if (certain && !inputs.empty() && answers_hash && q.reply != h.value) wrong("the hash of the inputs", q);
  if (q.writes) q.writes->of->settle(q.number, certain ? content::known : content::any, written);
}

// A damaged word must not make a success of a request that was not executed, nor deliver other data.
void answer_rules::judge_despite_damage(const client_request& q) const {
  if (q.finished_by == nullptr) run_.violated("wrong success of " + q.name() + ", which no worker has finished");
  if (q.kind != request_kind::download) return;
  std::vector<word> values;
  for (const model_buffer::cell& c : q.inputs()) {
    if (c.state != content::known) return;
    values.push_back(c.value);
  }
  if (q.downloaded != values) wrong("the data", q);
}

// Checks the answer as far as it is known, and returns what the request has written.
std::vector<word> answer_rules::expect_answer(const client_request& q, const std::vector<word>& inputs,
                                              bool certain) const {
  switch (q.kind) {
    case request_kind::fill:
      return std::vector<word>(q.writes->count, q.param);
    case request_kind::upload:
      return q.data;
    case request_kind::download:
      if (certain && q.downloaded != inputs) wrong("the data", q);
      return {};
    case request_kind::copy:
    case request_kind::unseal:
      return inputs;
    case request_kind::add: {
      std::vector<word> written = inputs;
      for (word& w : written) w += q.param;
      return written;
    }
    case request_kind::combine: {
      std::vector<word> written;
      const std::uint32_t n = q.writes->count;
      for (std::uint32_t i = 0; i < n; ++i) written.push_back(31 * inputs[i] + inputs[i + n]);
      return written;
    }
    case request_kind::gather: {
      word sum = 0;
      for (const word w : inputs) sum += w;
      return {sum};
    }
    case request_kind::ping:
      if (q.reply != q.param) wrong("the answer", q);
      return {};
    case request_kind::fence:
      for (const client_request& earlier : log_.all())
        if (earlier.number < q.number && earlier.answer && !earlier.answered && earlier.ticket != 0)
          run_.violated("a sync was answered before " + earlier.name());
      return {};
    case request_kind::look:
    case request_kind::seal:
      return {};
    case request_kind::spoil:
      wrong("the success", q);
  }
  return {};
}

// From now on the content stays the same, unless a dishonest worker claims the seal.
void answer_rules::judge_seal(const client_request& q) const {
  const client_request::range& all = q.reads.front();
  model_buffer::sealing& s = all.of->seal;
  if (q.param != s.changes) return;  // it was ended before it was answered
  s.done = true;
  const auto* now = reinterpret_cast<const word*>(q.memory.front().address);
  s.content.assign(now, now + (q.suspect ? 0 : all.count));
  if (q.suspect) return all.of->doubt();
  for (std::uint32_t i = 0; i < all.count; ++i)
    if (const auto c = all.of->before(q.number, i); c.state == content::known && c.value != now[i])
      run_.violated("sealed memory differs from what was written: " + q.name());
}

void answer_rules::judge_failure(client_request& q) {
  ++run_.record.failures;
  run_.record.note("failed", q.number, static_cast<std::uint64_t>(q.cause->reaction()));
  // A buffer that a dishonest worker has claimed to be sealed keeps its content.
  const bool sealed_by_liar = q.writes && q.writes->of->seal.by_liar && q.writes->of->seal.done;
  if (q.writes) q.writes->of->settle(q.number, sealed_by_liar ? content::doubtful : content::lost);
  if (!q.suspect && !had_to_fail(q)) run_.violated(q.name() + " failed without a reason: " + q.cause->text());
}

// Returns true if the device may have to assume that a later request overwrote what this one reads. A later request
// that was to share this one's call counts as started, even if it fails because an input is missing.
bool answer_rules::may_be_overwritten(const client_request& q) const {
  const auto& all = log_.all();
  return std::any_of(all.begin(), all.end(), [&q](const client_request& later) {
    if (later.number <= q.number || !later.writes || later.ticket == 0) return false;
    const client_request::range& w = *later.writes;
    return std::any_of(q.reads.begin(), q.reads.end(), [&w](const client_request::range& r) {
      return r.of == w.of && r.begin < w.begin + w.count && w.begin < r.begin + r.count;
    });
  });
}

bool answer_rules::had_to_fail(const client_request& q) const {
  // A call that several requests share is finished when the last of them is.
  const bool finished = q.finished_by != nullptr && q.finished_by == q.started_by && !q.joined_call;
  if (finished && !q.finished_by->was_unkillable && !q.finished_by->dishonest) return false;
  // The data of a queued upload are in memory that a broken worker can write.
  const bool upload_lost = q.kind == request_kind::upload && run_.settings.options.salvage == salvage::strict &&
                           log_.generation() != q.generation;
  const bool died_in_it =
      q.started_by != nullptr && q.started_by->dead &&
      (q.starts + q.presumed_starts > q.retries || q.kind == request_kind::add || may_be_overwritten(q));
  return q.cancelled || upload_lost || device_.now() >= q.deadline || q.failed_by_worker || died_in_it ||
         device_.gave_up() || device_.closing_now() || q.may_miss_input();
}

void answer_rules::judge_refusal(client_request& q) {
  run_.record.note("was refused", q.number, static_cast<std::uint64_t>(q.cause->reaction()));
  if (q.writes) q.writes->of->settle(q.number, content::lost);
  if (q.cause->chain().empty() && q.cause->text().find("with the same data") != std::string::npos)
    in_quarantine_.push_back(&q);
  else if (!device_.core().admission.refusing() && q.cause->reaction() != reaction::retry_later && !q.writes_sealed &&
           !q.may_miss_input())
    run_.violated(q.name() + " was refused without a reason: " + q.cause->text());
}

void answer_rules::check_quarantine() {
  std::erase_if(in_quarantine_, [this](const client_request* q) {
    const auto inputs = q->inputs();
    if (std::any_of(inputs.begin(), inputs.end(), [](const auto& c) { return c.state == content::pending; }))
      return false;
    if (!resembles_deadly_request(*q))
      run_.violated(q->name() + " is in quarantine without a reason: " + q->cause->text());
    return true;
  });
}

bool answer_rules::resembles_deadly_request(const client_request& q) const {
  if (run_.settings.options.quarantine_after == 0) return false;
  // Where workers write past the requests, the data of a request are unknown.
  if (run_.settings.wild || run_.settings.garbage) return true;
  const bool has_param = q.kind == request_kind::fill || q.kind == request_kind::add || q.kind == request_kind::ping;
  const auto inputs = q.inputs();
  const auto& all = log_.all();
  return std::any_of(all.begin(), all.end(), [&](const client_request& other) {
    const bool died =
        other.starts + other.presumed_starts > 1 || (other.started_by != nullptr && other.started_by->dead);
    if (!died || other.number >= q.number || other.kind != q.kind || (has_param && other.param != q.param) ||
        other.data != q.data || other.words_at_start.size() != inputs.size())
      return false;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].state == content::known && inputs[i].value != other.words_at_start[i]) return false;
    return true;
  });
}

}  // namespace troupe::simulation
