// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/splitting/guard.hpp>

namespace troupe::cuda_on_host {

namespace {

// Returns true if the statement at `i` ends exactly at `end`.
bool is_all_of(const token_list& s, std::size_t i, std::size_t end) {
  if (s[i].is("{")) return s.closing(i) + 1 == end;
  for (const char* word : {"if", "for", "while", "do", "switch"})
    if (s[i].is(word)) return false;
  for (; i < end; ++i) {
    if (s[i].is(";")) return i + 1 == end;
    if (s[i].is("(") || s[i].is("[") || s[i].is("{")) i = s.closing(i);
  }
  return false;
}

}  // namespace

std::optional<guard> find_guard(const token_list& s, const level_variables& variables, std::size_t begin,
                                std::size_t end) {
  std::size_t i = begin;
  for (int d = variables.declared_at(i); d >= 0 && i < end; d = variables.declared_at(i)) {
    const level_declaration& declaration = variables.declarations()[static_cast<std::size_t>(d)];
    if (declaration.storage == variable_storage::stored) return {};
    i = declaration.end;
  }
  if (i >= end || !s[i].is("if") || !s[i + 1].is("(")) return {};
  guard g{.begin = begin, .condition = i + 2, .condition_end = s.closing(i + 1), .statement = i, .leaves = false};
  const std::size_t then = g.condition_end + 1;
  if (then >= end || !variables.is_recomputable(g.condition, g.condition_end)) return {};
  g.leaves = (s[then].is("return") && s[then + 1].is(";") && !s[then + 2].is("else")) ||
             (s[then].is("{") && s[then + 1].is("return") && s[then + 2].is(";") && s[then + 3].is("}") &&
              !s[then + 4].is("else"));
  if (!g.leaves && !is_all_of(s, then, end)) return {};
  return g;
}

std::string guard_text(const edited_source& source, const guard& g) {
  const std::string condition = "(" + source.slice(g.condition, g.condition_end) + ")";
  return source.marker(g.begin) + source.slice(g.begin, g.statement) + source.marker(g.condition) + "return " +
         (g.leaves ? "!" : "") + condition + ";";
}

void skip_if_inside(edited_source& source, const guard& g) {
  source.add_before(g.condition, g.leaves ? "!troupe_inside && (" : "troupe_inside || (");
  source.add_behind(g.condition_end - 1, ")");
}

}  // namespace troupe::cuda_on_host
