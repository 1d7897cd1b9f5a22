// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/operands.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/variables.hpp>

namespace troupe::cuda_on_host {

constexpr std::size_t most_variables = 1000;  // finding their dependencies takes more than linear time

level_variables::level_variables(const token_list& source, const unit& u, const definition& kernel,
                                 const body_outline& body, const std::vector<kernel_parameter>& parameters)
    : s_(source),
      u_(u),
      templates_(read_template_parameters(source, u, kernel)),
      uses_(find_uses(source, u, kernel.parameters, kernel.body, kernel.end, templates_.types)) {
  for (const kernel_parameter& p : parameters) add_parameter(p, kernel);
  collect(body.whole, kernel.end);
  if (obstacle_.empty()) choose_storage();
}

// A parameter that no thread writes is treated as a constant.
void level_variables::add_parameter(const kernel_parameter& p, const definition& kernel) {
  if (p.is_pack) return set_obstacle(kernel.name_at, "a pack of parameters");
  if (p.name.empty()) return;
  declare(p.name, kernel.body, kernel.end);
  if (p.is_number || p.to_numbers) numeric_.insert(p.name);
  if (p.is_number || p.is_pointer) plain_parameters_.emplace(p.name, p.is_pointer);
  const std::vector<name_use>& uses = uses_.of(p.name);
  const bool is_read_only = std::all_of(uses.begin(), uses.end(), [&](const name_use& use) {
    return use.kind == use_kind::read || (p.is_pointer && use.leaves_pointer()) || (!p.is_pointer && use.pointee != 0);
  });
  if (is_read_only) {
    if (p.is_number || p.is_pointer || !u_.has_operators) read_only_parameters_.insert(p.name);
    return;
  }
  declarations_.push_back({.begin = kernel.body, .end = kernel.body});
  by_name_[p.name].push_back(static_cast<int>(variables_.size()));
  variables_.push_back({.name = p.name,
                        .form = p.is_number    ? type_form::number
                                : p.is_pointer ? type_form::pointer
                                               : type_form::unknown,
                        .declaration = declarations_.size() - 1,
                        .begin = kernel.body,
                        .end = kernel.end,
                        .is_parameter = true});
}

void level_variables::set_obstacle(std::size_t at, const std::string& what) {
  if (obstacle_.empty()) obstacle_ = cat("line ", s_[at].line, ": ", what);
}

// Refuses a name that is declared within the scope of an equal name: its meaning would depend on the position, and
// positions are not tracked.
void level_variables::declare(std::string_view name, std::size_t begin, std::size_t end) {
  std::vector<std::pair<std::size_t, std::size_t>>& scopes = declared_[name];
  // Scopes nest, and declarations are visited in order, so only the last scope can still be open.
  if (!scopes.empty() && scopes.back().second > begin)
    return set_obstacle(begin, "'" + std::string(name) + "' hides another");
  scopes.emplace_back(begin, end);
}

void level_variables::collect(const statement& s, std::size_t scope_end) {
  if (!obstacle_.empty()) return;
  switch (s.kind) {
    case statement::form::plain:
      return collect_plain(s.begin, s.end, scope_end);
    case statement::form::barrier:
      return;
    case statement::form::compound:
      for (const statement& inner : s.inner) collect(inner, s.end);
      return;
    case statement::form::for_loop:
      collect_plain(s.start, s.start_end + 1, s.end);
      for (std::size_t i = s.step, begin = s.step; i <= s.step_end; ++i) {
        if (i == s.step_end || s_[i].is(",")) {
          add_update(begin, i);
          begin = i + 1;
        } else if (s_[i].is("(") || s_[i].is("[") || s_[i].is("{")) {
          i = s_.closing(i);
        }
      }
      [[fallthrough]];
    default:
      for (const statement& inner : s.inner) collect(inner, inner.end);
  }
}

void level_variables::collect_plain(std::size_t begin, std::size_t end, std::size_t scope_end) {
  const classified_statement c = classify(s_, begin, end);
  switch (c.kind) {
    case statement_kind::unknown:
      return set_obstacle(begin, "a declaration between barriers that is not understood");
    case statement_kind::block_wide:
      return collect_block_wide(begin, end, scope_end);
    case statement_kind::expression:
      return add_update(begin, end - 1);
    case statement_kind::shared:
      for (const declarator& d : c.variables.declarators) {
        declare(d.name, begin, scope_end);
        shared_.insert(d.name);
        if (c.variables.is_number && !u_.names.contains(s_[c.variables.named_at].text)) numeric_.insert(d.name);
      }
      return;
    case statement_kind::variables:
      break;
  }
  if (variables_.size() > most_variables) return set_obstacle(begin, "too many variables between barriers");
  const std::size_t declaration = declarations_.size();
  declarations_.push_back({.text = c.variables, .begin = begin, .end = end});
  by_begin_[begin] = static_cast<int>(declaration);
  for (const declarator& d : c.variables.declarators) {
    declare(d.name, begin, scope_end);
    by_name_[d.name].push_back(static_cast<int>(variables_.size()));
    variables_.push_back({.name = d.name,
                          .shape = d,
                          .form = form_of(c.variables, d),
                          .declaration = declaration,
                          .begin = begin,
                          .end = scope_end});
  }
}

type_form level_variables::form_of(const variable_declaration& d, const declarator& one) const {
  if (one.is_pointer) return type_form::pointer;
  if (d.is_auto && one.is_assigned && !one.is_reference && !one.is_array &&
      is_numeric(one.initialiser, one.initialiser_end))
    return type_form::number;  // also for pointers to numbers, which are then treated more strictly than necessary
  if (d.is_auto || u_.names.contains(s_[d.named_at].text) || declared_.contains(s_[d.named_at].text) ||
      templates_.types.contains(s_[d.named_at].text))
    return type_form::unknown;
  return d.is_number ? type_form::number : d.is_vector ? type_form::vector : type_form::unknown;
}

// Records constexpr int n = 4 as a constant. For other declarations, records every name that may be declared.
void level_variables::collect_block_wide(std::size_t begin, std::size_t end, std::size_t scope_end) {
  bool is_constant = true;
  std::size_t equals = begin;
  while (equals < end && !s_[equals].is("=") && !s_[equals].is(";")) ++equals;
  for (std::size_t i = begin; i + 1 < equals; ++i)
    is_constant &= s_[i].is("constexpr") || s_[i].is("const") || s_[i].is("static") ||
                   (is_number_word(s_[i].text) && !u_.names.contains(s_[i].text));
  std::size_t commas = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (s_[i].is("(")) i = s_.closing(i);
    commas += s_[i].is(",");
  }
  if (is_constant && equals > begin + 1 && s_[equals].is("=") && commas == 0 && s_[equals - 1].is_identifier()) {
    declare(s_[equals - 1].text, begin, scope_end);
    constants_.push_back({s_[equals - 1].text, begin, scope_end});
    return;
  }
  if (s_[begin].is("using")) return declare(s_[begin + 1].text, begin, scope_end);
  if (s_[begin].is("enum")) {
    for (std::size_t i = begin + 1; i < end; ++i)
      if (s_[i].is_identifier() && (s_[i - 1].is("{") || s_[i - 1].is(",") || s_[i - 1].is("enum") ||
                                    s_[i - 1].is("class") || s_[i - 1].is("struct")))
        declare(s_[i].text, begin, scope_end);
    return;
  }
  if (s_[begin].is("static_assert") || s_[begin].is(";")) return;
  for (std::size_t first = begin, i = begin; i < end; ++i) {
    if (s_[i].is("(") || s_[i].is("[") || s_[i].is("{")) i = s_.closing(i);
    if (!s_[i].is(",") && !s_[i].is(";")) continue;
    if (const std::size_t name = declared_name(s_, first, i); name < i) {
      declare(s_[name].text, begin, scope_end);
      if (s_[begin].is("extern")) shared_.insert(s_[name].text);
    }
    first = i + 1;
  }
}

