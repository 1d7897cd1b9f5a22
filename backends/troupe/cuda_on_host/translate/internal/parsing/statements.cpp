// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/statements.hpp>

#include <algorithm>

namespace troupe::cuda_on_host {

namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t most_jumps = 64;  // each jump is searched for in the whole loop

std::size_t skip(const token_list& s, std::size_t i, std::size_t close, std::size_t depth) {
  if (i >= close || depth > deepest) return i;
  const token& t = s[i];
  if (t.kind == token_kind::pragma) {
    const std::size_t end = skip(s, i + 1, close, depth + 1);
    return end == i + 1 ? i : end;
  }
  if (t.is("{")) return s.closing(i) + 1;
  if (t.is("if") || t.is("for") || t.is("while") || t.is("switch")) {
    std::size_t open = i + 1;
    if (s[open].is("constexpr")) ++open;
    if (!s[open].is("(")) return i;
    const std::size_t inner = s.closing(open) + 1;
    std::size_t end = skip(s, inner, close, depth + 1);
    if (end == inner) return i;
    if (t.is("if") && s[end].is("else")) {
      const std::size_t other = skip(s, end + 1, close, depth + 1);
      return other == end + 1 ? i : other;
    }
    return end;
  }
  if (t.is("do")) {
    const std::size_t end = skip(s, i + 1, close, depth + 1);
    if (end == i + 1 || !s[end].is("while") || !s[end + 1].is("(")) return i;
    return s[s.closing(end + 1) + 1].is(";") ? s.closing(end + 1) + 2 : i;
  }
  if (t.is("else") || t.is("case") || t.is("default") || t.is("try") || t.is("catch")) return i;
  if (t.is_identifier() && s[i + 1].is(":")) return i;  // the : of a label
  for (; i < close; ++i) {
    if (s[i].is(";")) return i + 1;
    if (s[i].is("(") || s[i].is("[") || s[i].is("{")) {
      i = s.closing(i);
    } else if (s[i].is("}")) {
      break;
    }
  }
  return i;
}

class parser {
 public:
  parser(const token_list& source, std::size_t open) : s_(source), open_(open), close_(source.closing(open)) {}

  body_outline run() {
    body_outline out;
    // The number of barriers before each token, so that one subtraction counts the barriers in a range.
    before_.resize(close_ - open_ + 2);
    for (std::size_t i = open_; i <= close_; ++i)
      before_[i - open_ + 1] = before_[i - open_] + (s_[i].is("__syncthreads") ? 1 : 0);
    out.whole = compound(open_, 0);
    out.obstacle = std::move(obstacle_);
    return out;
  }

 private:
  bool has_barrier(std::size_t begin, std::size_t end) const noexcept {
    end = std::min(end, close_ + 1);
    return begin < end && before_[end - open_] != before_[begin - open_];
  }

  statement set_obstacle(std::size_t at, const std::string& what) {
    if (obstacle_.empty()) obstacle_ = cat("line ", s_[at].line, ": ", what);
    statement rest{.begin = at, .end = close_};
    return rest;
  }

  statement compound(std::size_t open, std::size_t depth) {
    statement out{.kind = statement::form::compound, .begin = open, .end = s_.closing(open) + 1};
    std::size_t i = open + 1;
    while (i + 1 < out.end && obstacle_.empty()) {
      out.inner.push_back(one(i, depth + 1));
      i = out.inner.back().end;
    }
    return out;
  }

  statement one(std::size_t i, std::size_t depth) {
    if (depth > deepest) return set_obstacle(i, "a barrier is nested too deeply");
    const std::size_t begin = i;
    while (s_[i].kind == token_kind::pragma) ++i;
    std::size_t end = skip(i);
    if (end == i || end > close_) return set_obstacle(i, "a statement that is not understood");
    if (!has_barrier(begin, end)) return {.begin = begin, .end = end};

    const token& t = s_[i];
    if (t.is("__syncthreads") && s_[i + 1].is("(") && s_[i + 2].is(")") && s_[i + 3].is(";"))
      return {.kind = statement::form::barrier, .begin = i, .end = i + 4};
    if (t.is("{")) return compound(i, depth);
    if (t.is("if")) return branch(i, depth);
    if (t.is("for")) return for_loop(i, depth);
    if (t.is("while") && s_[i + 1].is("(")) {
      statement out{
          .kind = statement::form::while_loop, .begin = i, .condition = i + 2, .condition_end = s_.closing(i + 1)};
      out.inner.push_back(one(out.condition_end + 1, depth + 1));
      out.end = out.inner.back().end;
      return checked(out);
    }
    if (t.is("do")) {
      statement out{.kind = statement::form::do_loop, .begin = i};
      out.inner.push_back(one(i + 1, depth + 1));
      const std::size_t after = out.inner.back().end;
      if (!s_[after].is("while") || !s_[after + 1].is("("))
        return set_obstacle(after, "a statement that is not understood");
      out.condition = after + 2;
      out.condition_end = s_.closing(after + 1);
      out.end = out.condition_end + 2;
      return checked(out);
    }
    return set_obstacle(i, "a barrier inside of " +
                               (t.is_identifier() ? "'" + std::string(t.text) + "'" : std::string("an expression")));
  }

