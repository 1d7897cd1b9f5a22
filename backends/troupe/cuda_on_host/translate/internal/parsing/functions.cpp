// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/parsing/ambiguities.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/functions.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>

#include <algorithm>

namespace troupe::cuda_on_host {

namespace {

// Returns true for words before a parenthesis that is not a parameter list.
bool takes_parenthesis(std::string_view word) {
  return word == "__attribute__" || word == "__launch_bounds__" || word == "alignas" || word == "decltype" ||
         word == "__align__" || word == "noexcept" || word == "explicit" || word == "requires" ||
         word == "__maxnreg__" || word == "__cluster_dims__" || word == "__block_size__" || word == "__declspec" ||
         word == "sizeof" || word == "static_assert" || word == "__typeof__" || word == "typeof" || word == "asm" ||
         word == "__asm__";
}

class finder {
 public:
  explicit finder(const token_list& source) : s_(source) {}

  unit run() {
    scopes_.push_back({"", s_.size(), false});
    std::size_t i = 0;
    while (i < s_.size()) {
      while (scopes_.size() > 1 && i >= scopes_.back().end) scopes_.pop_back();
      i = declaration(i);
    }
    find_ambiguities(s_, hiding_, namespaces_, out_);
    return std::move(out_);
  }

 private:
  struct scope {
    std::string name;
    std::size_t end;  // the closing brace
    bool is_class;
  };

  // Parses one declaration, or enters a scope. Returns the position of the next declaration.
  std::size_t declaration(std::size_t begin) {
    const token& first = s_[begin];
    if (first.kind == token_kind::pragma || first.is(";") || first.is("}") || first.is(")") || first.is("]"))
      return begin + 1;
    if (scopes_.back().is_class && (first.is("public") || first.is("private") || first.is("protected")) &&
        s_[begin + 1].is(":"))
      return begin + 2;

    definition d{.begin = begin, .in_class = scopes_.back().is_class};
    std::size_t i = begin;
    while (s_[i].is("template") && s_[i + 1].is("<")) {
      d.is_template = true;
      const std::size_t after = s_.after_angles(i + 1, s_.size());
      if (after == i + 1) return begin + 1;
      if (after == i + 3) d.is_specialisation = true;
      i = after;
    }
    if (s_[i].is("template")) d.is_specialisation = true;  // an explicit instantiation
    return declarator(d, i);
  }

  std::size_t declarator(definition& d, std::size_t i) {
    const std::size_t head = i;
    std::size_t equals = 0;     // position of the first = outside of brackets
    bool behind_colon = false;  // the position is in a constructor's member initializers
    bool is_class = false, is_enum = false, is_namespace = false;
    for (const std::size_t limit = scopes_.back().end; i < limit; ++i) {
      const token& t = s_[i];
      if (t.is_identifier()) {
        if (t.text == "__global__") d.is_kernel = true;
        if (t.text == "namespace") is_namespace = true;
        if (t.text == "enum") is_enum = true;
        if (!d.parameters && (t.text == "class" || t.text == "struct" || t.text == "union")) is_class = true;
        if (t.text == "operator" && !d.parameters) {
          // The operator's symbol may be a bracket itself.
          std::size_t after = i + 1;
          if ((s_[after].is("(") && s_[after + 1].is(")")) || (s_[after].is("[") && s_[after + 1].is("]"))) after += 2;
          while (after < limit && !s_[after].is("(") && !s_[after].is(";") && !s_[after].is("{")) ++after;
          if (s_[after].is("(") && !equals) {
            d.name_at = i;
            d.parameters = after;
            i = s_.closing(after);
          }
          continue;
        }
        if (takes_parenthesis(t.text) && s_[i + 1].is("(")) i = s_.closing(i + 1);
        continue;
      }
      if (t.kind != token_kind::punctuator) continue;
      if (t.text == ";") {
        finish(d, head, i, i + 1, equals);
        return i + 1;
      }
      if (t.text == "}") return i;  // closes the current scope, or is unmatched
      if (t.text == "=" && equals == 0) equals = i;
      if (t.text == ":" && d.parameters) behind_colon = true;
      if (t.text == "<" && !equals && !d.parameters) {
        const std::size_t after = s_.after_angles(i, limit);
        if (after != i) i = after - 1;
      } else if (t.text == "(") {
        if (!equals && !d.parameters && i > head) named_function(d, i);
        i = s_.closing(i);
      } else if (t.text == "[") {
        i = s_.closing(i);
      } else if (t.text == "{") {
        const std::size_t close = s_.closing(i);
        if (close >= s_.size()) return s_.size();  // the bracket is not closed
        if (d.parameters && !equals) {
          const token& before = s_[i - 1];
          if (behind_colon && (before.is_identifier() || before.is(">"))) {
            i = close;  // skips a member initializer
            continue;
          }
          d.has_body = true;
          finish(d, head, i, close + 1, 0);
          return close + 1;
        }
        if (is_namespace && !equals) return enter(head, i, close, false);
        if (is_enum) {
          enumerators(i + 1, close);
          i = close;
        } else if (is_class && !equals) {
          outer_class(d.begin, head, i, close);
          return enter(head, i, close, true);
        } else if (s_[head].is("extern") && s_[head + 1].kind == token_kind::literal && i == head + 2) {
          return i + 1;  // extern "C" {
        } else {
          if (!equals) equals = i;
          i = close;
        }
      }
    }
    return std::max(i, head + 1);
  }