// Records an update, x = e, x += e, ++x or x++, by the position of x.
void level_variables::add_update(std::size_t begin, std::size_t end) {
  while (begin < end && s_[begin].kind == token_kind::pragma) ++begin;
  const bool before = is_step(s_[begin]);
  const std::size_t name = before ? begin + 1 : begin;
  if (name >= end || !s_[name].is_identifier()) return;
  const bool behind = is_step(s_[name + 1]);
  const bool counts = (before && name + 1 == end) || (behind && !before && name + 2 == end);
  const bool assigns = !before && is_assignment(s_[name + 1]);
  if (counts || assigns) updates_[name] = end;
}

int level_variables::find_variable(std::string_view name, std::size_t at) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return -1;
  // Scopes nest, so the last one that has begun and not ended is the innermost. The search goes back over ended scopes.
  std::size_t searched = 0;
  for (auto i = found->second.rbegin(); i != found->second.rend() && ++searched < 4096; ++i) {
    const level_variable& v = variables_[static_cast<std::size_t>(*i)];
    if (at >= v.begin && at < v.end) return *i;
  }
  return -1;
}

variable_storage level_variables::storage_of(int variable) const noexcept {
  return declarations_[variables_[static_cast<std::size_t>(variable)].declaration].storage;
}

int level_variables::declared_at(std::size_t begin) const {
  const auto found = by_begin_.find(begin);
  return found == by_begin_.end() ? -1 : found->second;
}

