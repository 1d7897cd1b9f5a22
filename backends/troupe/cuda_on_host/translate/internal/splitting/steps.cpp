// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Two accesses are compared by the text of their subscripts: s[t] and s[t + 1] are taken for different elements, s[t]
// and s[t] for the same. A wrong result costs an unnecessary step, or leaves a race of the source as it is.
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/declaration.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/parameters.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/statements.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>
#include <troupe/cuda_on_host/translate/internal/pattern.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/steps.hpp>
#include <troupe/cuda_on_host/translate/internal/waiting_names.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

namespace troupe::cuda_on_host {

namespace {

struct watched {
  bool is_single;           // the name is one variable, without subscripts
  std::size_t declared_at;  // position of the name in its declaration
};
using watched_names = std::unordered_map<std::string_view, watched>;

bool is_qualifier(const token& t) noexcept {
  return t.is("const") || t.is("volatile") || t.is("__restrict__") || t.is("__restrict");
}
// Returns true if a * precedes the declared name and its qualifiers.
bool is_declared_as_pointer(const token_list& s, std::size_t name) noexcept {
  std::size_t at = name - 1;
  while (is_qualifier(s[at])) --at;
  return s[at].is("*");
}

// Adds the variables that a statement declares as pointers to, or arrays of, volatile elements.
void add_volatile(const token_list& s, std::size_t at, std::size_t limit, watched_names& out) {
  for (std::size_t i = at; i < limit && !s[i].is(";") && !s[i].is(")"); ++i) {
    if (!s[i].is_identifier() || is_qualifier(s[i])) continue;
    const token& next = s[i + 1];
    const bool ends = next.is("=") || next.is(";") || next.is(",") || next.is("{") || next.is("(");
    if (next.is("[") || (ends && is_declared_as_pointer(s, i))) out.emplace(s[i].text, watched{false, i});
    if (next.is("=")) return;
  }
}

watched_names volatile_names(const token_list& s, const unit& u, const definition& d) {
  watched_names out;
  if (!d.is_kernel)
    for (const kernel_parameter& p : read_parameters(s, u, d.parameters)) {
      bool is_volatile = false, is_pointer = false;
      for (std::size_t i = p.begin; i < p.end; ++i) {
        is_volatile |= s[i].is("volatile");
        is_pointer |= s[i].is("*") || s[i].is("[");
      }
      if (is_volatile && is_pointer && !p.name.empty()) out.emplace(p.name, watched{false, p.name_at});
    }
  for (std::size_t i = d.body; i < d.end; ++i)
    if (s[i].is("volatile") && !s[i - 1].is("asm") && !s[i - 1].is("__asm__")) add_volatile(s, i + 1, d.end, out);
  return out;
}

// Finds functions and classes that return shared memory: SharedMemory<T>().
std::unordered_set<std::string_view> find_shared_memory_functions(const token_list& s, const unit& u) {
  std::unordered_set<std::string_view> out;
  for (const definition& d : u.definitions) {
    if (d.is_kernel || !d.is_function() || !d.has_body) continue;
    for (std::size_t i = d.body; i < d.end; ++i)
      if (s[i].is("__shared__")) {
        if (!d.name.empty()) out.insert(d.name);
        for (const std::string_view c : u.classes)
          if (d.scope.ends_with(std::string(c) + "::")) out.insert(c);
        break;
      }
  }
  return out;
}

watched_names shared_names(const token_list& s, const unit& u, const definition& d) {
  watched_names out;
  for (const dynamic_array& a : u.dynamic_arrays) out.emplace(a.name, watched{false, a.begin});
  if (!d.is_kernel)
    for (const kernel_parameter& p : read_parameters(s, u, d.parameters)) {
      bool is_unaliased = false;  // no other thread writes to what the parameter points to
      for (std::size_t i = p.begin; i < p.end; ++i)
        is_unaliased |= s[i].is("const") || s[i].is("__restrict__") || s[i].is("__restrict");
      if (p.is_pointer && !is_unaliased) out.emplace(p.name, watched{false, p.name_at});
    }
  const std::unordered_set<std::string_view> shared_memory_functions = find_shared_memory_functions(s, u);
  std::size_t begin = d.body + 1;
  for (std::size_t i = d.body; i < d.end; ++i) {
    if (s[i].is(";") || s[i].is("{") || s[i].is("}")) begin = i + 1;
    if (s[i].is("__shared__")) {
      std::size_t end = i;
      while (end < d.end && !s[end].is(";")) ++end;
      if (is_specifier_beside(s, i, "extern")) {
        if (const std::size_t name = declared_name(s, begin, end); name < end)
          out.emplace(s[name].text, watched{false, name});
      } else {
        for (const declarator& v : classify(s, begin, end + 1).variables.declarators)
          out.emplace(v.name, watched{!v.is_array, v.name_at});
      }
      i = end;
      begin = end + 1;
      continue;
    }
    // Matches a pointer to shared memory: T* p = &s[4];
    const bool assigned = s[i + 1].is("=") || s[i + 1].is("{") || s[i + 1].is("(");
    if (!s[i].is_identifier() || !assigned || i <= begin || !is_declared_as_pointer(s, i)) continue;
    for (std::size_t k = i + 2; k < d.end && !s[k].is(";") && !s[k].is(","); ++k)
      if (s[k].is_identifier() && !is_member(s, k) &&
          (out.contains(s[k].text) || shared_memory_functions.contains(s[k].text)))
        out.emplace(s[i].text, watched{false, i});
  }
  return out;
}

// Visits statements in the order in which a thread executes them.
class statement_visitor {
 public:
  // `deep`: also visits statements inside statements without a barrier. `found` receives the first token of each
  // statement that accesses memory which an earlier statement has accessed in another way.
  statement_visitor(const token_list& source, const definition& d, const watched_names& names,
                    const std::function<bool(std::string_view)>& waits, bool deep,
                    const std::function<void(std::size_t)>& found)
      : s_(source), names_(names), found_(found), deep_(deep), first_(d.body), budget_(64 * (d.end - d.body)) {
    before_.push_back(0);
    for (std::size_t i = d.body; i < d.end; ++i)
      before_.push_back(before_.back() + (s_[i].is_identifier() && waits(s_[i].text) ? 1 : 0));
  }

