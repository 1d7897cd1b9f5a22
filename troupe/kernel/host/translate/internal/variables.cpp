// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/kernel/host/translate/internal/variables.hpp>

namespace troupe::kernel {

namespace {

constexpr std::size_t most_variables = 1000;  // how they depend on each other takes more than linear time to find out

// Functions of the prelude whose value depends on their arguments alone, and which indices are made of.
bool is_pure_function(std::string_view name) {
  return name == "min" || name == "max" || name == "abs" || name == "__mul24" || name == "__umul24";
}
bool is_word_of_types(std::string_view w) {
  return w == "int" || w == "unsigned" || w == "float" || w == "double" || w == "long" || w == "short" || w == "char" ||
         w == "bool" || w == "size_t" || w == "signed" || w == "const" || w == "sizeof" || w == "true" || w == "false";
}
bool ends_operand(const token& t) {
  return t.kind == token_kind::number || t.kind == token_kind::literal || t.is(")") ||
         (t.is_identifier() && !t.is("return"));
}

}  // namespace

std::vector<kernel_parameter> read_parameters(const token_list& s, std::size_t open) {
  std::vector<kernel_parameter> out;
  const std::size_t close = s.closing(open);
  std::size_t begin = open + 1;
  for (std::size_t i = begin; i <= close && i < s.size(); ++i) {
    if (s[i].is("<")) {
      const std::size_t after = s.after_angles(i, close);
      if (after != i) i = after - 1;
      continue;
    }
    if (i != close && (s[i].is("(") || s[i].is("[") || s[i].is("{"))) {
      i = s.closing(i);
      continue;
    }
    if (i != close && !s[i].is(",")) continue;
    if (i > begin && !(i == begin + 1 && s[begin].is("void"))) {
      kernel_parameter p;
      std::size_t words = 0;
      for (std::size_t k = begin; k < i; ++k) {
        p.is_pack |= s[k].is("...");
        words += s[k].is_identifier() && !s[k].is("const") && !s[k].is("struct") && !s[k].is("typename") &&
                 !s[k].is("__grid_constant__") && !s[k].is("__restrict__") && !is_member(s, k);
      }
      const std::size_t name = declared_name(s, begin, i);
      if (words > 1 && name < i && !is_word_of_types(s[name].text) && !s[name].is("__restrict__") &&
          !s[name].is("const")) {
        p.name = s[name].text;
        p.name_at = name;
      }
      out.push_back(p);
    }
    begin = i + 1;
  }
  return out;
}

level_variables::level_variables(const token_list& source, const unit& u, const definition& kernel,
                                 const body_outline& body, const std::vector<kernel_parameter>& parameters)
    : s_(source), u_(u), written_(find_written(source, u, kernel.parameters, kernel.body, kernel.end)) {
  for (const kernel_parameter& p : parameters) {
    if (p.name.empty()) continue;
    if (!written_.contains(p.name)) {
      read_only_parameters_.insert(p.name);
    } else if (p.is_pack) {
      give_up(kernel.name_at, "a pack of parameters is written to");
    } else {
      declarations_.push_back({.begin = kernel.body, .end = kernel.body});
      by_name_[p.name].push_back(static_cast<int>(variables_.size()));
      variables_.push_back({.name = p.name,
                            .declaration = declarations_.size() - 1,
                            .begin = kernel.body,
                            .end = kernel.end,
                            .is_parameter = true});
    }
  }
  collect(body.whole, kernel.end);
  if (obstacle_.empty()) judge();
}

void level_variables::give_up(std::size_t at, const std::string& what) {
  if (obstacle_.empty()) obstacle_ = "line " + std::to_string(s_[at].line) + ": " + what;
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
      return give_up(begin, "a declaration between barriers that is not understood");
    case statement_kind::block_wide:
      for (std::size_t i = begin; i < end; ++i)
        if (s_[i].is("constexpr")) {
          const std::size_t name = declared_name(s_, i + 1, end);
          if (name < end) constants_.insert(s_[name].text);
          break;
        }
      return;
    case statement_kind::expression:
      return add_update(begin, end - 1);
    case statement_kind::shared:
      return;
    case statement_kind::variables:
      break;
  }
  if (variables_.size() > most_variables) return give_up(begin, "too many variables between barriers");
  const std::size_t declaration = declarations_.size();
  declarations_.push_back({.text = c.variables, .begin = begin, .end = end});
  by_begin_[begin] = static_cast<int>(declaration);
  for (const declarator& d : c.variables.declarators) {
    by_name_[d.name].push_back(static_cast<int>(variables_.size()));
    variables_.push_back({.name = d.name, .shape = d, .declaration = declaration, .begin = begin, .end = scope_end});
  }
}