bool level_variables::is_written_between(int variable, std::size_t begin, std::size_t end) const {
  const level_variable& v = variables_[static_cast<std::size_t>(variable)];
  const bool is_pointer = v.form == type_form::pointer && !v.shape.is_array;
  const bool has_plain_operators = v.form != type_form::unknown;
  const std::vector<name_use>& uses = uses_.of(v.name);
  return std::any_of(uses.begin(), uses.end(), [&](const name_use& use) {
    if (use.at < begin || use.at >= end || use.at == v.shape.name_at) return false;
    return !has_plain_operators || (use.kind != use_kind::read && !(is_pointer && use.leaves_pointer()));
  });
}

bool level_variables::is_numeric(std::size_t begin, std::size_t end) const {
  if (begin >= end) return false;
  for (std::size_t i = begin; i < end; ++i) {
    const token& t = s_[i];
    if (t.is("{") || t.is("::") || t.is("...") || t.is("->") || t.kind == token_kind::pragma ||
        (t.kind == token_kind::literal && !t.text.ends_with('\'')))
      return false;
    if (t.is("[") && !ends_operand(s_[i - 1]) && !s_[i - 1].is("]")) return false;  // a lambda
    if (!t.is_identifier() || numeric_.contains(t.text)) continue;
    if (const int v = find_variable(t.text, i); v >= 0) {
      const level_variable& variable = variables_[static_cast<std::size_t>(v)];
      const variable_declaration& d = declarations_[variable.declaration].text;
      if (variable.form == type_form::number) continue;
      if (variable.form == type_form::pointer && d.is_number && !u_.names.contains(s_[d.named_at].text)) continue;
      return false;
    }
    if (s_[i - 1].is(".")) {
      if (!is_index(s_[i - 2]) && !s_[i - 2].is("threadIdx")) return false;
      continue;
    }
    if (is_constant_here(i)) continue;
    if (declared_.contains(t.text) || u_.names.contains(t.text)) return false;
    if (!is_number_word(t.text) && !is_index(t) && !t.is("threadIdx") && !t.is("warpSize") && !t.is("const") &&
        !is_pure_function(t.text))
      return false;
  }
  return true;
}

}  // namespace troupe::cuda_on_host
