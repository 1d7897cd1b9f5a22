// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whether the threads that run some statements are independent of each other, so that the compiler may run them
// in vector lanes.
#include <algorithm>
#include <troupe/cuda_on_host/translate/internal/splitting/operands.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/variables.hpp>

namespace troupe::cuda_on_host {

bool level_variables::is_in_register(std::string_view name, std::size_t begin, std::size_t end, bool is_pointer) const {
  const std::vector<name_use>& uses = uses_.of(name);
  return std::all_of(uses.begin(), uses.end(), [&](const name_use& use) {
    return use.at < begin || use.at >= end || use.kind == use_kind::read || use.kind == use_kind::assigned ||
           (is_pointer && use.leaves_pointer());
  });
}

// Accepts only tokens that are known to be safe, so no array, struct, reference or lambda of a thread.
bool level_variables::is_independent(std::size_t begin, std::size_t end) const {
  constexpr std::string_view words[] = {"if",       "else",   "for",   "while", "do",   "break",
                                        "continue", "return", "const", "true",  "false"};
  constexpr std::string_view functions[] = {
      "min",  "max",    "abs",  "fabs",  "fabsf",  "sqrt",  "sqrtf",      "rsqrt",   "rsqrtf",  "fma", "fmaf",
      "fmin", "fminf",  "fmax", "fmaxf", "floorf", "ceilf", "__ldg",      "__expf",  "expf",    "exp", "logf",
      "log",  "__logf", "sinf", "cosf",  "tanhf",  "powf",  "__fdividef", "__mul24", "__umul24"};
  const auto among = [](const auto& all, std::string_view w) {
    return std::find(std::begin(all), std::end(all), w) != std::end(all);
  };
  const auto is_number = [&](const token& t) {
    return is_number_word(t.text) && !u_.names.contains(t.text) && !declared_.contains(t.text);
  };
  if (u_.has_hidden_uses || u_.uses_foreign_namespace || !obstacle_.empty()) return false;
  // the names declared in these statements, and whether each is a pointer
  std::unordered_map<std::string_view, bool> inner;
  for (std::size_t i = begin; i < end; ++i) {
    const token& t = s_[i];
    const token& before = s_[i - 1];
    if (t.kind == token_kind::number || t.kind == token_kind::pragma) continue;
    if (t.kind != token_kind::identifier) {
      if (t.kind == token_kind::literal && !t.text.ends_with('\'')) return false;
      const bool behind_value =
          before.kind == token_kind::number || before.is("]") ||
          (before.is_identifier() && !is_number(before) && !is_word_before_expression(before.text));
      if (t.is("[") && !(before.is("]") || (before.is_identifier() && behind_value))) return false;
      if (t.is("&") && !behind_value && !s_[i + 1].is("(") && s_[i + 1].kind != token_kind::number && !before.is(")"))
        return false;
      if (t.is("&") && before.is(")") && s_[i + 1].kind != token_kind::number) return false;
      if (t.is("{") && !before.is(")") && !before.is(";") && !before.is("{") && !before.is("}") && !before.is("else") &&
          !before.is("do") && before.kind != token_kind::pragma && i != begin)
        return false;
      if (t.is("::") || t.is("->") || t.is("...") || t.is(".*") || t.is("->*")) return false;
      continue;
    }
    if (before.is(".")) {
      if (!is_index(s_[i - 2]) && !s_[i - 2].is("threadIdx")) return false;
      continue;
    }
    if (is_number(t) || among(words, t.text)) continue;
    if (const int v = find_variable(t.text, i); v >= 0) {
      const level_variable& variable = variables_[static_cast<std::size_t>(v)];
      const bool is_plain = (variable.form == type_form::number || variable.form == type_form::pointer) &&
                            !variable.shape.is_array && !variable.shape.is_reference;
      if (!is_plain || !is_in_register(t.text, 0, s_.size(), variable.form == type_form::pointer)) return false;
      continue;
    }
    if (const auto p = plain_parameters_.find(t.text); p != plain_parameters_.end()) {
      if (!is_in_register(t.text, 0, s_.size(), p->second)) return false;
      continue;
    }
    if (shared_.contains(t.text) || is_constant_here(i)) continue;
    // Matches a variable of an inner block: int x = ..., const float* p = ...
    const bool is_pointer = before.is("*") && (is_number(s_[i - 2]) || s_[i - 2].is("const"));
    if ((is_number(before) || is_pointer) && (s_[i + 1].is("=") || s_[i + 1].is(";") || s_[i + 1].is(",")))
      inner[t.text] = is_pointer;
    if (const auto own = inner.find(t.text); own != inner.end()) {
      if (!is_in_register(t.text, 0, s_.size(), own->second)) return false;
      continue;
    }
    if (declared_.contains(t.text) || u_.names.contains(t.text) || templates_.types.contains(t.text) ||
        templates_.others.contains(t.text))
      return false;
    if (is_index(t) || t.is("threadIdx") || t.is("warpSize")) continue;
    if (!s_[i + 1].is("(") || !among(functions, t.text) || is_number(before)) return false;
  }
  return true;
}

}  // namespace troupe::cuda_on_host