// x = e, x += e, ++x, x++: remembered by the token of x.
void level_variables::add_update(std::size_t begin, std::size_t end) {
  while (begin < end && s_[begin].kind == token_kind::pragma) ++begin;
  const bool before = s_[begin].is("++") || s_[begin].is("--");
  const std::size_t name = before ? begin + 1 : begin;
  if (name >= end || !s_[name].is_identifier()) return;
  const token& next = s_[name + 1];
  const bool behind = next.is("++") || next.is("--");
  const bool counts = (before && name + 1 == end) || (behind && !before && name + 2 == end);
  const bool assigns = !before && next.kind == token_kind::punctuator && next.text.ends_with('=') &&
                       next.text != "==" && next.text != "!=" && next.text != "<=" && next.text != ">=";
  if (counts || assigns) updates_[name] = end;
}

int level_variables::meaning(std::string_view name, std::size_t at) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return -1;
  // Scopes nest, so the last one that has begun and not ended is the innermost. The search goes back over scopes that
  // have ended.
  std::size_t looked = 0;
  for (auto i = found->second.rbegin(); i != found->second.rend() && ++looked < 4096; ++i) {
    const level_variable& v = variables_[static_cast<std::size_t>(*i)];
    if (at >= v.begin && at < v.end) return *i;
  }
  return -1;
}

keeping level_variables::kept(int variable) const noexcept {
  return declarations_[variables_[static_cast<std::size_t>(variable)].declaration].kept;
}

int level_variables::declared_at(std::size_t begin) const {
  const auto found = by_begin_.find(begin);
  return found == by_begin_.end() ? -1 : found->second;
}

bool level_variables::is_written_between(int variable, std::size_t begin, std::size_t end, bool elements) const {
  const level_variable& v = variables_[static_cast<std::size_t>(variable)];
  const auto any = [&](const auto& positions) {
    const auto found = positions.find(v.name);
    return found != positions.end() && std::any_of(found->second.begin(), found->second.end(), [&](std::size_t i) {
             return i >= begin && i < end && i != v.shape.name_at;
           });
  };
  return any(written_.at) || (elements && any(written_.elements_at));
}

// Begins with all that could be uniform, and takes away what depends on something that is not.
void level_variables::judge() {
  for (level_declaration& d : declarations_)
    if (d.end > d.begin) d.kept = keeping::uniform;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < declarations_.size(); ++i)
      if (declarations_[i].kept == keeping::uniform && !may_be_uniform(declarations_[i], i)) {
        declarations_[i].kept = keeping::stored;
        changed = true;
      }
  }
  // In order, because each may use only those before it.
  for (std::size_t i = 0; i < declarations_.size(); ++i) {
    level_declaration& d = declarations_[i];
    if (d.kept == keeping::stored && d.end > d.begin && may_be_recomputed(d, i)) d.kept = keeping::recomputed;
  }
}

bool level_variables::may_be_uniform(const level_declaration& d, std::size_t index) const {
  for (const declarator& one : d.text.declarators) {
    if (one.is_array || one.is_reference || !one.is_assigned || !is_uniform(one.initialiser, one.initialiser_end))
      return false;
    const int v = meaning(one.name, one.name_at);
    if (v < 0 || variables_[static_cast<std::size_t>(v)].declaration != index) return false;
    const std::size_t end = variables_[static_cast<std::size_t>(v)].end;
    if (!d.text.is_number && !one.is_pointer && written_.elements_at.contains(one.name)) return false;
    const auto written = written_.at.find(one.name);
    if (written == written_.at.end()) continue;
    for (const std::size_t i : written->second) {
      if (i == one.name_at || i < d.begin || i >= end) continue;
      const auto update = updates_.find(i);
      if (update == updates_.end()) return false;
      const bool step = s_[i + 1].is("++") || s_[i + 1].is("--") || s_[i - 1].is("++") || s_[i - 1].is("--");
      if (!step && !is_uniform(i + 2, update->second)) return false;
    }
  }
  return true;
}