  void named_function(definition& d, std::size_t open) {
    std::size_t at = open - 1;
    if (s_[at].is(">")) {  // as in f<int>(...): goes back to the name
      std::size_t depth = 0, steps = 0;
      while (at > d.begin && ++steps < 256) {
        if (s_[at].is(">")) ++depth;
        if (s_[at].is(">>")) depth += 2;
        if (s_[at].is("<") && --depth == 0) break;
        --at;
      }
      if (at > d.begin) --at;
    }
    if (!s_[at].is_identifier()) return;
    d.name_at = at;
    d.parameters = open;
  }

  // Returns the class of a member that is defined outside of its class, or an empty text. `name` is the member's name.
  std::string_view owner(std::size_t name) const {
    std::size_t at = name;
    if (s_[at - 1].is("~")) --at;
    std::string_view out;
    while (at > 1 && s_[at - 1].is("::")) {
      at -= 2;
      if (s_[at].is(">")) {
        std::size_t depth = 0, steps = 0;
        for (; at > 0 && ++steps < 256; --at) {
          if (s_[at].is(">")) ++depth;
          if (s_[at].is(">>")) depth += 2;
          if (s_[at].is("<") && --depth == 0) break;
        }
        if (at == 0) return {};
        --at;
      }
      if (!s_[at].is_identifier()) break;
      if (out_.classes.contains(s_[at].text)) out = s_[at].text;
    }
    return out;
  }

  void add_outer(outer_declaration d) {
    if (d.names.empty() || (!out_.outer.empty() && d.begin < out_.outer.back().end)) return;
    if (d.words_end == 0) d.words_end = d.end;
    for (std::size_t i = d.begin; i < d.words_end; ++i)
      if (s_[i].is_identifier() && is_device_word(s_[i].text)) d.is_device = true;
    out_.outer.push_back(std::move(d));
  }

  // Adds a class, and the variables that are declared after its closing brace.
  void outer_class(std::size_t begin, std::size_t head, std::size_t open, std::size_t close) {
    if (scopes_.back().is_class) return;
    outer_declaration d{.begin = begin, .end = close + 1};
    std::size_t i = head;
    while (i < open && !s_[i].is("struct") && !s_[i].is("class") && !s_[i].is("union")) ++i;
    for (++i; i < open && !s_[i].is(":") && !s_[i].is("<"); ++i) {
      if (takes_parenthesis(s_[i].text) && s_[i + 1].is("("))
        i = s_.closing(i + 1);
      else if (s_[i].is_identifier() && !s_[i].is("final"))
        d.names.push_back(s_[i].text);
    }
    while (d.end < s_.size() && !s_[d.end].is(";")) {
      if (s_[d.end].is("{") || s_[d.end].is("}")) return;
      if (s_[d.end].is_identifier()) d.names.push_back(s_[d.end].text);
      ++d.end;
    }
    ++d.end;
    add_outer(std::move(d));
  }

