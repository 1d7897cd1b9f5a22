// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which variables are the same for all threads, and which can be computed again. Both are optimizations. A
// variable qualifies only if it is declared as a number or pointer, if its value consists of names known to mean
// numbers and pointers that do not change, and if every other use provably reads it.
#include <troupe/cuda_on_host/translate/internal/splitting/operands.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/variables.hpp>

namespace troupe::cuda_on_host {

// Begins with every variable that could be uniform, and removes those that depend on a variable that is not.
void level_variables::choose_storage() {
  for (level_declaration& d : declarations_)
    if (d.end > d.begin) d.storage = variable_storage::uniform;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < declarations_.size(); ++i)
      if (declarations_[i].storage == variable_storage::uniform && !may_be_uniform(declarations_[i], i)) {
        declarations_[i].storage = variable_storage::stored;
        changed = true;
      }
  }
  // In the order of their declarations, because a recomputed variable may use only variables before it.
  for (std::size_t i = 0; i < declarations_.size(); ++i) {
    level_declaration& d = declarations_[i];
    if (d.storage == variable_storage::stored && d.end > d.begin && may_be_recomputed(d, i))
      d.storage = variable_storage::recomputed;
  }
}

// Returns true for a number, or a pointer whose initial value has no side effects.
bool level_variables::is_scalar(const level_declaration& d, const declarator& one) const {
  if (one.is_array || one.is_reference || !one.is_assigned) return false;
  const type_form form = form_of(d.text, one);
  return form == type_form::number || form == type_form::pointer || (d.text.is_auto && !u_.has_operators);
}

bool level_variables::may_be_uniform(const level_declaration& d, std::size_t index) const {
  for (const declarator& one : d.text.declarators) {
    if (!is_scalar(d, one) || !is_uniform(one.initialiser, one.initialiser_end)) return false;
    const int v = find_variable(one.name, one.name_at);
    if (v < 0 || variables_[static_cast<std::size_t>(v)].declaration != index) return false;
    const std::size_t end = variables_[static_cast<std::size_t>(v)].end;
    for (const name_use& use : uses_.of(one.name)) {
      const std::size_t i = use.at;
      if (i == one.name_at || i < d.begin || i >= end || use.kind == use_kind::read) continue;
      if ((one.is_pointer || d.text.is_auto) && use.leaves_pointer()) continue;
      const auto update = updates_.find(i);
      if (use.kind != use_kind::assigned || update == updates_.end()) return false;
      const bool step = is_step(s_[i + 1]) || is_step(s_[i - 1]);
      if (step) continue;
      if (!is_uniform(i + 2, update->second)) return false;
      const bool divides = s_[i + 1].is("/=") || s_[i + 1].is("%=");
      if (divides && !(is_nonzero(s_[i + 2]) && i + 3 == update->second)) return false;
    }
  }
  return true;
}

bool level_variables::may_be_recomputed(const level_declaration& d, std::size_t index) const {
  for (const declarator& one : d.text.declarators) {
    const int v = find_variable(one.name, one.name_at);
    if (v < 0 || variables_[static_cast<std::size_t>(v)].declaration != index) return false;
    const std::size_t end = variables_[static_cast<std::size_t>(v)].end;
    if (!is_scalar(d, one) || !is_pure(one.initialiser, one.initialiser_end, true, d.begin, end)) return false;
    for (const name_use& use : uses_.of(one.name))
      if (use.at != one.name_at && use.at >= d.begin && use.at < end && use.kind != use_kind::read &&
          !((one.is_pointer || d.text.is_auto) && use.leaves_pointer()))
        return false;
  }
  return true;
}

bool level_variables::is_uniform_update(std::size_t begin, std::size_t end) const {
  while (begin < end && s_[begin].kind == token_kind::pragma) ++begin;
  const std::size_t name = is_step(s_[begin]) ? begin + 1 : begin;
  const auto update = updates_.find(name);
  if (update == updates_.end() || update->second != end) return false;
  const int v = find_variable(s_[name].text, name);
  return v >= 0 && storage_of(v) == variable_storage::uniform;
}