  void run(std::size_t open) {
    uses so_far;
    list(open + 1, s_.closing(open), so_far);
  }

 private:
  struct use {
    std::set<std::string> loads, stores;
  };
  using uses = std::unordered_map<std::string_view, use>;
  static constexpr std::size_t no_statement = SIZE_MAX;

  bool waits(std::size_t begin, std::size_t end) const { return before_[end - first_] != before_[begin - first_]; }

  void list(std::size_t i, std::size_t end, uses& so_far) {
    while (i < end) {
      const std::size_t behind = statement_end(s_, i, end);
      if (behind > i) {
        statement(i, std::min(behind, end), so_far, true);
        i = behind;
        continue;
      }
      while (i < end && !s_[i].is(":")) ++i;  // skips to the : of a label
      ++i;
    }
  }

  // `listed`: the statement is in a list of statements, so a step may be inserted before it.
  void statement(std::size_t i, std::size_t end, uses& so_far, bool listed) {
    const std::size_t begin = listed ? i : no_statement;
    while (i < end && s_[i].kind == token_kind::pragma) ++i;
    if (budget_ < end - i) return;
    budget_ -= end - i;
    if (!deep_ && !waits(i, end)) return plain(begin, i, end, so_far);
    if (s_[i].is("{")) return list(i + 1, end - 1, so_far);
    if (s_[i].is("do")) return repeated(i + 1, statement_end(s_, i + 1, end), so_far);
    if (!is_control_word(s_[i].text)) return plain(begin, i, end, so_far);
    std::size_t open = i + 1;
    if (s_[open].is("constexpr")) ++open;
    const std::size_t inner = s_.closing(open) + 1;
    if (inner >= end) return plain(begin, i, end, so_far);
    plain(begin, open, inner, so_far);
    if (!s_[i].is("if")) return repeated(inner, end, so_far);
    const std::size_t behind = statement_end(s_, inner, end);
    uses other = so_far;
    statement(inner, behind, so_far, false);
    if (s_[behind].is("else")) statement(behind + 1, end, other, false);
    for (auto& [name, u] : other) {
      so_far[name].loads.merge(u.loads);
      so_far[name].stores.merge(u.stores);
    }
  }

