// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "interpreter.hpp"

#include <algorithm>
#include <map>

namespace graph_test {
namespace {

using troupe::access_mode;

// A stale buffer adds to the text of the failure; ignore that.
// Advice that requests add on the way does not make it another failure.
failure_id id_of(const troupe::error& e) {
  std::string text = e.text();
  if (const std::size_t kept = text.find(" did not run: keep_content"); kept != text.npos)
    text.resize(text.rfind(" (", kept));
  if (const std::size_t keeps = text.find(" and keeps the rest"); keeps != text.npos)
    text.resize(text.rfind("; ", keeps));
  return {std::move(text), e.request().name, e.request().ticket};
}

bool starts(const std::string& text, std::string_view with) { return text.compare(0, with.size(), with) == 0; }

bool too_late(const std::string& text) {
  return starts(text, "cancelled before it started") || starts(text, "its time-out passed while it waited");
}

// A time-out or cancellation is one failure, whichever side worded it. The words of errors that no caller received are
// unknown.
bool same(const failure_id& x, const failure_id& y) {
  if (x.ticket != y.ticket || x.name != y.name) return false;
  return x.text == y.text || (x.ticket != 0 && (x.text.empty() || (too_late(x.text) && too_late(y.text))));
}

}  // namespace

interpreter::interpreter(const graph_plan& plan, bool may_be_full) : may_be_full_(may_be_full) {
  for (const buffer_plan& b : plan.buffers)
    buffers_.push_back({std::vector<std::byte>(b.bytes), std::vector<std::uint16_t>(b.bytes), false, b.host});
}

std::uint16_t interpreter::new_stain(stain s) {
  stains_.push_back(std::move(s));
  return static_cast<std::uint16_t>(stains_.size() - 1);
}

interpreter::stain interpreter::with(stain old, const std::vector<failure_id>& more, bool perhaps) {
  for (const failure_id& f : more)
    if (std::find(old.causes.begin(), old.causes.end(), f) == old.causes.end()) old.causes.push_back(f);
  old.perhaps = perhaps;
  return old;
}

void interpreter::set(const place& p, std::uint16_t stain) {
  memory& m = buffers_[static_cast<std::size_t>(p.buffer)];
  if (stain == 0 && !m.stained) return;
  m.stained = true;
  std::fill_n(m.stains.begin() + static_cast<std::ptrdiff_t>(p.first), p.bytes, stain);
}

// Gives each byte of the place the stain that `change` makes of its present one, given whether the byte is clean.
template <class F>
void interpreter::restain(const place& p, F&& change) {
  memory& m = buffers_[static_cast<std::size_t>(p.buffer)];
  m.stained = true;
  std::map<std::uint16_t, std::uint16_t> made;
  for (std::uint64_t i = p.first; i < p.first + p.bytes; ++i) {
    const auto [found, fresh] = made.try_emplace(m.stains[i], std::uint16_t{0});
    if (fresh) found->second = new_stain(change(stains_[m.stains[i]], m.stains[i] == 0));
    m.stains[i] = found->second;
  }
}

void interpreter::spoil_outputs(const step& s, stain why, bool accepted) {
  for (const use& u : uses_of(s)) {
    if (u.mode == access_mode::read) continue;
    if (u.mode == access_mode::write && accepted) {
      set(u.where, new_stain(why));
    } else {
      // Nothing has replaced the bytes: what spoiled them before may still be reported to a reader.
      restain(u.where, [&](stain old, bool) {
        return with(std::move(old), why.causes, why.perhaps && (old.causes.empty() || old.perhaps));
      });
    }
    tell_refusals(u.where);
  }
  justify_refusals();
}

// Something has been spoiled, which may be the reason for a refusal in progress.
void interpreter::justify_refusals() {
  for (refusal& r : refusals_) {
    if (r.over || r.justified) continue;
    bool definite;
    r.justified = !stain_of(uses_of(r.what), true, definite).causes.empty();
  }
}

void interpreter::clean_outputs(const step& s) {
  for (const use& u : uses_of(s)) {
    if (u.mode == access_mode::read) continue;
    set(u.where, 0);
    tell_refusals(u.where);
  }
}

// A refusal in progress may come after the bytes written just now: then they are spoiled anyway.
void interpreter::tell_refusals(const place& written) {
  for (refusal& r : refusals_) {
    if (r.over) continue;
    for (const use& theirs : uses_of(r.what)) {
      if (theirs.mode == access_mode::read || theirs.where.buffer != written.buffer) continue;
      const std::uint64_t first = std::max(written.first, theirs.where.first);
      const std::uint64_t last = std::min(written.first + written.bytes, theirs.where.first + theirs.where.bytes);
      if (first >= last) continue;
      const place both{written.buffer, first, last - first};
      r.written.push_back(both);
      restain(both, [&](stain old, bool clean) {
        return with(std::move(old), {id_of(*r.came_to.why)}, clean || old.perhaps);
      });
    }
  }
}

interpreter::stain interpreter::stain_of(const std::vector<use>& uses, bool reads_only, bool& definite) const {
  stain out{true, {}};
  definite = false;
  for (const use& u : uses) {
    const memory& m = buffers_[static_cast<std::size_t>(u.where.buffer)];
    if (!m.stained || (reads_only && u.mode == access_mode::write)) continue;
    std::uint16_t last = 0;
    for (std::uint64_t i = u.where.first; i < u.where.first + u.where.bytes; ++i) {
      if (m.stains[i] == last || m.stains[i] == 0) continue;
      last = m.stains[i];
      definite |= !stains_[last].perhaps;
      for (const failure_id& c : stains_[last].causes)
        if (std::find(out.causes.begin(), out.causes.end(), c) == out.causes.end()) out.causes.push_back(c);
    }
  }
  out.perhaps = !definite;
  return out;
}

bool interpreter::explains(const place& p, const troupe::error& e) const {
  bool definite;
  const stain s = stain_of({{p, access_mode::read}}, true, definite);
  return std::any_of(s.causes.begin(), s.causes.end(), [&](const failure_id& c) { return same(c, id_of(e)); });
}

// Returns true if the step fails by itself with good inputs.
bool interpreter::own_failure(const step& s) const {
  return s.what == kind::fail || s.what == kind::unknown || s.what == kind::outside || overlaps(s);
}

failure_id interpreter::own_failure_id(const step& s, const outcome& o) const {
  const bool from = s.a.buffer >= 0 && buffers_[static_cast<std::size_t>(s.a.buffer)].host;
  const bool to = s.b.buffer >= 0 && buffers_[static_cast<std::size_t>(s.b.buffer)].host;
  failure_id id{o.why ? o.why->text() : std::string(), request_name(s, from, to), o.ticket};
  if (s.what == kind::fail && !overlaps(s)) id.text = "step " + std::to_string(s.number) + " was asked to fail";
  return id;
}

bool interpreter::is_own_failure(const step& s, const outcome& o) const {
  const troupe::error& e = *o.why;
  if (s.what == kind::outside) return o.ticket == 0 && starts(e.text(), "slice: first");
  if (overlaps(s))
    return o.ticket == 0 && e.text().find("overlaps") != std::string::npos &&
           e.reaction() == troupe::reaction::caller_bug;
  if (o.ticket == 0 || !(id_of(e) == own_failure_id(s, o)) || !e.chain().empty()) return false;
  if (s.what == kind::unknown) return e.reaction() == troupe::reaction::unsupported;
  return s.value % 2 == 1 ? e.reaction() == troupe::reaction::fatal
                          : e.reaction() == troupe::reaction::unsupported && e.code() == 42 && e.domain() == "flow";
}

bool interpreter::is_matter_of_time(const step& s, const outcome& o) const {
  const troupe::error& e = *o.why;
  if (e.reaction() != troupe::reaction::retry_later || !e.chain().empty()) return false;
  if (o.ticket == 0)
    return (s.timed && starts(e.text(), "its time-out passed while it waited")) ||
           (may_be_full_ && e.text().find("mailbox") != std::string::npos);
  return s.how == sent::keep && too_late(e.text()) && e.request().ticket == o.ticket;
}

std::string interpreter::propagated(const step& s, const outcome& o, const stain& found) const {
  const troupe::error& e = *o.why;
  const bool from = s.a.buffer >= 0 && buffers_[static_cast<std::size_t>(s.a.buffer)].host;
  const bool to = s.b.buffer >= 0 && buffers_[static_cast<std::size_t>(s.b.buffer)].host;
  if (found.causes.empty()) return "it failed, but all it reads is good: " + e.to_string();
  if (std::none_of(found.causes.begin(), found.causes.end(), [&](const failure_id& c) { return same(c, id_of(e)); })) {
    std::string out =
        "it failed with a failure that has not spoiled what it reads: " + e.to_string() + "; what spoiled it:";
    for (const failure_id& c : found.causes) out += "\n    " + c.name + " " + std::to_string(c.ticket) + ": " + c.text;
    return out;
  }
  const std::string name = request_name(s, from, to);
  if (e.chain().empty() || (e.chain().size() < 16 && e.chain().back().name != name))
    return "the chain of its error does not end with it: " + e.to_string();
  return {};
}

std::string interpreter::run(const step& s, const outcome& o) {
  if (s.what == kind::await || s.what == kind::cancel) return {};
  if (s.what == kind::renew) {
    memory& m = buffers_[static_cast<std::size_t>(s.b.buffer)];
    m = {std::vector<std::byte>(s.b.bytes), std::vector<std::uint16_t>(s.b.bytes), false, s.host};
    return {};
  }
  if (s.what == kind::look) return o.answered ? answer_of(s, o) : std::string();
  bool definite;
  stain found = stain_of(uses_of(s), true, definite);
  const bool own = own_failure(s);
  if (!o.answered) {  // a tell, or an answer that nothing collected
    if (own && (!definite || s.what != kind::fail)) found.causes.push_back(own_failure_id(s, o));
    if (definite || own) {
      spoil_outputs(s, {false, std::move(found.causes)}, true);
    } else {
      apply(s);
      if (found.causes.empty())
        clean_outputs(s);
      else
        spoil_outputs(s, {true, std::move(found.causes)}, true);
    }
    return {};
  }
  if (!o.why) {
    if (definite)
      return "it succeeded, but reads what " + found.causes.front().name + " " +
             std::to_string(found.causes.front().ticket) + " has spoiled: " + found.causes.front().text;
    if (own) return "it succeeded, but must fail";
    if (std::string wrong = answer_of(s, o); !wrong.empty()) return wrong;
    apply(s);
    clean_outputs(s);
    return {};
  }
  if (!(own && is_own_failure(s, o)) && !is_matter_of_time(s, o)) {
    if (std::string wrong = propagated(s, o, found); !wrong.empty()) return wrong;
  } else if (definite && s.what == kind::fail && o.ticket != 0 && is_own_failure(s, o)) {
    return "it ran, but reads what was spoiled: " + found.causes.front().text;
  }
  spoil_outputs(s, {false, {id_of(*o.why)}}, o.ticket != 0);
  return {};
}

int interpreter::begin_refusal(const step& s, const outcome& o) {
  bool definite;
  const bool itself = (own_failure(s) && is_own_failure(s, o)) || is_matter_of_time(s, o);
  const bool justified = itself || !stain_of(uses_of(s), true, definite).causes.empty();
  // From here on its outputs may be spoiled, or not yet.
  for (const use& u : uses_of(s)) {
    if (u.mode == access_mode::read) continue;
    restain(u.where,
            [&](stain old, bool clean) { return with(std::move(old), {id_of(*o.why)}, clean || old.perhaps); });
  }
  justify_refusals();
  refusals_.push_back({s, o, justified});
  return static_cast<int>(refusals_.size() - 1);
}

std::string interpreter::end_refusal(int number) {
  refusal& r = refusals_[static_cast<std::size_t>(number)];
  r.over = true;
  const failure_id mine = id_of(*r.came_to.why);
  for (const use& u : uses_of(r.what)) {
    if (u.mode == access_mode::read) continue;
    // Bytes that no step has written since it began are certainly spoiled now.
    std::vector<bool> rewritten(u.where.bytes);
    for (const place& p : r.written)
      for (std::uint64_t i = p.first; p.buffer == u.where.buffer && i < p.first + p.bytes; ++i)
        if (i >= u.where.first && i < u.where.first + u.where.bytes) rewritten[i - u.where.first] = true;
    for (std::uint64_t i = 0, n; i < u.where.bytes; i += n) {
      for (n = 1; i + n < u.where.bytes && rewritten[i + n] == rewritten[i];) ++n;
      if (!rewritten[i])
        restain({u.where.buffer, u.where.first + i, n},
                [&](stain old, bool) { return with(std::move(old), {mine}, false); });
    }
  }
  return r.justified ? std::string()
                     : "it was refused, but all it reads was good all the time: " + r.came_to.why->to_string();
}

}  // namespace graph_test
