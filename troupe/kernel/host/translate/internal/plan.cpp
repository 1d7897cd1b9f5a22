// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/kernel/host/translate/internal/plan.hpp>

#include <algorithm>

namespace troupe::kernel {

namespace {

class planner {
 public:
  planner(const token_list& source, const unit& u, const level_variables& variables)
      : s_(source), u_(u), v_(variables) {}

  split_plan run(const body_outline& body) {
    for (const statement& s : body.whole.inner) add(s, out_.steps);
    close(out_.steps);
    look_at_uses();
    look_at_addresses(body.whole);
    return std::move(out_);
  }

 private:
  void give_up(std::size_t at, const std::string& what) {
    if (out_.obstacle.empty()) out_.obstacle = "line " + std::to_string(s_[at].line) + ": " + what;
  }

  // The region that takes the next statement.
  step& region(std::vector<step>& to) {
    if (to.empty() || to.back().kind != step::form::region || !open_) {
      to.push_back({.kind = step::form::region, .segment = new_segment()});
      open_ = true;
    }
    return to.back();
  }
  void close(std::vector<step>&) { open_ = false; }
  int new_segment() {
    out_.segments.emplace_back();
    ranges_.emplace_back();
    return static_cast<int>(out_.segments.size()) - 1;
  }

  void add_text(std::size_t begin, std::size_t end, std::vector<step>& to) {
    if (begin >= end) return;
    step& r = region(to);
    if (!r.text.empty() && r.text.back().second == begin)
      r.text.back().second = end;
    else
      r.text.emplace_back(begin, end);
    ranges_[static_cast<std::size_t>(r.segment)].emplace_back(begin, end);
  }

