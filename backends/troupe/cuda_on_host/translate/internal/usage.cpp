// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A use is a read only if the tokens around it prove it; a use that is not understood is a leak.
#include <algorithm>
#include <troupe/cuda_on_host/translate/internal/usage.hpp>

namespace troupe::cuda_on_host {

namespace {

constexpr std::size_t most_steps = 64;       // steps outward from a name
constexpr std::size_t longest_angles = 128;  // tokens back to the < of f<...>(x)
constexpr std::size_t longest_reference = 256;
constexpr std::size_t most_lambdas = 32;  // each is looked for in the whole function

bool is_statement_end(const token& t) noexcept {
  return t.is(";") || t.is("{") || t.is("}") || t.kind == token_kind::pragma || t.is("else") || t.is("do");
}

// An operator between two operands that leaves both alone, when it is the language's own. & is looked at elsewhere.
bool is_binary(const token& t) noexcept {
  constexpr std::string_view all[] = {
      "+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "|", "^", "&&", "||", "==", "!=", "and", "or"};
  return std::any_of(std::begin(all), std::end(all), [&](std::string_view o) { return t.is(o); });
}

bool ends_argument(const token& t) noexcept {
  return t.is(")") || t.is(",") || t.is("]") || t.is("}") || t.is(";") || t.is(":");
}

// Functions that are not the user's and yet give away addresses, or change what they get.
bool is_odd_function(std::string_view name) noexcept {
  return name == "swap" || name == "exchange" || name == "addressof" || name == "move" || name == "forward" ||
         name == "ref" || name == "tie" || name == "__builtin_addressof" || name == "__builtin_launder" ||
         name.starts_with("__builtin_va_") || name.starts_with("va_");
}

class finder {
 public:
  finder(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin, std::size_t end,
         const std::unordered_set<std::string_view>& casts)
      : s_(source), u_(u), begin_(begin), end_(end), casts_(casts) {
    for (std::size_t i = parameters; i < end; ++i) {
      const token& t = s_[i];
      if (!t.is_identifier()) continue;
      const bool declares = s_[i - 1].is_identifier() && !is_word_before_expression(s_[i - 1].text);
      if (!is_member(s_, i) && (!s_[i + 1].is("(") || (declares && i > begin))) variables_.insert(t.text);
      if (t.is("return") && !s_[i + 1].is(";")) returns_values_ = true;
      if (t.is("decltype") || t.is("__decltype") || t.is("typeof") || t.is("__typeof__") || t.is("__typeof"))
        inspects_types_ = true;
    }
    for (std::size_t i = begin; i < end; ++i)
      if (s_[i].is("auto") && s_[i + 1].is_identifier() && s_[i + 2].is("=") && s_[i + 3].is("[")) value_lambda(i + 1);
  }

  name_uses run() {
    if (u_.is_odd || inspects_types_) leak_everything();
    for (std::size_t i = begin_; i < end_; ++i) {
      const token& t = s_[i];
      if (t.is("&") || t.is("&&")) reference(i);
      if (t.is_identifier() && !is_member(s_, i) && !is_number_word(t.text)) name(i);
      if (t.is("(") || t.is("[") || t.is("{")) open_.push_back(i);
      if ((t.is(")") || t.is("]") || t.is("}")) && !open_.empty()) open_.pop_back();
    }
    return std::move(out_);
  }

 private:
  // auto f = [...](int a, auto b) { ... }: takes numbers by value, if that is the only thing of its name.
  void value_lambda(std::size_t name) {
    const std::size_t open = s_.closing(name + 2) + 1;
    if (!lambdas_.emplace(s_[name].text, false).second) {
      lambdas_[s_[name].text] = false;
      return;
    }
    if (!s_[open].is("(") || s_.closing(open) >= end_ || lambdas_.size() > most_lambdas) return;
    for (std::size_t i = open + 1; i < s_.closing(open); ++i)
      if (!s_[i].is(",") && !s_[i].is("const") && !s_[i].is("auto") && !is_number(s_[i].text) &&
          !(s_[i].is_identifier() && (s_[i + 1].is(",") || i + 1 == s_.closing(open))))
        return;
    for (std::size_t i = begin_; i < end_; ++i)  // declared once, and called everywhere else
      if (i != name && s_[i].is(s_[name].text) && !is_member(s_, i) &&
          (!s_[i + 1].is("(") || (s_[i - 1].is_identifier() && !is_word_before_expression(s_[i - 1].text))))
        return;
    lambdas_[s_[name].text] = true;
  }

  // T& r = x; T& r(x); T (&r) = x; for (T& r : x); auto& [a, b] = x: everything named behind it may be bound.
  void reference(std::size_t i) {
    std::size_t behind = i + 1;
    bool is_sure = false;  // no expression looks like this
    if (s_[behind].is("[") && s_[i - 1].is_identifier()) {
      behind = s_.closing(behind);
    } else if (s_[behind].is("(")) {
      behind = s_.closing(behind);
      is_sure = s_[behind + 1].is("=") || s_[behind + 1].is("{");
    } else if (!s_[behind].is_identifier()) {
      return;
    } else if (s_[i - 1].is("(") && s_[behind + 1].is(")")) {
      ++behind;
      while (s_[behind + 1].is("[")) behind = s_.closing(behind + 1);
    }
    if (behind >= end_) return;
    const token& next = s_[behind + 1];
    is_sure |= next.is("=") || next.is("{");
    if (next.is(":")) is_sure = !open_.empty() && s_[open_.back()].is("(") && s_[open_.back() - 1].is("for");
    if (!is_sure && !(next.is("(") && declares(i))) return;
    std::size_t seen = 0;
    for (std::size_t k = behind + 1; k < end_ && !s_[k].is(";"); ++k) {
      if (++seen > longest_reference) return leak_everything();
      if (s_[k].is("[") && (s_[k - 1].is_identifier() || s_[k - 1].is(")") || s_[k - 1].is("]"))) {
        k = s_.closing(k);
      } else if (s_[k].is_identifier() && !is_member(s_, k)) {
        out_.all[s_[k].text].push_back({.at = k, .end = k + 1});
      }
    }
  }

  // Whether nothing but a type stands between the beginning of a statement and `i`.
  bool declares(std::size_t i) const {
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

  void leak_everything() {
    for (std::size_t k = begin_; k < end_ && !everything_; ++k)
      if (s_[k].is_identifier()) out_.all[s_[k].text].push_back({.at = k, .end = k + 1});
    everything_ = true;
  }

  void name(std::size_t i) {
    name_use use{.at = i};
    // The whole operand: name, members, subscripts.
    std::size_t last = i;
    for (;;) {
      if (s_[last + 1].is(".") && s_[last + 2].is_identifier()) {
        last += 2;
        use.has_member = true;
      } else if (s_[last + 1].is("->") && s_[last + 2].is_identifier()) {
        use.through |= last == i;
        use.has_member = true;
        last += 2;
      } else if (s_[last + 1].is("[") && s_.closing(last + 1) < end_) {
        if (!use.has_member) ++use.subscripts;
        last = s_.closing(last + 1);
      } else {
        break;
      }
    }
    use.end = last + 1;
    use.through |= s_[i - 1].is("*") && !is_step(s_[last + 1]);
    use.kind = kind_of(i, last, open_.size(), &use.is_argument);
    out_.all[s_[i].text].push_back(use);
  }

  // Returns what happens to the operand of tokens [first, last], within the `level` innermost open brackets.
  use_kind kind_of(std::size_t first, std::size_t last, std::size_t level, bool* is_argument) {
    std::size_t steps = 0;
    return look(first, last, level, steps, is_argument);
  }

  use_kind look(std::size_t first, std::size_t last, std::size_t level, std::size_t& steps, bool* is_argument) {
    while (++steps < most_steps) {
      const token &before = s_[first - 1], &behind = s_[last + 1];
      if (is_step(behind)) return use_kind::assigned;
      if (behind.is("(") || behind.is(".") || behind.is("->") || behind.is(".*") || behind.is("->*") || behind.is("["))
        return use_kind::leaked;
      if (before.is("*")) return use_kind::read;
      if (is_assignment(behind)) return assignment(first, level, steps);
      if (is_step(before)) {
        const use_kind k = look(first - 1, last, level, steps, nullptr);
        return k == use_kind::read ? use_kind::assigned : k;
      }
      if (before.is("&")) return ampersand(first, last, level);
      if (behind.is("{")) return before.is_identifier() ? use_kind::read : use_kind::leaked;  // T x{...}
      if (is_binary(behind) || behind.is("?")) return use_kind::read;
      if (behind.is("&")) return s_[last + 2].is("&") ? use_kind::leaked : use_kind::read;
      if (!ends_argument(behind)) return use_kind::leaked;
      if (before.is("return") || before.is("co_return")) return use_kind::leaked;
      if (before.is_identifier() && !is_statement_end(before)) return use_kind::read;  // declared, or after a word
      if (is_binary(before) || before.is("!") || before.is("~")) return use_kind::read;
      if (before.is(")")) {
        const std::size_t open = s_.closing(first - 1);
        if (open >= first) return use_kind::leaked;
        if (is_control(open)) return use_kind::read;
        if (s_[first - 2].is("&") || s_[first - 2].is("&&")) return use_kind::leaked;
        if (is_number_cast(open, first - 1)) return use_kind::read;
        first = open;  // (T)x
        continue;
      }
      if (before.is("?") || before.is(":") || behind.is(":")) return around(first, level, steps, true);
      if (before.is("(") && behind.is(")") && level > 0 && open_[level - 1] == first - 1) {
        const std::size_t open = first - 1;
        if (!is_grouping(open)) {
          if (is_argument && drops_addresses(open)) *is_argument = true;
          return around(first, level, steps, false);
        }
        --first;
        ++last;
        --level;
        continue;
      }
      if (is_argument && level > 0 && drops_addresses(open_[level - 1]) && (before.is("(") || before.is(",")) &&
          (behind.is(")") || behind.is(",")))
        *is_argument = true;
      if (before.is("(") || before.is(",") || before.is("[") || before.is("=") || is_assignment(before) ||
          is_statement_end(before))
        return around(first, level, steps, false);
      return use_kind::leaked;
    }
    return use_kind::leaked;
  }

  // x = e: the whole expression is x itself, and e may modify or keep it.
  use_kind assignment(std::size_t first, std::size_t level, std::size_t& steps) {
    const token& before = s_[first - 1];
    if (before.is("return") || before.is("co_return")) return use_kind::leaked;
    const bool chosen = before.is("?") || before.is(":");
    if (!chosen && level > 0 && is_block(level)) return use_kind::assigned;
    return around(first, level, steps, chosen) == use_kind::read ? use_kind::assigned : use_kind::leaked;
  }

  // Returns what happens to a value in the innermost open bracket, if it may be the bracket's whole value. `chosen`: ?:
  // selects one of two variables.
  use_kind around(std::size_t first, std::size_t level, std::size_t& steps, bool chosen) {
    if (++steps >= most_steps || level == 0) return use_kind::leaked;
    const std::size_t open = open_[level - 1];
    if (s_[open].is("[")) return use_kind::read;
    if (s_[open].is("{")) {
      if (is_block(level)) return (chosen && returns_values_) || may_bind(first) ? use_kind::leaked : use_kind::read;
      return braces_take_values(level) ? use_kind::read : use_kind::leaked;
    }
    if (is_control(open)) return may_bind(first) ? use_kind::leaked : use_kind::read;
    if (is_unevaluated_word(s_[open - 1].text)) return use_kind::read;
    if (is_call(open)) return takes_values(open) ? use_kind::read : use_kind::leaked;
    const std::size_t close = s_.closing(open);
    if (close >= end_) return use_kind::leaked;
    return look(open, close, level - 1, steps, nullptr) == use_kind::read ? use_kind::read : use_kind::leaked;
  }

  // Returns true if the statement around `i` may declare a variable whose type names a reference, as in T r = x, or a
  // class that holds one.
  bool may_bind(std::size_t i) const {
    std::size_t begin = i, steps = 0;
    bool assigned = false;
    for (; begin > begin_; --begin) {
      if (++steps > longest_reference) return true;
      const token& t = s_[begin - 1];
      if (t.is("=")) assigned = true;
      if (is_statement_end(t) && !t.is("}")) break;
      if (t.is("(") || t.is("[")) break;  // of a for, if, while
      if (t.is(")") || t.is("]") || t.is("}")) {
        const std::size_t open = s_.closing(begin - 1);
        if (open >= begin) return true;
        if (t.is(")") && is_control(open)) break;
        if (t.is("}") && !s_[open - 1].is("=") && !s_[begin].is(",")) break;  // a block before this statement
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

  // &x, or y & x.
  use_kind ampersand(std::size_t first, std::size_t last, std::size_t level) const {
    const token& prior = s_[first - 2];
    if (prior.kind == token_kind::number || prior.kind == token_kind::literal || prior.is("]")) return use_kind::read;
    if (prior.is_identifier() && !is_word_before_expression(prior.text)) return use_kind::read;
    if (prior.is(")") && is_value(s_.closing(first - 2), first - 2)) return use_kind::read;
    const token& behind = s_[last + 1];
    const bool alone = (prior.is("(") || prior.is(",")) && (behind.is(")") || behind.is(","));
    if (alone && level > 0 && drops_addresses(open_[level - 1])) return use_kind::handed;
    return use_kind::leaked;
  }

  // Returns true if the parenthesis is certainly part of an expression, and not a type in a cast.
  bool is_value(std::size_t open, std::size_t close, int deeper = 16) const {
    if (open >= close) return false;
    const token& t = s_[open - 1];
    if (t.is_identifier() && !is_control_word(t.text) && !is_word_before_expression(t.text) && !t.is("decltype"))
      return true;  // a call
    if (s_[open + 1].is("(") || s_[open + 1].kind == token_kind::number) return true;
    bool operates = false;
    for (std::size_t i = open + 1; i < close; ++i) {
      const bool subscript = s_[i].is("[") && s_[i - 1].is_identifier();  // no cast to an array exists
      if (s_[i].is("<") || (s_[i].is("[") && !subscript) || s_[i].is("{")) return false;
      if (s_[i].is("(") || subscript) i = s_.closing(i);
      operates |= s_[i].kind == token_kind::number || s_[i].is("+") || s_[i].is("-") || s_[i].is("/") ||
                  s_[i].is("%") || s_[i].is("==") || s_[i].is("!=") || s_[i].is("^") || s_[i].is("|") ||
                  s_[i].is("||") || s_[i].is(".");
      const bool may_be_of_type = s_[i].is("*") || s_[i].is("&") || s_[i].is("&&");
      operates |= may_be_of_type && s_[i + 1].is("(") && deeper > 0 && is_value(i + 1, s_.closing(i + 1), deeper - 1);
      operates |= may_be_of_type && s_[i + 1].is_identifier() && !s_[i + 1].is("const") && !s_[i + 1].is("volatile") &&
                  !s_[i + 1].is("__restrict__") && !s_[i + 1].is("__restrict") && !is_number_word(s_[i + 1].text);
    }
    return operates;
  }

  bool is_control(std::size_t paren) const noexcept {
    return s_[paren].is("(") &&
           (is_control_word(s_[paren - 1].text) || (s_[paren - 1].is("constexpr") && s_[paren - 2].is("if")));
  }
  bool is_call(std::size_t paren) const noexcept {
    const token& t = s_[paren - 1];
    if (!s_[paren].is("(") || is_control(paren)) return false;
    return (t.is_identifier() && !is_word_before_expression(t.text)) || t.is(">") || t.is(")") || t.is("]") ||
           t.is("}");
  }
  bool is_grouping(std::size_t paren) const noexcept {
    return s_[paren].is("(") && !is_call(paren) && !is_control(paren);
  }
  bool is_number_cast(std::size_t open, std::size_t close) const {
    for (std::size_t i = open + 1; i < close; ++i)
      if (!s_[i].is("*") && !s_[i].is("const") && !is_number(s_[i].text)) return false;
    return open + 1 < close && !s_[open + 1].is("*");
  }
  bool is_number(std::string_view word) const { return is_number_word(word) && !u_.names.contains(word); }
  // Returns true if the token names the type of a number or vector.
  bool is_plain(std::size_t i) const {
    return (is_number(s_[i].text) || (is_vector_word(s_[i].text) && !u_.names.contains(s_[i].text))) &&
           !is_member(s_, i);
  }

  // Returns true if the brace opens a block of statements, false if it holds initial values.
  bool is_block(std::size_t level) const {
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

  // Returns true if the braces make a number, a vector, or an array of these: T x[2] = {a, b}, float4{a, b, c, d}.
  bool braces_take_values(std::size_t level) const {
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

  // Returns true if the call can neither change nor keep what its parentheses contain: a cast to a number, a function
  // of the user without reference parameters, or a function that is not the user's.
  bool takes_values(std::size_t paren) const {
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

  bool is_foreign(std::string_view function) const {
    return !u_.names.contains(function) && !u_.brings_names && !variables_.contains(function) &&
           !is_odd_function(function) && !is_word_before_expression(function) && function != "decltype";
  }

  // Returns true for f(...); if f is a function of the C library that writes through its arguments and does not keep
  // them.
  bool drops_addresses(std::size_t paren) const {
    constexpr std::string_view all[] = {"sincos", "sincosf", "sincospi", "sincospif", "__sincosf", "modf",   "modff",
                                        "frexp",  "frexpf",  "remquo",   "remquof",   "memcpy",    "memset", "memmove"};
    const std::size_t at = paren - 1;
    if (!s_[paren].is("(") || !is_foreign(s_[at].text) || !s_[s_.closing(paren) + 1].is(";")) return false;
    if (std::find(std::begin(all), std::end(all), s_[at].text) == std::end(all)) return false;
    if (is_statement_end(s_[at - 1])) return true;
    return s_[at - 1].is(")") && s_.closing(at - 1) < at && is_control(s_.closing(at - 1));
  }

  const token_list& s_;
  const unit& u_;
  const std::size_t begin_, end_;
  const std::unordered_set<std::string_view>& casts_;
  std::unordered_set<std::string_view> variables_;      // identifiers that occur without a parenthesis after them
  std::unordered_map<std::string_view, bool> lambdas_;  // declared here; true for those that take only values
  std::vector<std::size_t> open_;
  bool returns_values_ = false;   // of a lambda
  bool inspects_types_ = false;  // decltype((x)) is a reference
  bool everything_ = false;       // everything is leaked
  name_uses out_;
};

}  // namespace

const std::vector<name_use>& name_uses::of(std::string_view name) const {
  static const std::vector<name_use> none;
  const auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

bool name_uses::contains(std::string_view name) const {
  const auto& uses = of(name);
  return std::any_of(uses.begin(), uses.end(), [](const name_use& u) { return !u.leaves_pointer(); });
}

bool name_uses::contains_with_elements(std::string_view name) const {
  const auto& uses = of(name);
  return std::any_of(uses.begin(), uses.end(), [](const name_use& u) { return u.kind != use_kind::read; });
}

name_uses find_uses(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin, std::size_t end,
                    const std::unordered_set<std::string_view>& casts) {
  return finder(source, u, parameters, begin, end, casts).run();
}

}  // namespace troupe::cuda_on_host
