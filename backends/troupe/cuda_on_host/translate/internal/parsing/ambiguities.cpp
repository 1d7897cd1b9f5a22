// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/cuda_on_host/translate/internal/parsing/ambiguities.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>

namespace troupe::cuda_on_host {

namespace {

// Finds the functions that bind references to their arguments: parameters with a &, or of a type that may be a
// reference.
void examine_parameters(const token_list& s, const std::unordered_set<std::string_view>& reference_aliases, unit& u) {
  for (const definition& d : u.definitions) {
    if (!d.is_function()) continue;
    const std::string_view name = s[d.name_at].text;
    const bool is_call = name == "operator" && s[d.name_at + 1].is("(");
    const bool is_operator_or_constructor = (name == "operator" && !is_call) || u.classes.contains(name);
    bool any = false, binds_numbers = false, is_reference = false, is_of_class = false;
    const std::size_t close = std::min(s.closing(d.parameters), s.size());
    for (std::size_t i = d.parameters + 1; i <= close; ++i) {
      const token& t = s[i];
      if (t.is("&") || t.is("&&")) any = is_reference = true;
      if (t.is("<") || t.is("::") || reference_aliases.contains(t.text)) any = is_reference = true;
      if (u.classes.contains(t.text) || is_vector_word(t.text)) is_of_class = true;
      if (t.is(",") || i == close) {
        binds_numbers |= is_reference && !is_of_class;
        is_reference = is_of_class = false;
      }
    }
    if (any) u.takes_references.insert(name);
    if (is_operator_or_constructor && binds_numbers) u.has_hidden_uses = true;
  }
}

void examine_tokens(const token_list& s, const std::unordered_set<std::string_view>& namespaces, unit& u) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    const token& t = s[i];
    if (t.is("<") && (s[i + 1].is(":") || s[i + 1].is("%"))) u.has_hidden_uses = true;
    if (!t.is_identifier()) continue;
    if (t.is("bitand") || t.is("and_eq") || t.is("or_eq") || t.is("xor_eq")) u.has_hidden_uses = true;
    if (t.is("operator") && !s[i + 1].is("(")) u.has_operators = true;
    if (t.is("using") && !s[i + 2].is("=")) {
      std::size_t name = i + 1;
      if (s[name].is("namespace")) ++name;
      if (s[name].is("::")) ++name;
      if (!s[name].is("cooperative_groups") && !namespaces.contains(s[name].text) && !u.classes.contains(s[name].text))
        u.uses_foreign_namespace = true;
    }
  }
}

}  // namespace

void find_ambiguities(const token_list& source, const std::unordered_set<std::string_view>& reference_aliases,
                      const std::unordered_set<std::string_view>& namespaces, unit& u) {
  examine_parameters(source, reference_aliases, u);
  examine_tokens(source, namespaces, u);
}

}  // namespace troupe::cuda_on_host
