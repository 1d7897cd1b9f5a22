// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What must be true after every step.
#include <algorithm>
#include <cstring>

#include "requests.hpp"
#include "simulation.hpp"

namespace troupe::simulation {

using content = model_buffer::content;

constexpr std::uint64_t deadly_stream = 6ull << 40;

void simulation::request_starts(std::uint64_t ticket, simulated_worker& w) {
  record.note("starts", ticket, w.id);
  const auto found = by_ticket_.find(ticket);
  if (found == by_ticket_.end()) return;
  request& q = *found->second;
  if (w.kill_wanted) {
    // It should be dead, and may be so at last; or the device has stopped because it is not.
    ++q.starts;
    q.started = &w;
    q.started_generation = core_->memory.generation();
    return;
  }
  if (q.started != nullptr && q.started->dishonest) q.suspect = true;
  if (w.dishonest) q.suspect = true;
  q.doubted &= w.dishonest;
  if (++q.starts > 1 + q.retries && !q.suspect)
    violated("request " + std::to_string(q.number) + " was started too often, at last by workers " +
             std::to_string(q.started->id) + " and " + std::to_string(w.id));
  if (!q.suspect && q.judged) violated("request " + std::to_string(q.number) + " started after it was answered");
  q.started = &w;
  q.has_read.clear();
  q.found = found_by(q, w);
  q.started_generation = core_->memory.generation();
  if (q.starts > q.deadly) return;
  random_bits r(seed_, deadly_stream + record.steps);
  w.steps_to_death = repetitive_ ? 1 : r.between(1, r.percent(50) ? 3 : 20);
  w.dies_of = ticket;
}

void simulation::request_joins(std::uint64_t ticket, simulated_worker& w) {
  const auto found = by_ticket_.find(ticket);
  if (found == by_ticket_.end()) return;
  found->second->started = &w;
  found->second->found = found_by(*found->second, w);
  found->second->started_generation = core_->memory.generation();
  found->second->joined = true;
  ++found->second->presumed;
}

void simulation::request_finished(std::uint64_t ticket, simulated_worker& w) {
  record.note("finishes", ticket, w.id);
  if (const auto found = by_ticket_.find(ticket); found != by_ticket_.end()) found->second->finished = &w;
}

void simulation::request_failed(std::uint64_t ticket, simulated_worker& w) {
  record.note("fails", ticket, w.id);
  if (const auto found = by_ticket_.find(ticket); found != by_ticket_.end()) found->second->failed_by_worker = true;
}

void simulation::part_is_gone(std::uint64_t ticket, simulated_worker& w) {
  const auto found = by_ticket_.find(ticket);
  if (found == by_ticket_.end()) return;
  const request& q = *found->second;
  if (!q.suspect && !w.dishonest && q.starts + q.presumed < 2)
    violated("a part of an upload is gone that nobody had begun before: request " + std::to_string(q.number));
}

void simulation::request_hits_wall(std::uint64_t ticket, simulated_worker& w) {
  record.note("hits a wall", ticket, w.id);
  const auto found = by_ticket_.find(ticket);
  if (found == by_ticket_.end()) return;
  const request& q = *found->second;
  // A liar may have said of a seal, or of its end, that it was done before its turn.
  const bool by_liar = q.writes && q.writes->of->seal.by_liar;
  // One that has missed a message about memory is about to be ended for it.
  if (!q.suspect && !w.dishonest && !by_liar && !w.missed_memory)
    violated("request " + std::to_string(found->second->number) + " writes what its worker may only read");
}

std::vector<model_buffer::cell> simulation::inputs_of(const request& q) {
  std::vector<model_buffer::cell> all;
  for (const use& u : q.reads)
    for (std::uint32_t i = u.begin; i < u.begin + u.count; ++i) all.push_back(u.of->before(q.number, i));
  return all;
}

// What it must have read.
void simulation::find(const request& q, std::vector<word>& values, bool& certain) const {
  for (const model_buffer::cell& c : q.has_read.empty() ? inputs_of(q) : q.has_read) {
    if (c.state == content::lost) violated("request " + std::to_string(q.number) + " has read what was lost");
    if (c.state == content::pending)
      violated("request " + std::to_string(q.number) + " was answered before one that it depends on");
    certain &= c.state == content::known;
    values.push_back(c.value);
  }
}

bool simulation::misses_input(const request& q) {
  for (const use& u : q.reads)
    for (std::uint32_t i = u.begin; i < u.begin + u.count; ++i)
      if (u.of->before(q.number, i).state == content::lost) return true;
  return false;
}

bool simulation::may_miss_input(const request& q) {
  for (const use& u : q.reads)
    for (std::uint32_t i = u.begin; i < u.begin + u.count; ++i)
      if (u.of->may_be_lost(q.number, i)) return true;
  return false;
}

void simulation::judge_success(request& q) {
  ++record.answers;
  record.note("fine", q.number, q.reply);
  if (q.what >= kind::seal && q.suspect) q.reads.front().of->seal.by_liar = true;
  if (q.what == kind::seal) judge_seal(q);
  if (q.suspect) {
    if (q.writes) q.writes->of->settle(q.number, content::doubtful);
    return;
  }
  if (q.finished == nullptr) violated("success of request " + std::to_string(q.number) + ", which nobody has finished");
  std::vector<word> found, written;
  bool certain = true;
  find(q, found, certain);
  simulated::hash_of_words h;
  h.mix(found);
  const auto wrong = [&](const char* what) {
    violated(std::string(what) + " of request " + std::to_string(q.number) + " is wrong");
  };
  switch (q.what) {
    case kind::fill:
      written.assign(q.writes->count, q.param);
      break;
    case kind::upload:
      written = q.data;
      break;
    case kind::download:
      if (certain && q.downloaded != found) wrong("the data");
      break;
    case kind::copy:
      written = found;
      break;
    case kind::add:
      written = found;
      for (word& w : written) w += q.param;
      break;
    case kind::combine:
      for (std::uint32_t i = 0; i < q.writes->count; ++i) written.push_back(31 * found[i] + found[i + q.writes->count]);
      break;
    case kind::gather:
      written.push_back(0);
      for (const word w : found) written[0] += w;
      break;
    case kind::ping:
      if (q.reply != q.param) wrong("the answer");
      break;
    case kind::fence:
      for (const request& earlier : requests_)
        if (earlier.number < q.number && earlier.answer && !earlier.called && earlier.ticket != 0)
          violated("a sync was answered before request " + std::to_string(earlier.number));
      break;
    case kind::unseal:
      written = found;
      break;
    case kind::look:
    case kind::seal:
      break;
    case kind::spoil:
      wrong("the success");
  }
  if (certain && !found.empty() && q.what >= kind::add && q.what <= kind::look && q.reply != h.value)
    wrong("what was read: the answer");
  if (q.writes) q.writes->of->settle(q.number, certain ? content::known : content::any, written);
}

// What is there from now on stays, unless a liar says that it is sealed.
void simulation::judge_seal(request& q) {
  const use& u = q.reads.front();
  model_buffer::sealing& s = u.of->seal;
  if (q.param != s.changes) return;  // it was ended before it was answered
  s.done = true;
  const auto* now = reinterpret_cast<const word*>(q.memory.front().first);
  s.content.assign(now, now + (q.suspect ? 0 : u.count));
  if (q.suspect) return u.of->doubt();
  for (std::uint32_t i = 0; i < u.count; ++i)
    if (const auto c = u.of->before(q.number, i); c.state == content::known && c.value != now[i])
      violated("what is sealed is not what was written: request " + std::to_string(q.number));
}

void simulation::check_seals() const {
  for (const held& h : buffers_) {
    const model_buffer::sealing& s = h.model->seal;
    if (h.handle.sealed() != s.done)
      violated(s.done ? "a buffer is not sealed any more" : "a buffer is sealed that should not be");
    if (s.done && !s.content.empty() &&
        std::memcmp(reinterpret_cast<const void*>(h.handle.memory().address), s.content.data(),
                    s.content.size() * sizeof(word)) != 0)
      violated("what was sealed has changed");
  }
}

void simulation::judge_failure(request& q) {
  ++record.failures;
  record.note("failed", q.number, static_cast<std::uint64_t>(q.why->reaction()));
  // Where a liar has said that it is sealed, what it holds is taken for good.
  const bool sealed_by_liar = q.writes && q.writes->of->seal.by_liar && q.writes->of->seal.done;
  if (q.writes) q.writes->of->settle(q.number, sealed_by_liar ? content::doubtful : content::lost);
  if (q.suspect) return;
  if (!had_to_fail(q)) violated("request " + std::to_string(q.number) + " failed without a reason: " + q.why->text());
}

bool simulation::had_to_fail(const request& q) const {
  // Others of the same call may have been left; the counter moves with the last.
  const bool finished = q.finished != nullptr && q.finished == q.started && !q.joined;
  if (finished && !q.finished->was_unkillable && !q.finished->dishonest) return false;
  // What is uploaded waits in memory that a broken worker can write.
  const bool upload_lost = q.what == kind::upload && options_.salvage == salvage::strict && generation_ != q.generation;
  const bool died_in_it =
      q.started != nullptr && q.started->dead && (q.starts + q.presumed > q.retries || q.what == kind::add);
  return q.cancelled || upload_lost || loop_->time >= q.deadline || q.failed_by_worker || died_in_it || gave_up() ||
         closing_now_ || may_miss_input(q);
}

void simulation::judge_refusal(request& q) {
  record.note("was refused", q.number, static_cast<std::uint64_t>(q.why->reaction()));
  if (q.writes) q.writes->of->settle(q.number, content::lost);
  if (q.why->chain().empty() && q.why->text().find("with the same data") != std::string::npos)
    in_quarantine_.push_back(&q);
  else if (!core_->takes.refusing() && q.why->reaction() != reaction::retry_later && !q.forbidden && !may_miss_input(q))
    violated("request " + std::to_string(q.number) + " was refused without a reason: " + q.why->text());
}

// Nobody is refused for what others have sent. Its data are known when all before it are answered.
void simulation::check_quarantine() {
  std::erase_if(in_quarantine_, [this](const request* q) {
    const auto with = inputs_of(*q);
    if (std::any_of(with.begin(), with.end(), [](const auto& c) { return c.state == content::pending; })) return false;
    if (!is_like_one_that_died(*q))
      violated("request " + std::to_string(q->number) + " is in quarantine without a reason: " + q->why->text());
    return true;
  });
}

// Once no timer is due any more. Where a liar may have written the state of a request, nothing is known; and an
// operation whose input has failed counts as started, though nobody has run it.
void simulation::check_deadlines() {
  if (distrust_ || loop_->due()) return;
  for (std::size_t i = first_open_; i < requests_.size(); ++i) {
    const request& q = requests_[i];
    const auto waits = [&] { return q.answer && q.ticket != 0 && !q.called && !q.answer->done() && cancellable(q); };
    if (loop_->time < q.deadline || !waits()) continue;
    core_->answers.drive();
    if (waits())
      violated("request " + std::to_string(q.number) +
               " is not answered although its time-out passed before it started");
  }
}

std::vector<word> simulation::found_by(const request& q, const simulated_worker& w) {
  std::vector<word> all;
  for (std::size_t i = 0; i < q.reads.size(); ++i) {  // their places come before those of what is written
    const auto [address, bytes] = q.memory[i];
    if (!w.knows(address, bytes)) return {};
    const auto* const words = reinterpret_cast<const word*>(address);
    all.insert(all.end(), words, words + bytes / sizeof(word));
  }
  return all;
}

// Where something was written past the requests, nobody can tell.
bool simulation::is_like_one_that_died(const request& q) const {
  if (options_.quarantine_after == 0) return false;
  if (wild_ || garbage_) return true;
  const bool has_param = q.what == kind::fill || q.what == kind::add || q.what == kind::ping;
  const auto with = inputs_of(q);
  return std::any_of(requests_.begin(), requests_.end(), [&](const request& other) {
    const bool died = other.starts + other.presumed > 1 || (other.started != nullptr && other.started->dead);
    if (!died || other.number >= q.number || other.what != q.what || (has_param && other.param != q.param) ||
        other.data != q.data || other.found.size() != with.size())
      return false;
    for (std::size_t i = 0; i < with.size(); ++i)
      if (with[i].state == content::known && with[i].value != other.found[i]) return false;
    return true;
  });
}

// Answers that came in one step came in this order: what had finished, the loss, what failed of it.
void simulation::check() {
  const bool distrust = distrust_ || (shown_ != nullptr && shown_->dishonest);
  bool some = false;
  for (std::size_t i = first_open_; i < requests_.size(); ++i) {
    request& q = requests_[i];
    if (!q.answer || q.judged) continue;
    if (!q.called && !q.continued && q.answer->done()) q.take(*q.answer, q);
    // A download may be decided about and wait for its data, and a sync for a download.
    if (distrust && (q.called || q.what == kind::fence)) q.suspect = true;
    q.doubted |= distrust && q.what == kind::download;
    q.suspect |= q.doubted && q.called;
    if (!q.called || q.how == outcome::failed) continue;
    if (q.what >= kind::seal) --q.reads.front().of->seal.under_way;
    judge_success(q);
    q.judged = some = true;
  }
  const std::uint64_t generation = core_->memory.generation();
  if (generation != generation_ && distrust)
    for (request& q : requests_) q.presumed += !q.called;
  if (generation != generation_) judge_loss(generation);
  for (std::size_t i = first_open_; i < requests_.size(); ++i) {
    request& q = requests_[i];
    if (!q.answer || q.judged || !q.called) continue;
    if (q.what >= kind::seal) --q.reads.front().of->seal.under_way;
    if (q.ticket != 0)
      judge_failure(q);
    else
      judge_refusal(q);
    q.judged = some = true;
  }
  while (first_open_ < requests_.size() && (requests_[first_open_].judged || !requests_[first_open_].answer))
    ++first_open_;
  if (accused_ != nullptr && !gave_up())
    violated("worker " + std::to_string(accused_->id) + " was killed although it served well");
  accused_ = nullptr;
  check_state();
  check_quarantine();
  check_seals();
  check_deadlines();
  if (some && first_open_ == requests_.size()) check_validity();
  distrust_ = shown_ != nullptr && shown_->dishonest;
}

void simulation::judge_loss(std::uint64_t generation) {
  record.note("generation", generation);
  ++record.recoveries;
  if (generation != generation_ + 1) violated("two generations in one step");
  generation_ = generation;
  // What a download has read may still be on its way to its place.
  for (std::size_t i = first_open_; i < requests_.size(); ++i)
    if (request& q = requests_[i]; q.what == kind::download && q.finished != nullptr && !q.called && q.has_read.empty())
      q.has_read = inputs_of(q);
  if (options_.salvage == salvage::strict || gave_up())
    for (const auto& m : models_)
      if (m->generation < generation) m->lose();
  const std::int64_t window = options_.restart_window.nanoseconds;
  recoveries_.push_back(loop_->time);
  if (!gave_up() && recoveries_within(window) > options_.restarts)
    violated("the device was restarted more often than it may be");
}

std::size_t simulation::recoveries_within(std::int64_t window) const {
  return static_cast<std::size_t>(
      std::count_if(recoveries_.begin(), recoveries_.end(), [&](auto t) { return t + window > loop_->time; }));
}

void simulation::check_state() {
  constexpr std::int64_t slack = 10'000'000'000;  // the device has counted a little earlier, when it saw the fault
  const device_state now = core_->events.state();
  if (now == device_state::stopped && state_ != device_state::stopped && !closing_) {
    const bool may = state_ == device_state::starting || options_.isolation == isolation::thread ||
                     recoveries_within(options_.restart_window.nanoseconds + slack) > options_.restarts || unendable();
    if (!may) violated("the device gave up too early: " + core_->takes.refusal().text());
  }
  if (state_ == device_state::stopped && now != device_state::stopped) recoveries_.clear();
  if (now != state_) record.note("state", static_cast<std::uint64_t>(now));
  state_ = now;
}

bool simulation::unendable() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->was_unkillable; });
}

// With nothing under way: what can be read is what was written, and no less.
void simulation::check_validity() {
  if (core_->takes.refusing()) return;
  for (const held& h : buffers_) {
    bool lost = false, doubtful = false;
    for (std::uint32_t i = 0; i < h.model->size(); ++i) {
      const content c = h.model->before(numbers_ + 1, i).state;
      lost |= c == content::lost;
      doubtful |= c == content::doubtful;
    }
    if (doubtful) continue;
    if (lost && h.handle.valid()) violated("a buffer is valid although its content is lost");
    if (!lost && !h.handle.valid())
      violated("a buffer is not valid although nothing of it is lost: " + h.handle.cause()->text());
  }
}

}  // namespace troupe::simulation
