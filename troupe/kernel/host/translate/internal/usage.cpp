// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/kernel/host/translate/internal/usage.hpp>

#include <unordered_set>

namespace troupe::kernel {

namespace {

bool is_assignment(const token& t) noexcept {
  if (t.kind != token_kind::punctuator || !t.text.ends_with('=')) return false;
  return t.text != "==" && t.text != "!=" && t.text != "<=" && t.text != ">=";
}
bool is_step(const token& t) noexcept { return t.is("++") || t.is("--"); }
bool ends_operand(const token& t) noexcept {
  return t.kind == token_kind::number || t.kind == token_kind::literal || t.is(")") || t.is("]") ||
         (t.is_identifier() && !t.is("return") && !t.is("case") && !t.is("else") && !t.is("do"));
}
bool is_control(const token& t) noexcept {
  return t.is("if") || t.is("while") || t.is("for") || t.is("switch") || t.is("sizeof") || t.is("decltype") ||
         t.is("alignof") || t.is("constexpr") || t.is("return") || t.is("noexcept") || t.is("static_assert");
}
bool is_type_word(const token& t) noexcept {
  return t.is("int") || t.is("unsigned") || t.is("float") || t.is("double") || t.is("long") || t.is("short") ||
         t.is("char") || t.is("bool") || t.is("size_t") || t.is("signed");
}

class writes {
 public:
  writes(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin, std::size_t end)
      : s_(source), u_(u), begin_(begin), end_(end) {
    for (std::size_t i = parameters; i < end; ++i)
      if (s_[i].is_identifier() && !s_[i + 1].is("(") && !is_member(s_, i)) variables_.insert(s_[i].text);
  }

  written_names run() {
    for (std::size_t i = begin_; i < end_; ++i) {
      const token& t = s_[i];
      if (t.is("&") || t.is("&&")) reference(i);
      if (t.is_identifier() && !is_member(s_, i) && !is_type_word(t)) name(i);
      if (t.is("(") || t.is("[") || t.is("{")) open_.push_back(i);
      if ((t.is(")") || t.is("]") || t.is("}")) && !open_.empty()) open_.pop_back();
    }
    return std::move(out_);
  }

 private:
  // T& r = x; T& r(x); for (T& r : x); auto& [a, b] = x: everything named behind it.
  void reference(std::size_t i) {
    std::size_t behind = i + 1;
    if (s_[behind].is("[") && s_[i - 1].is_identifier())
      behind = s_.closing(behind);
    else if (!s_[behind].is_identifier())
      return;
    const token& next = s_[behind + 1];
    if (!next.is("=") && !next.is("(") && !next.is("{") && !next.is(":")) return;
    if (next.is("(") && !s_[i - 1].is_identifier() && !s_[i - 1].is(">")) return;
    std::size_t seen = 0;
    for (std::size_t k = behind + 1; k < end_ && !s_[k].is(";") && ++seen < 256; ++k)
      if (s_[k].is_identifier() && !is_member(s_, k)) out_.at[s_[k].text].push_back(k);
  }

  void name(std::size_t i) {
    // The whole operand: name, members, subscripts.
    std::size_t last = i;
    bool element = false;
    for (;;) {
      if (s_[last + 1].is(".") && s_[last + 2].is_identifier()) {
        last += 2;
      } else if (s_[last + 1].is("->") && s_[last + 2].is_identifier()) {
        last += 2;
        element = true;
      } else if (s_[last + 1].is("[") && s_.closing(last + 1) < end_) {
        last = s_.closing(last + 1);
        element = true;
      } else {
        break;
      }
    }
    std::size_t first = i;
    std::size_t level = open_.size();
    // (x) is x.
    while (s_[first - 1].is("(") && s_[last + 1].is(")") && level > 0 && open_[level - 1] == first - 1 &&
           !is_call(first - 1) && !is_control(s_[first - 2])) {
      --first;
      ++last;
      --level;
    }
    if (writes_to(first, last, level, last != i)) (element ? out_.elements_at : out_.at)[s_[i].text].push_back(i);
  }

  bool writes_to(std::size_t first, std::size_t last, std::size_t level, bool has_members) {
    const token &before = s_[first - 1], &behind = s_[last + 1];
    if (is_assignment(behind) || is_step(behind) || is_step(before)) return true;
    if (before.is("&") && !ends_operand(s_[first - 2])) return true;
    if (has_members && behind.is("(")) return true;  // a member function may change it
    if (before.is("?") || before.is(":") || behind.is(":")) return level > 0 && is_call(open_[level - 1]);
    const bool alone =
        (before.is("(") || before.is(",") || before.is("{")) && (behind.is(")") || behind.is(",") || behind.is("}"));
    if (!alone || level == 0) return false;
    const std::size_t bracket = open_[level - 1];
    if (s_[bracket].is("{")) return true;
    return s_[bracket].is("(") && is_call(bracket) && !takes_values(bracket);
  }

  bool is_call(std::size_t paren) const noexcept {
    const token& t = s_[paren - 1];
    return s_[paren].is("(") && ((t.is_identifier() && !is_control(t)) || t.is(">") || t.is(")") || t.is("]"));
  }

  // Whether what is called cannot take references: a cast, or a function that is not the user's.
  bool takes_values(std::size_t paren) const {
    std::size_t at = paren - 1;
    if (s_[at].is(">")) {
      std::size_t depth = 0, steps = 0;
      while (at > begin_ && ++steps < 128) {
        if (s_[at].is("&") || s_[at].is("&&")) return false;
        if (s_[at].is(">")) ++depth;
        if (s_[at].is("<") && --depth == 0) break;
        --at;
      }
      if (at > begin_) --at;
    }
    const token& t = s_[at];
    if (t.is("static_cast") || t.is("reinterpret_cast")) return true;
    if (!t.is_identifier() || t.is("swap") || t.is("exchange")) return false;
    if (u_.names.contains(t.text) &&
        (!u_.functions.contains(t.text) || u_.takes_references.contains(t.text) || u_.classes.contains(t.text)))
      return false;
    if (is_member(s_, at) && !(s_[at - 1].is("::") && !s_[at - 2].is_identifier() && !s_[at - 2].is(">"))) return false;
    return !variables_.contains(t.text) || is_type_word(t);
  }

  const token_list& s_;
  const unit& u_;
  const std::size_t begin_, end_;
  std::unordered_set<std::string_view> variables_;  // identifiers that stand without a parenthesis behind them
  std::vector<std::size_t> open_;
  written_names out_;
};

}  // namespace

bool is_member(const token_list& s, std::size_t i) noexcept {
  return i > 0 && (s[i - 1].is(".") || s[i - 1].is("->") || s[i - 1].is("::"));
}

written_names find_written(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin,
                           std::size_t end) {
  return writes(source, u, parameters, begin, end).run();
}

}  // namespace troupe::kernel
