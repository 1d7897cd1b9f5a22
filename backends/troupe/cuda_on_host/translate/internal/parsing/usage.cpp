// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A use is classified as a read only if the tokens around it prove it. A use that is not understood is classified as a
// leak.
#include <algorithm>
#include <troupe/cuda_on_host/translate/internal/parsing/token_context.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/usage.hpp>

namespace troupe::cuda_on_host {

namespace {

constexpr std::size_t most_steps = 64;    // brackets and operators that are followed outward from a name
constexpr std::size_t most_lambdas = 32;  // each lambda is searched for in the whole function

// Returns true for a binary operator that leaves its operands unchanged if it is the built-in operator. & is handled
// separately.
bool is_binary(const token& t) noexcept {
  constexpr std::string_view all[] = {
      "+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "|", "^", "&&", "||", "==", "!=", "and", "or"};
  return std::any_of(std::begin(all), std::end(all), [&](std::string_view o) { return t.is(o); });
}

bool ends_argument(const token& t) noexcept {
  return t.is(")") || t.is(",") || t.is("]") || t.is("}") || t.is(";") || t.is(":");
}

class finder : token_context {
 public:
  finder(const token_list& source, const unit& u, std::size_t parameters, std::size_t begin, std::size_t end,
         const std::unordered_set<std::string_view>& casts)
      : token_context(source, u, begin, end, casts) {
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
    if (u_.has_hidden_uses || inspects_types_) leak_everything();
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
  // Matches a lambda that takes numbers by value, auto f = [...](int a, auto b) { ... }, provided that nothing else has
  // its name.
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
    for (std::size_t i = begin_; i < end_; ++i)  // it must be declared once, and called everywhere else
      if (i != name && s_[i].is(s_[name].text) && !is_member(s_, i) &&
          (!s_[i + 1].is("(") || (s_[i - 1].is_identifier() && !is_word_before_expression(s_[i - 1].text))))
        return;
    lambdas_[s_[name].text] = true;
  }

  // Matches T& r = x; T& r(x); T (&r) = x; for (T& r : x); auto& [a, b] = x. Every name after such a reference may be
  // bound to it.
  void reference(std::size_t i) {
    std::size_t behind = i + 1;
    bool is_sure = false;  // true if no expression can look like this
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
    std::size_t examined = 0;
    for (std::size_t k = behind + 1; k < end_ && !s_[k].is(";"); ++k) {
      if (++examined > longest_reference) return leak_everything();
      if (s_[k].is("[") && (s_[k - 1].is_identifier() || s_[k - 1].is(")") || s_[k - 1].is("]"))) {
        k = s_.closing(k);
      } else if (s_[k].is_identifier() && !is_member(s_, k)) {
        out_.all[s_[k].text].push_back({.at = k, .end = k + 1});
      }
    }
  }

  void leak_everything() {
    for (std::size_t k = begin_; k < end_ && !everything_; ++k)
      if (s_[k].is_identifier()) out_.all[s_[k].text].push_back({.at = k, .end = k + 1});
    everything_ = true;
  }

  void name(std::size_t i) {
    name_use use{.at = i};
    // Finds the end of the whole operand: its name, members and subscripts.
    std::size_t last = i;
    for (;;) {
      if (s_[last + 1].is(".") && s_[last + 2].is_identifier()) {
        last += 2;
        use.has_member = true;
      } else if (s_[last + 1].is("->") && s_[last + 2].is_identifier()) {
        use.through |= last == i;
        if (use.has_member && use.pointee == 0) use.pointee = last + 1;
        use.has_member = true;
        last += 2;
      } else if (s_[last + 1].is("[") && s_.closing(last + 1) < end_) {
        if (use.has_member && use.pointee == 0) use.pointee = last + 1;
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
      // the name is being declared, or follows a word such as return
      if (before.is_identifier() && !is_statement_end(before)) return use_kind::read;
      if (is_binary(before) || before.is("!") || before.is("~")) return use_kind::read;
      if (before.is(")")) {
        const std::size_t open = s_.closing(first - 1);
        if (open >= first) return use_kind::leaked;
        if (is_control(open)) return use_kind::read;
        if (s_[first - 2].is("&") || s_[first - 2].is("&&")) return use_kind::leaked;
        if (is_number_cast(open, first - 1)) return use_kind::read;
        first = open;  // a cast, (T)x
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

  // Classifies x = e: if the whole expression is used, it means x itself, and its use may modify or keep x.
  use_kind assignment(std::size_t first, std::size_t level, std::size_t& steps) {
    const token& before = s_[first - 1];
    if (before.is("return") || before.is("co_return")) return use_kind::leaked;
    const bool chosen = before.is("?") || before.is(":");
    if (!chosen && level > 0 && is_block(level)) return use_kind::assigned;
    return around(first, level, steps, chosen) == use_kind::read ? use_kind::assigned : use_kind::leaked;
  }

  // Returns what happens to the value of the innermost open bracket, if the operand may be its whole value. `chosen`:
  // ?: selects one of two variables, of which the operand is one.
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

  // Classifies the operand of &x, or of y & x.
  use_kind ampersand(std::size_t first, std::size_t last, std::size_t level) const {
    const token& prior = s_[first - 2];
    if (prior.kind == token_kind::number || prior.kind == token_kind::literal || prior.is("]")) return use_kind::read;
    if (prior.is_identifier() && !is_word_before_expression(prior.text)) return use_kind::read;
    if (prior.is(")") && is_value(s_.closing(first - 2), first - 2)) return use_kind::read;
    const token& behind = s_[last + 1];
    const bool alone = (prior.is("(") || prior.is(",")) && (behind.is(")") || behind.is(","));
    if (alone && level > 0 && drops_addresses(open_[level - 1])) return use_kind::lent;
    return use_kind::leaked;
  }

  bool returns_values_ = false;  // the returned values of the current lambda are numbers
  bool inspects_types_ = false;  // decltype((x)) occurs, which is a reference
  bool everything_ = false;      // every use is classified as a leak
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