  statement branch(std::size_t i, std::size_t depth) {
    statement out{.kind = statement::form::branch, .begin = i};
    ++i;
    if (s_[i].is("constexpr")) {
      out.is_constexpr = true;
      ++i;
    }
    if (!s_[i].is("(")) return set_obstacle(i, "a statement that is not understood");
    out.condition = i + 1;
    out.condition_end = s_.closing(i);
    out.inner.push_back(one(out.condition_end + 1, depth + 1));
    if (s_[out.inner.back().end].is("else")) out.inner.push_back(one(out.inner.back().end + 1, depth + 1));
    out.end = out.inner.back().end;
    return checked(out);
  }

  statement for_loop(std::size_t i, std::size_t depth) {
    if (!s_[i + 1].is("(")) return set_obstacle(i, "a statement that is not understood");
    const std::size_t close = s_.closing(i + 1);
    std::size_t semicolons[2] = {0, 0}, found = 0;
    for (std::size_t k = i + 2; k < close; ++k) {
      if (s_[k].is("(") || s_[k].is("[") || s_[k].is("{"))
        k = s_.closing(k);
      else if (s_[k].is(";") && found < 2)
        semicolons[found++] = k;
    }
    if (found != 2) return set_obstacle(i, "a barrier inside of a loop over a range");
    statement out{.kind = statement::form::for_loop, .begin = i};
    out.start = i + 2;
    out.start_end = semicolons[0];
    out.condition = semicolons[0] + 1;
    out.condition_end = semicolons[1];
    out.step = semicolons[1] + 1;
    out.step_end = close;
    out.inner.push_back(one(close + 1, depth + 1));
    out.end = out.inner.back().end;
    return checked(out);
  }

  // Refuses barriers in the head of a statement, and jumps that leave or repeat a loop around a barrier.
  statement checked(statement out) {
    if (has_barrier(out.condition, out.condition_end) || has_barrier(out.start, out.start_end) ||
        has_barrier(out.step, out.step_end))
      return set_obstacle(out.begin, "a barrier in a condition");
    if (out.kind == statement::form::branch || !obstacle_.empty()) return out;
    std::size_t jumps = 0;
    for (std::size_t i = out.inner[0].begin; i < out.inner[0].end; ++i) {
      const bool jump = s_[i].is("break") || s_[i].is("continue");
      if (jump && ++jumps > most_jumps) return set_obstacle(i, "too many jumps in a loop around a barrier");
      if ((s_[i].is("break") || s_[i].is("continue")) && belongs_to(out.inner[0], i))
        return set_obstacle(i, "'" + std::string(s_[i].text) + "' in a loop around a barrier");
    }
    return out;
  }

  // Returns true if a jump at `at` belongs to the loop with this body, that is, if no other loop or switch is in
  // between. Statements without barriers are searched as a whole, which may return true wrongly.
  bool belongs_to(const statement& body, std::size_t at) const {
    if (body.kind == statement::form::plain) {
      for (std::size_t i = body.begin; i < at; ++i) {
        const bool inner_loop =
            s_[i].is("for") || s_[i].is("while") || s_[i].is("do") || (s_[i].is("switch") && s_[at].is("break"));
        if (!inner_loop) continue;
        const std::size_t end = skip(i);
        if (at < end) return false;
      }
      return true;
    }
    if (body.kind == statement::form::compound || body.kind == statement::form::branch) {
      for (const statement& s : body.inner)
        if (at >= s.begin && at < s.end) return belongs_to(s, at);
    }
    return false;  // a barrier; or a loop, which checks the jumps in its own body
  }

  std::size_t skip(std::size_t i) const { return statement_end(s_, i, close_); }

  const token_list& s_;
  const std::size_t open_, close_;
  std::vector<std::uint32_t> before_;
  std::string obstacle_;
};

}  // namespace

body_outline outline(const token_list& source, std::size_t open) { return parser(source, open).run(); }

std::size_t statement_end(const token_list& source, std::size_t begin, std::size_t limit) {
  return skip(source, begin, limit, 0);
}

}  // namespace troupe::cuda_on_host