  std::size_t enter(std::size_t head, std::size_t open, std::size_t close, bool is_class) {
    std::string name = scopes_.back().name;
    std::size_t i = head;
    while (i < open && !s_[i].is("namespace") && !s_[i].is("struct") && !s_[i].is("class") && !s_[i].is("union")) ++i;
    for (++i; i < open && !s_[i].is(":"); ++i) {
      if (takes_parenthesis(s_[i].text) && s_[i + 1].is("(")) {
        i = s_.closing(i + 1);
      } else if (s_[i].is("<")) {
        break;
      } else if (s_[i].is_identifier() && !s_[i].is("final") && !s_[i].is("inline")) {
        name += std::string(s_[i].text) + "::";
        if (is_class) {
          out_.names.insert(s_[i].text);
          out_.others.insert(s_[i].text);
          out_.classes.insert(s_[i].text);
        } else {
          namespaces_.insert(s_[i].text);
        }
      }
    }
    scopes_.push_back({std::move(name), close, is_class});
    return open + 1;
  }

  // Matches a number that never changes: const int n = 4.
  bool is_constant_number(std::size_t head, std::size_t name) const {
    bool constant = false, number = false;
    for (std::size_t i = head; i < name; ++i) {
      if (s_[i].is("const") || s_[i].is("constexpr")) {
        constant = true;
      } else if (is_number_word(s_[i].text)) {
        number = true;
      } else if (!s_[i].is("static") && !s_[i].is("inline") && !s_[i].is("__device__") && !s_[i].is("__constant__") &&
                 !s_[i].is("__host__") && !s_[i].is("constinit")) {
        return false;
      }
    }
    return constant && number && !s_[name + 1].is("[") && !s_[name + 1].is("(");
  }

  void finish(definition& d, std::size_t head, std::size_t body, std::size_t end, std::size_t equals) {
    d.body = body;
    d.end = end;
    d.scope = scopes_.back().name;
    outer_declaration outer{.begin = d.begin, .end = end, .is_kernel = d.is_kernel};
    if (d.is_function() && !(equals && equals < d.parameters)) {
      const bool nameless =
          s_[d.name_at].is("operator") || s_[d.name_at - 1].is("~") ||
          (d.name_at > 1 && s_[d.name_at - 1].is("::") && s_[d.name_at - 2].text == s_[d.name_at].text) ||
          (scopes_.back().is_class && scopes_.back().name.ends_with(std::string(s_[d.name_at].text) + "::"));
      if (!nameless) d.name = s_[d.name_at].text;
      if (const std::string_view of = owner(d.name_at); !of.empty())
        outer.names.push_back(of);
      else if (!nameless)
        outer.names.push_back(d.name);
      out_.names.insert(s_[d.name_at].text);
      out_.functions.insert(s_[d.name_at].text);
      out_.others.insert(s_[d.name_at].text);
    } else {
      d.parameters = 0;
      d.name_at = declared_name(s_, head, equals ? equals : body);
      if (d.name_at >= body) return;
      d.name = s_[d.name_at].text;
      (is_constant_number(head, d.name_at) ? out_.constants : out_.others).insert(d.name);
      out_.names.insert(d.name);
      const std::string_view of = owner(d.name_at);
      outer.names.push_back(of.empty() ? d.name : of);
      for (std::size_t i = d.name_at; i < body; ++i) {  // as in int a = 1, b;
        if (s_[i].is("(") || s_[i].is("[") || s_[i].is("{")) i = s_.closing(i);
        if (!s_[i].is(",")) continue;
        const std::size_t other = declared_name(s_, i + 1, body);
        if (other >= body) continue;
        out_.names.insert(s_[other].text);
        out_.others.insert(s_[other].text);
        outer.names.push_back(s_[other].text);
      }
      // starts at `head`, so that the word enum is not taken for the name of an unnamed enumeration
      for (std::size_t i = head; i <= d.name_at; ++i)
        if (s_[i].is("enum") || s_[i].is("namespace")) outer.names.clear();
      if (s_[head].is("using") && !s_[head + 2].is("=")) outer.names.clear();
      if (s_[head].is("using") || s_[head].is("typedef"))
        for (std::size_t i = head; i < body; ++i)
          if (s_[i].is("&") || s_[i].is("&&") || s_[i].is("<") || s_[i].is("::") || s_[i].is("decltype") ||
              hiding_.contains(s_[i].text))
            hiding_.insert(d.name);
      bool shared = false, external = false;
      for (std::size_t i = head; i < d.name_at; ++i) {
        if (s_[i].is("__constant__")) out_.in_constant_memory.insert(d.name);
        if (s_[i].is("__shared__")) shared = true;
        if (s_[i].is("extern")) external = true;
      }
      if (shared && external) out_.dynamic_arrays.push_back({d.name, head, body});
      if (!scopes_.back().is_class) add_outer(std::move(outer));
      if (!equals) return;
      d.body = equals;
    }
    if (d.has_body) outer.words_end = body;  // a lambda in the body may be for a device
    if (!scopes_.back().is_class && d.is_function()) add_outer(std::move(outer));
    d.line = s_[d.name_at].line;
    out_.definitions.push_back(d);
  }