  // Something for the block as a whole comes before the region that is being filled, unless the region knows its names.
  void add_block(std::size_t begin, std::size_t end, std::vector<step>& to) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!s_[i].is_identifier() || is_member(s_, i)) continue;
      const int v = v_.meaning(s_[i].text, i);
      if (v >= 0 && v_.kept(v) != keeping::uniform)
        give_up(i, "a declaration for the block that depends on a variable of a thread");
    }
    step one{.kind = step::form::block_text};
    one.text.emplace_back(begin, end);
    if (open_ && !to.empty() && !shares_names(to.back(), begin, end)) {
      to.insert(to.end() - 1, std::move(one));
    } else {
      close(to);
      to.push_back(std::move(one));
    }
  }
  bool shares_names(const step& region, std::size_t begin, std::size_t end) const {
    std::set<std::string_view> names;
    for (std::size_t i = begin; i < end; ++i)
      if (s_[i].is_identifier()) names.insert(s_[i].text);
    std::size_t looked = 0;
    for (const token_range& r : region.text)
      for (std::size_t i = r.first; i < r.second; ++i) {
        if (++looked > 4096) return true;
        if (s_[i].is_identifier() && !is_member(s_, i) && v_.meaning(s_[i].text, i) < 0 && names.contains(s_[i].text) &&
            (s_[i + 1].is("=") || s_[i + 1].is(";")))
          return true;
      }
    return false;
  }

  void add(const statement& s, std::vector<step>& to) {
    switch (s.kind) {
      case statement::form::barrier:
        return close(to);
      case statement::form::plain:
        return add_plain(s.begin, s.end, to);
      case statement::form::compound: {
        close(to);
        step scope{.kind = step::form::scope};
        fill(s, scope.inner);
        to.push_back(std::move(scope));
        return;
      }
      case statement::form::branch: {
        close(to);
        step branch{.kind = step::form::branch, .is_constexpr = s.is_constexpr};
        add_condition(s, branch);
        fill(s.inner[0], branch.inner);
        if (s.inner.size() > 1) fill(s.inner[1], branch.other);
        to.push_back(std::move(branch));
        return;
      }
      case statement::form::for_loop: {
        close(to);
        step scope{.kind = step::form::scope};
        if (s.start < s.start_end) add_plain(s.start, s.start_end + 1, scope.inner);
        close(scope.inner);
        step loop{.kind = step::form::loop};
        add_condition(s, loop);
        fill(s.inner[0], loop.inner);
        add_steps(s, loop.after);
        scope.inner.push_back(std::move(loop));
        to.push_back(std::move(scope));
        return;
      }
      case statement::form::while_loop:
      case statement::form::do_loop: {
        close(to);
        step loop{.kind = s.kind == statement::form::do_loop ? step::form::do_loop : step::form::loop};
        add_condition(s, loop);
        fill(s.inner[0], loop.inner);
        to.push_back(std::move(loop));
        return;
      }
    }
  }

  // The steps of a statement that is the body of another.
  void fill(const statement& s, std::vector<step>& to) {
    if (s.kind == statement::form::compound)
      for (const statement& inner : s.inner) add(inner, to);
    else
      add(s, to);
    close(to);
  }

  void add_plain(std::size_t begin, std::size_t end, std::vector<step>& to) {
    if (const int d = v_.declared_at(begin); d >= 0) {
      if (v_.declarations()[static_cast<std::size_t>(d)].kept == keeping::uniform) return add_block(begin, end, to);
      return add_text(begin, end, to);
    }
    if (v_.is_uniform_update(begin, end - 1)) {
      close(to);
      to.push_back({.kind = step::form::block_text, .text = {{begin, end}}});
      return;
    }
    switch (classify(s_, begin, end).kind) {
      case statement_kind::shared:
      case statement_kind::block_wide:
        return add_block(begin, end, to);
      default:
        return add_text(begin, end, to);
    }
  }

  // The third part of for: each piece that changes a uniform variable once, the others for each thread.
  void add_steps(const statement& s, std::vector<step>& to) {
    std::size_t begin = s.step;
    for (std::size_t i = s.step; i <= s.step_end; ++i) {
      if (i != s.step_end && !s_[i].is(",")) {
        if (s_[i].is("(") || s_[i].is("[") || s_[i].is("{")) i = s_.closing(i);
        continue;
      }
      if (begin < i) {
        if (v_.is_uniform_update(begin, i)) {
          close(to);
          to.push_back({.kind = step::form::block_text, .text = {{begin, i}}});
        } else {
          add_text(begin, i, to);
          open_ = false;  // one expression for each region: they have no semicolons
        }
      }
      begin = i + 1;
    }
    close(to);
  }

  void add_condition(const statement& s, step& to) {
    to.condition = {s.condition, s.condition_end};
    to.is_uniform = s.is_constexpr || s.condition == s.condition_end || v_.is_uniform(s.condition, s.condition_end);
    if (to.is_uniform) return;
    if (classify(s_, s.condition, s.condition_end).kind != statement_kind::expression)
      give_up(s.begin, "a declaration in the condition of a statement around a barrier");
    to.segment = new_segment();
    ranges_[static_cast<std::size_t>(to.segment)].emplace_back(s.condition, s.condition_end);
  }

  // Which variables each segment uses, and so which of them live across barriers.
  void look_at_uses() {
    for (std::size_t n = 0; n < ranges_.size(); ++n)
      for (const token_range& r : ranges_[n])
        for (std::size_t i = r.first; i < r.second; ++i) {
          if (!s_[i].is_identifier() || is_member(s_, i)) continue;
          const int v = v_.meaning(s_[i].text, i);
          if (v < 0 || v_.kept(v) == keeping::uniform) continue;
          const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
          if (variable.shape.name_at == i && !variable.is_parameter) out_.segments[n].declares.insert(v);
          out_.segments[n].uses.insert(v);
        }
    for (segment& s : out_.segments) {
      std::vector<int> rest(s.uses.begin(), s.uses.end());
      while (!rest.empty()) {
        const int v = rest.back();
        rest.pop_back();
        if (s.declares.contains(v)) continue;
        out_.crossing.insert(v);
        if (v_.kept(v) == keeping::recomputed)
          for (const int other : made_of(v))
            if (s.uses.insert(other).second) rest.push_back(other);
      }
    }
    for (const int v : out_.crossing) {
      const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
      if (variable.is_parameter || v_.kept(v) != keeping::stored) continue;
      if (variable.shape.is_reference)
        give_up(variable.begin, "the reference '" + std::string(variable.name) + "' lives across a barrier");
      for (std::size_t i = variable.shape.begin; i < variable.shape.initialiser_end; ++i) {
        const bool in_shape = i < variable.shape.end;
        if (in_shape && s_[i].is_identifier() && i != variable.shape.name_at)
          if (const int o = v_.meaning(s_[i].text, i); o >= 0 && v_.kept(o) != keeping::uniform)
            give_up(i, "the size of '" + std::string(variable.name) + "' depends on a variable of a thread");
        if (!in_shape && s_[i].is("[") && !s_[i - 1].is_identifier() && !s_[i - 1].is(")") && !s_[i - 1].is("]"))
          give_up(i, "the lambda '" + std::string(variable.name) + "' lives across a barrier");
      }
      if (v_.declarations()[variable.declaration].text.is_auto &&
          (variable.shape.is_array || !variable.shape.is_assigned))
        give_up(variable.begin, "the type of '" + std::string(variable.name) + "' is not understood");
    }
  }

  std::vector<int> made_of(int v) const {
    std::vector<int> out;
    const level_declaration& d = v_.declarations()[v_.all()[static_cast<std::size_t>(v)].declaration];
    for (std::size_t i = d.begin; i < d.end; ++i) {
      if (!s_[i].is_identifier() || is_member(s_, i)) continue;
      const int o = v_.meaning(s_[i].text, i);
      if (o >= 0 && o != v && v_.kept(o) != keeping::uniform) out.push_back(o);
    }
    return out;
  }

  // The address of a variable that lives across barriers is another one in each region: it may be handed to a function
  // of ours, which does not keep it, and nothing else.
  void look_at_addresses(const statement& whole) {
    std::vector<std::size_t> open;
    std::size_t statement_begin = whole.begin;
    for (std::size_t i = whole.begin; i < whole.end; ++i) {
      if (s_[i].is("(") || s_[i].is("[") || s_[i].is("{")) open.push_back(i);
      if ((s_[i].is(")") || s_[i].is("]") || s_[i].is("}")) && !open.empty()) open.pop_back();
      if (s_[i].is(";") || s_[i].is("{") || s_[i].is("}")) statement_begin = i + 1;
      if (!s_[i].is_identifier() || is_member(s_, i)) continue;
      const int v = v_.meaning(s_[i].text, i);
      if (v < 0 || !out_.crossing.contains(v) || v_.kept(v) != keeping::stored) continue;
      const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
      if (variable.shape.name_at == i && !variable.is_parameter) continue;
      const token &before = s_[i - 1], &before_that = s_[i - 2];
      const bool address = before.is("&") &&
                           (before_that.kind == token_kind::punctuator && !before_that.is(")") && !before_that.is("]"));
      const bool decays = variable.shape.is_array && !s_[i + 1].is("[");
      if (!address && !decays) continue;
      const bool handed = !open.empty() && s_[open.back()].is("(") && s_[open.back() - 1].is_identifier() &&
                          !u_.names.contains(s_[open.back() - 1].text) && v_.meaning(s_[open.back() - 1].text, i) < 0 &&
                          open.back() - 1 == statement_begin;
      if (!handed)
        give_up(i, "the address of '" + std::string(variable.name) + "' is taken, which lives across a barrier");
    }
  }

  const token_list& s_;
  const unit& u_;
  const level_variables& v_;
  split_plan out_;
  std::vector<std::vector<token_range>> ranges_;  // of each segment
  bool open_ = false;                             // the last region takes more
};

}  // namespace

split_plan make_plan(const token_list& source, const unit& u, const body_outline& body,
                     const level_variables& variables) {
  return planner(source, u, variables).run(body);
}

}  // namespace troupe::kernel