  // Visits a loop's body twice, because the end of the body precedes its beginning in the next iteration.
  void repeated(std::size_t begin, std::size_t end, uses& so_far) {
    if (end <= begin) return;
    statement(begin, end, so_far, false);
    statement(begin, end, so_far, false);
  }

  // Visits a statement without inner statements. `begin` is its first token, which identifies it.
  void plain(std::size_t begin, std::size_t i, std::size_t end, uses& so_far) {
    if (waits(i, end)) so_far.clear();
    uses here;
    for (; i < end; ++i)
      if (s_[i].is_identifier() && !is_member(s_, i)) look(i, here);
    if (conflict(so_far, here)) {
      found_(begin);
      so_far.clear();
    }
    for (auto& [name, u] : here) {
      so_far[name].loads.merge(u.loads);
      so_far[name].stores.merge(u.stores);
    }
  }

  static bool differ(const std::set<std::string>& a, const std::set<std::string>& b) {
    return !a.empty() && !b.empty() && (a.size() != 1 || b.size() != 1 || a != b);
  }
  static bool conflict(const uses& before, const uses& now) {
    return std::any_of(now.begin(), now.end(), [&](const auto& one) {
      const auto found = before.find(one.first);
      return found != before.end() &&
             (differ(found->second.loads, one.second.stores) || differ(found->second.stores, one.second.loads));
    });
  }

  void look(std::size_t i, uses& here) {
    const auto found = names_.find(s_[i].text);
    if (found == names_.end() || found->second.declared_at == i) return;
    std::size_t first = i, last = i;
    std::string index;
    const auto add = [&](std::size_t from, std::size_t to) {
      for (std::size_t k = from; k < to; ++k) index.append(s_[k].text).append(" ");
    };
    if (s_[i - 1].is("(") && s_[i - 2].is("*") && s_.closing(i - 1) < s_.size()) {  // as in *(p + 1)
      last = s_.closing(i - 1);
      first = i - 2;
      add(i + 1, last);
      index += "*";
    } else if (s_[i - 1].is("*") && !s_[i + 1].is("[") && !s_[i - 2].is_identifier() && !s_[i - 2].is(")") &&
               s_[i - 2].kind != token_kind::number) {  // as in *p
      first = i - 1;
      index = "*";
    }
    for (;;) {
      if (s_[last + 1].is("[") && s_.closing(last + 1) < s_.size()) {
        add(last + 2, s_.closing(last + 1));
        index += ",";
        last = s_.closing(last + 1);
      } else if ((s_[last + 1].is(".") || s_[last + 1].is("->")) && s_[last + 2].is_identifier()) {
        last += 2;
      } else {
        break;
      }
    }
    if (index.empty() && !found->second.is_single) return;  // the address of the whole array
    if (s_[first - 1].is("&") && (s_[first - 2].is("(") || s_[first - 2].is(","))) return;  // as in atomicAdd(&s[i], 1)
    const token& next = s_[last + 1];
    const bool steps = is_step(next) || is_step(s_[first - 1]);
    if (steps || is_assignment(next)) here[found->first].stores.insert(index);
    if (!next.is("=")) here[found->first].loads.insert(index);
  }

  const token_list& s_;
  const watched_names& names_;
  const std::function<void(std::size_t)>& found_;
  const bool deep_;
  const std::size_t first_;
  std::size_t budget_;  // number of tokens that may still be examined
  std::vector<std::uint32_t> before_;
};

// Finds statements that store through volatile names, and the statements around them.
class store_finder {
 public:
  store_finder(const token_list& source, const watched_names& names) : s_(source), names_(names) {}

  volatile_steps run(std::size_t open) {
    (void)list(open + 1, s_.closing(open));
    return std::move(out_);
  }

 private:
  static constexpr std::size_t deepest = 64;

  bool list(std::size_t i, std::size_t end) {
    bool any = false;
    while (i < end) {
      const std::size_t behind = statement_end(s_, i, end);
      if (behind == i) {
        while (i < end && !s_[i].is(":")) ++i;
        ++i;
        continue;
      }
      any |= statement(i, std::min(behind, end));
      i = behind;
    }
    return any;
  }