bool level_variables::may_be_recomputed(const level_declaration& d, std::size_t index) const {
  for (const declarator& one : d.text.declarators) {
    const int v = meaning(one.name, one.name_at);
    if (v < 0 || variables_[static_cast<std::size_t>(v)].declaration != index) return false;
    const std::size_t end = variables_[static_cast<std::size_t>(v)].end;
    const bool elements_matter = !d.text.is_number && !one.is_pointer && !d.text.is_auto;
    if (one.is_array || one.is_reference || !one.is_assigned || is_written_between(v, d.begin, end, elements_matter) ||
        !is_pure(one.initialiser, one.initialiser_end, true, d.begin, end))
      return false;
  }
  return true;
}

bool level_variables::is_uniform_update(std::size_t begin, std::size_t end) const {
  while (begin < end && s_[begin].kind == token_kind::pragma) ++begin;
  const std::size_t name = s_[begin].is("++") || s_[begin].is("--") ? begin + 1 : begin;
  const auto update = updates_.find(name);
  if (update == updates_.end() || update->second != end) return false;
  const int v = meaning(s_[name].text, name);
  return v >= 0 && kept(v) == keeping::uniform;
}

// No loads, no effects, nothing but numbers: literals, constants, parameters that nobody writes to, and variables of
// that kind.
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
      if (t.is("static_cast") && s_[i + 1].is("<")) {
        const std::size_t after = s_.after_angles(i + 1, end);
        if (after == i + 1) return false;
        for (std::size_t k = i; k < after; ++k)
          if (s_[k].is("&") || s_[k].is("&&")) return false;
        i = after - 1;
      } else if (!is_pure_name(i, with_threads, scope, scope_end)) {
        return false;
      }
      continue;
    }
    if (t.kind != token_kind::punctuator) return false;
    if (t.is("[") || t.is("]") || t.is("{") || t.is("}") || t.is("->") || t.is("++") || t.is("--") || t.is(";") ||
        t.is("..."))
      return false;
    if ((t.is("*") || t.is("&")) && (i == begin || !ends_operand(s_[i - 1]))) return false;  // a load, an address
    if (t.text.ends_with('=') && t.text != "==" && t.text != "!=" && t.text != "<=" && t.text != ">=") return false;
    if (t.is(",") && i == begin) return false;
  }
  return true;
}

bool level_variables::is_pure_name(std::size_t i, bool with_threads, std::size_t scope, std::size_t scope_end) const {
  const token& t = s_[i];
  if (s_[i - 1].is(".")) return !s_[i + 1].is("(");  // of something that has been looked at; it is no function
  if (s_[i + 1].is("::")) return true;               // what is behind it will be looked at
  if (s_[i - 1].is("::")) return u_.constants.contains(t.text);
  if (is_word_of_types(t.text)) return true;
  if (t.is("blockIdx") || t.is("blockDim") || t.is("gridDim") || t.is("warpSize")) return true;
  if (t.is("threadIdx")) return with_threads;
  if (const int v = meaning(t.text, i); v >= 0) {
    const level_variable& variable = variables_[static_cast<std::size_t>(v)];
    if (variable.shape.is_array) return false;
    if (kept(v) == keeping::recomputed) return with_threads;
    if (kept(v) != keeping::uniform) return false;
    // What is worked out again and again needs the same value each time.
    return !with_threads || !is_written_between(v, scope, scope_end, false);
  }
  if (s_[i + 1].is("("))
    return (is_pure_function(t.text) && !u_.names.contains(t.text)) || u_.constants.contains(t.text);
  return read_only_parameters_.contains(t.text) || constants_.contains(t.text) || u_.constants.contains(t.text);
}

}  // namespace troupe::kernel