  void enumerators(std::size_t begin, std::size_t end) {
    bool name = true;
    for (std::size_t i = begin; i < end; ++i) {
      if (s_[i].is("(") || s_[i].is("{")) i = s_.closing(i);
      if (name && s_[i].is_identifier()) {
        out_.constants.insert(s_[i].text);
        out_.enumerators.insert(s_[i].text);
      }
      name = s_[i].is(",");
    }
  }

  const token_list& s_;
  std::vector<scope> scopes_;
  std::unordered_set<std::string_view> namespaces_;
  std::unordered_set<std::string_view> hiding_;  // aliases that may be references
  unit out_;
};

}  // namespace

bool is_device_word(std::string_view word) noexcept {
  return word == "__device__" || word == "__constant__" || word == "__managed__" || word == "__shared__" ||
         word == "__global__" || word == "constructor";
}

unit find_definitions(const token_list& source) { return finder(source).run(); }

// Uses that definitions are in the order of the text and do not nest.
const definition* function_at(const unit& u, std::size_t token) noexcept {
  auto after = std::upper_bound(u.definitions.begin(), u.definitions.end(), token,
                                [](std::size_t at, const definition& d) { return at < d.begin; });
  if (after == u.definitions.begin()) return nullptr;
  const definition& d = *--after;
  return d.is_function() && token < d.end ? &d : nullptr;
}

std::size_t declared_name(const token_list& s, std::size_t begin, std::size_t end) {
  std::size_t name = end;
  for (std::size_t i = begin; i < end; ++i) {
    const token& t = s[i];
    if (t.is("=") || t.is("[") || t.is("{") || t.is(",") || t.is(":")) break;
    if (t.is("<")) {
      const std::size_t after = s.after_angles(i, end);
      if (after != i) i = after - 1;
    } else if (t.is("(")) {
      if (i > begin && takes_parenthesis(s[i - 1].text)) {
        i = s.closing(i);
      } else if (s[i + 1].is("*") || s[i + 1].is("&")) {
        continue;  // skips (*name)(...) and (&name)[...]
      } else {
        break;
      }
    } else if (t.is(")")) {
      break;
    } else if (t.is_identifier() && !takes_parenthesis(t.text)) {
      name = i;
    }
  }
  return name;
}

}  // namespace troupe::cuda_on_host