// Returns true if the expression has no loads, no side effects and nothing that can trap, and consists only of numbers:
// literals, constants, parameters that are never written, and uniform or, `with_threads`, recomputed variables.
bool level_variables::is_pure(std::size_t begin, std::size_t end, bool with_threads, std::size_t scope,
                              std::size_t scope_end) const {
  if (begin >= end) return false;
  for (std::size_t i = begin; i < end; ++i) {
    const token& t = s_[i];
    if (t.kind == token_kind::number) continue;
    if (t.kind == token_kind::literal) {
      if (t.text.ends_with('\'')) continue;
      return false;
    }
    if (t.is_identifier()) {
      if (t.is("sizeof") && s_[i + 1].is("(") && s_.closing(i + 1) < end) {
        i = s_.closing(i + 1);
      } else if (t.is("static_cast") && s_[i + 1].is("<")) {
        const std::size_t after = s_.after_angles(i + 1, end);
        if (after == i + 1) return false;
        for (std::size_t k = i + 2; k + 1 < after; ++k)
          if (!s_[k].is("const") && !(is_number_word(s_[k].text) && !u_.names.contains(s_[k].text))) return false;
        i = after - 1;
      } else if (!is_pure_name(i, with_threads, scope, scope_end)) {
        return false;
      }
      continue;
    }
    if (t.kind != token_kind::punctuator) return false;
    if (t.is("[") || t.is("]") || t.is("{") || t.is("}") || t.is("->") || t.is(".*") || t.is("->*") || is_step(t) ||
        t.is(";") || t.is("...") || is_assignment(t))
      return false;
    // * is a load and & takes an address, unless they follow an operand; after a parenthesis, they do if it is a cast.
    if ((t.is("*") || t.is("&")) && (i == begin || !ends_operand(s_[i - 1]) || is_cast(i - 1))) return false;
    // / and % may trap. A thread that recomputes a value has computed it before; but the block evaluates a uniform
    // value even if no thread would.
    if ((t.is("/") || t.is("%")) && !with_threads && !is_nonzero(s_[i + 1])) return false;
    if (t.is(",") && i == begin) return false;
  }
  return true;
}

// Returns true if the parenthesis that ends here may contain a type.
bool level_variables::is_cast(std::size_t close) const {
  if (!s_[close].is(")")) return false;
  const std::size_t open = s_.closing(close);
  if (open >= close) return true;
  const token& before = s_[open - 1];
  if (before.is_identifier() && !is_word_before_expression(before.text)) return false;  // a call, sizeof
  if (before.is(">")) return false;                                                     // as in static_cast<int>(x)
  for (std::size_t i = open + 1; i < close; ++i) {
    if (s_[i].kind == token_kind::number) return false;
    if (s_[i].is_identifier() && !is_number_word(s_[i].text) && !s_[i].is("const"))
      return false;  // the content is known to be a value
  }
  return true;
}

bool level_variables::is_constant_here(std::size_t i) const {
  const std::string_view name = s_[i].text;
  for (const local_name& c : constants_)
    if (c.name == name && i >= c.begin && i < c.end) return true;
  if (declared_.contains(name)) return false;
  if (templates_.numbers.contains(name)) return true;
  return !templates_.types.contains(name) && !templates_.others.contains(name) && u_.is_constant(name);
}

bool level_variables::is_pure_name(std::size_t i, bool with_threads, std::size_t scope, std::size_t scope_end) const {
  const token& t = s_[i];
  const bool is_called = s_[i + 1].is("(");
  if (s_[i - 1].is(".")) {  // a member of an operand that was checked; not a function
    std::size_t first = i - 2;
    while (s_[first].is_identifier() && s_[first - 1].is(".")) first -= 2;
    return !is_called && s_[first].is_identifier() &&
           (is_index(s_[first]) || s_[first].is("threadIdx") || read_only_parameters_.contains(s_[first].text));
  }
  if (s_[i + 1].is("::")) return true;  // the name after :: is checked in its turn
  if (s_[i - 1].is("::")) return !is_called && u_.is_constant(t.text);
  if (const int v = find_variable(t.text, i); v >= 0) {
    const level_variable& variable = variables_[static_cast<std::size_t>(v)];
    if (variable.shape.is_array || is_called) return false;
    if (storage_of(v) == variable_storage::recomputed) return with_threads;
    if (storage_of(v) != variable_storage::uniform) return false;
    // A recomputed value must be the same each time, so `v` must not change while the value may be used.
    return !with_threads || !is_written_between(v, scope, scope_end);
  }
  if (is_constant_here(i)) return !is_called;
  if (read_only_parameters_.contains(t.text)) return !is_called;
  if (declared_.contains(t.text) || u_.names.contains(t.text)) return false;
  if (is_number_word(t.text) || t.is("const") || t.is("true") || t.is("false") || t.is("sizeof")) return true;
  if (is_index(t) || t.is("warpSize")) return true;
  if (t.is("threadIdx")) return with_threads;
  return is_called && is_pure_function(t.text) && !u_.uses_foreign_namespace;
}

}  // namespace troupe::cuda_on_host
