// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cuda_on_host/translate/internal/parsing/token_context.hpp>

namespace troupe::cuda_on_host {

namespace {

// Returns true for library functions that keep their arguments' addresses or change their arguments.
bool is_odd_function(std::string_view name) noexcept {
  return name == "swap" || name == "exchange" || name == "addressof" || name == "move" || name == "forward" ||
         name == "ref" || name == "tie" || name == "__builtin_addressof" || name == "__builtin_launder" ||
         name.starts_with("__builtin_va_") || name.starts_with("va_");
}

}  // namespace

bool token_context::declares(std::size_t i) const {
  std::size_t depth = 0, steps = 0;
  while (i-- > begin_ && ++steps < longest_angles) {
    const token& t = s_[i];
    if (depth == 0 && is_statement_end(t)) return true;
    if (t.is(")")) {
      const std::size_t open = s_.closing(i);
      return depth == 0 && open < i && is_control_word(s_[open - 1].text);
    }
    if (t.is("(")) return depth != 0 || s_[i - 1].is("for");
    if (t.is(">")) {
      ++depth;
    } else if (t.is(">>")) {
      depth += 2;
    } else if (t.is("<")) {
      if (depth == 0) return false;
      --depth;
    } else if (depth == 0 && !t.is_identifier() && !t.is("::") && !t.is("*")) {
      return false;
    }
  }
  return true;
}

bool token_context::may_bind(std::size_t i) const {
  std::size_t begin = i, steps = 0;
  bool assigned = false;
  for (; begin > begin_; --begin) {
    if (++steps > longest_reference) return true;
    const token& t = s_[begin - 1];
    if (t.is("=")) assigned = true;
    if (is_statement_end(t) && !t.is("}")) break;
    if (t.is("(") || t.is("[")) break;  // of a for, if or while
    if (t.is(")") || t.is("]") || t.is("}")) {
      const std::size_t open = s_.closing(begin - 1);
      if (open >= begin) return true;
      if (t.is(")") && is_control(open)) break;
      if (t.is("}") && !s_[open - 1].is("=") && !s_[begin].is(",")) break;  // the end of a block before this statement
      begin = open + 1;
    }
  }
  if (!assigned) return false;
  while (s_[begin].is("const") || s_[begin].is("constexpr") || s_[begin].is("static")) ++begin;
  const token &type = s_[begin], &next = s_[begin + 1];
  if (!type.is_identifier()) return type.is("::");
  if (is_plain(begin) || casts_.contains(type.text)) return false;
  if (type.is("auto")) return false;  // auto& was handled before
  if (type.is("typename") || next.is("::") || next.is("<")) return true;
  return next.is_identifier();
}

bool token_context::is_value(std::size_t open, std::size_t close, int deeper) const {
  if (open >= close) return false;
  const token& t = s_[open - 1];
  if (t.is_identifier() && !is_control_word(t.text) && !is_word_before_expression(t.text) && !t.is("decltype"))
    return true;  // a call
  if (s_[open + 1].is("(") || s_[open + 1].kind == token_kind::number) return true;
  bool operates = false;
  for (std::size_t i = open + 1; i < close; ++i) {
    // a [ after a name is a subscript, because there are no casts to arrays
    const bool subscript = s_[i].is("[") && s_[i - 1].is_identifier();
    if (s_[i].is("<") || (s_[i].is("[") && !subscript) || s_[i].is("{")) return false;
    if (s_[i].is("(") || subscript) i = s_.closing(i);
    operates |= s_[i].kind == token_kind::number || s_[i].is("+") || s_[i].is("-") || s_[i].is("/") || s_[i].is("%") ||
                s_[i].is("==") || s_[i].is("!=") || s_[i].is("^") || s_[i].is("|") || s_[i].is("||") || s_[i].is(".");
    const bool may_be_of_type = s_[i].is("*") || s_[i].is("&") || s_[i].is("&&");
    operates |= may_be_of_type && s_[i + 1].is("(") && deeper > 0 && is_value(i + 1, s_.closing(i + 1), deeper - 1);
    operates |= may_be_of_type && s_[i + 1].is_identifier() && !s_[i + 1].is("const") && !s_[i + 1].is("volatile") &&
                !s_[i + 1].is("__restrict__") && !s_[i + 1].is("__restrict") && !is_number_word(s_[i + 1].text);
  }
  return operates;
}

bool token_context::is_number_cast(std::size_t open, std::size_t close) const {
  for (std::size_t i = open + 1; i < close; ++i)
    if (!s_[i].is("*") && !s_[i].is("const") && !is_number(s_[i].text)) return false;
  return open + 1 < close && !s_[open + 1].is("*");
}

bool token_context::is_plain(std::size_t i) const {
  return (is_number(s_[i].text) || (is_vector_word(s_[i].text) && !u_.names.contains(s_[i].text))) && !is_member(s_, i);
}

bool token_context::is_block(std::size_t level) const {
  for (; level > 0; --level) {
    const std::size_t open = open_[level - 1];
    if (!s_[open].is("{")) return false;
    const token& before = s_[open - 1];
    if (open <= begin_) return true;
    if (before.is(";") || before.is("}") || before.is("else") || before.is("do") || before.is("mutable") ||
        before.kind == token_kind::pragma)
      return true;
    if (before.is(")")) {
      const std::size_t paren = s_.closing(open - 1);
      return paren < open && (is_control(paren) || s_[paren - 1].is("]"));
    }
    if (before.is("]")) return s_.closing(open - 1) < open && !s_[s_.closing(open - 1) - 1].is_identifier();
    if (!before.is("{")) return false;
  }
  return false;
}

bool token_context::braces_take_values(std::size_t level) const {
  for (; level > 0; --level) {
    std::size_t at = open_[level - 1];
    if (!s_[at].is("{")) return false;
    const token& before = s_[at - 1];
    if (before.is("{") || before.is(",")) continue;
    --at;
    const bool assigned = s_[at].is("=");
    if (assigned) --at;
    if (!assigned && is_plain(at)) return true;
    while (s_[at].is("]") && s_.closing(at) < at) at = s_.closing(at) - 1;
    return s_[at].is_identifier() && is_plain(at - 1);
  }
  return false;
}

bool token_context::takes_values(std::size_t paren) const {
  std::size_t at = paren - 1;
  bool has_angles = false;
  if (s_[at].is(">")) {
    has_angles = true;
    std::size_t depth = 0, steps = 0;
    bool only_numbers = true;
    for (; at > begin_ && ++steps < longest_angles; --at) {
      const token& t = s_[at];
      if (t.is("&") || t.is("&&")) return false;
      if (t.is(">")) ++depth;
      if (t.is(">>")) depth += 2;
      if (t.is("<") && --depth == 0) break;
      if (t.is_identifier() && !is_number(t.text) && !t.is("const") && !u_.is_constant(t.text) &&
          !casts_.contains(t.text))
        only_numbers = false;
    }
    if (!s_[at].is("<") || !only_numbers) return false;
    --at;
  }
  const token& t = s_[at];
  if (has_angles && (t.is("static_cast") || t.is("reinterpret_cast"))) return true;
  if (!t.is_identifier()) return false;
  if (!has_angles && (is_number(t.text) || casts_.contains(t.text))) return true;
  if (s_[at - 1].is(".") || s_[at - 1].is("->")) return false;
  if (s_[at - 1].is("::") && (s_[at - 2].is_identifier() || s_[at - 2].is(">"))) return false;
  if (const auto lambda = lambdas_.find(t.text); lambda != lambdas_.end()) return lambda->second && !has_angles;
  if (u_.functions.contains(t.text))
    return !u_.takes_references.contains(t.text) && !u_.classes.contains(t.text) && !variables_.contains(t.text);
  return is_foreign(t.text);
}

bool token_context::is_foreign(std::string_view function) const {
  return !u_.names.contains(function) && !u_.uses_foreign_namespace && !variables_.contains(function) &&
         !is_odd_function(function) && !is_word_before_expression(function) && function != "decltype";
}

bool token_context::drops_addresses(std::size_t paren) const {
  constexpr std::string_view all[] = {"sincos", "sincosf", "sincospi", "sincospif", "__sincosf", "modf",   "modff",
                                      "frexp",  "frexpf",  "remquo",   "remquof",   "memcpy",    "memset", "memmove"};
  const std::size_t at = paren - 1;
  if (!s_[paren].is("(") || !is_foreign(s_[at].text) || !s_[s_.closing(paren) + 1].is(";")) return false;
  if (std::find(std::begin(all), std::end(all), s_[at].text) == std::end(all)) return false;
  if (is_statement_end(s_[at - 1])) return true;
  return s_[at - 1].is(")") && s_.closing(at - 1) < at && is_control(s_.closing(at - 1));
}

}  // namespace troupe::cuda_on_host