  bool statement(std::size_t i, std::size_t end) {
    if (depth_ >= deepest) return false;
    ++depth_;
    const bool any = inside(i, end);
    --depth_;
    return any;
  }
  bool inside(std::size_t i, std::size_t end) {
    while (i < end && s_[i].kind == token_kind::pragma) ++i;
    if (s_[i].is("{")) return list(i + 1, end - 1);
    const bool is_do = s_[i].is("do");
    if (!is_do && !is_control_word(s_[i].text)) return store(i, end);
    std::size_t open = i + 1;
    if (s_[open].is("constexpr")) ++open;
    const std::size_t inner = is_do ? i + 1 : s_.closing(open) + 1, behind = statement_end(s_, inner, end);
    if (inner >= end || behind == inner) return false;
    bool any = statement(inner, behind);
    if (s_[i].is("if") && s_[behind].is("else")) any |= statement(behind + 1, end);
    if (any) out_.joins.emplace_back(i, end);
    return any;
  }

  bool store(std::size_t i, std::size_t end) {
    std::size_t at = i;
    while (is_step(s_[at]) || s_[at].is("*") || s_[at].is("(")) ++at;
    if (!s_[at].is_identifier() || !names_.contains(s_[at].text)) return false;
    for (std::size_t k = at + 1; k < end; ++k) {
      if (s_[k].is("[") || s_[k].is("(")) {
        k = s_.closing(k);
      } else if (is_assignment(s_[k]) && !s_[k + 1].is("{")) {
        out_.stores.push_back({i, k, end});
        return true;
      } else if (is_step(s_[k])) {
        break;
      }
    }
    out_.stores.push_back({i, end, end});
    return true;
  }

  const token_list& s_;
  const watched_names& names_;
  std::size_t depth_ = 0;
  volatile_steps out_;
};

std::string in_step(std::size_t rank, std::size_t token) { return cat("::troupe_cuda::in_step(", rank + token, "u);"); }

}  // namespace

volatile_steps find_volatile_steps(const token_list& s, const unit& u, const definition& d) {
  const watched_names names = volatile_names(s, u, d);
  if (names.empty()) return {};
  bool races = false;
  const std::function<bool(std::string_view)> waits = [](std::string_view word) {
    return waits_for_others(word) || word == "sync";
  };
  const std::function<void(std::size_t)> found = [&](std::size_t) { races = true; };
  statement_visitor(s, d, names, waits, true, found).run(d.body);
  return races ? store_finder(s, names).run(d.body) : volatile_steps{};
}

void write_steps(edited_source& e, const volatile_steps& steps, std::size_t rank) {
  const token_list& s = e.tokens();
  for (const volatile_steps::store& one : steps.stores) {
    const std::string before = in_step(rank, one.begin), behind = in_step(rank, one.end);
    if (one.assignment == one.end) {
      e.add_before(one.begin, "{" + before);
      e.add_behind(one.end - 1, behind + "}");
      continue;
    }
    // Generates code in which all threads read before any of them writes.
    std::string operation(s[one.assignment].text);
    operation.pop_back();
    e.add_before(one.begin, "{ auto& troupe_at = ");
    e.replace(one.assignment,
              "; const auto troupe_w = (" + (operation.empty() ? std::string() : "troupe_at " + operation + " ") + "(");
    e.replace(one.end - 1, "));" + before + "troupe_at = troupe_w;" + behind + "}");
  }
  for (const auto& [begin, end] : steps.joins) {
    e.add_before(begin, "{");
    e.add_behind(end - 1, in_step(rank, end) + "}");
  }
}

std::unordered_set<std::size_t> find_shared_steps(const token_list& s, const unit& u, const definition& d,
                                                  const std::function<bool(std::string_view)>& waits) {
  std::unordered_set<std::size_t> out;
  const watched_names names = shared_names(s, u, d);
  if (names.empty()) return out;
  const std::function<void(std::size_t)> found = [&](std::size_t begin) {
    if (begin < d.end) out.insert(begin);
  };
  statement_visitor(s, d, names, waits, false, found).run(d.body);
  return out;
}

void write_steps(edited_source& e, const std::unordered_set<std::size_t>& before, std::size_t rank) {
  for (const std::size_t begin : before) e.add_before(begin, in_step(rank, begin));
}

}  // namespace troupe::cuda_on_host
