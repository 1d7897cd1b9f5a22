// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/pattern.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/plan.hpp>

namespace troupe::cuda_on_host {

namespace {

class planner {
 public:
  planner(const token_list& source, const unit& u, const level_variables& variables,
          const std::unordered_set<std::size_t>& steps)
      : s_(source), u_(u), v_(variables), steps_(steps) {}

  split_plan run(const definition& kernel, const body_outline& body, const std::vector<kernel_parameter>& parameters) {
    check_words(kernel, body.whole);
    for (const kernel_parameter& p : parameters) check_parameter(p);
    for (const level_variable& v : v_.all()) check_variable(v);
    for (const statement& s : body.whole.inner) add(s, out_.steps);
    close(out_.steps);
    find_uses_of_segments();
    return std::move(out_);
  }

 private:
  void set_obstacle(std::size_t at, const std::string& what) {
    if (out_.obstacle.empty()) out_.obstacle = cat("line ", s_[at].line, ": ", what);
  }

  // Returns the region to which the next statement is added.
  step& region(std::vector<step>& to) {
    if (to.empty() || to.back().kind != step::form::region || !open_) {
      to.push_back({.kind = step::form::region, .segment = new_segment()});
      open_ = true;
    }
    return to.back();
  }
  void close(std::vector<step>&) { open_ = false; }
  int new_segment() {
    out_.segments.emplace_back();
    ranges_.emplace_back();
    return static_cast<int>(out_.segments.size()) - 1;
  }

  void add_text(std::size_t begin, std::size_t end, std::vector<step>& to) {
    if (begin >= end) return;
    step& r = region(to);
    if (!r.text.empty() && r.text.back().second == begin)
      r.text.back().second = end;
    else
      r.text.emplace_back(begin, end);
    ranges_[static_cast<std::size_t>(r.segment)].emplace_back(begin, end);
  }

  // Adds a statement that runs once for the block. It is placed before the region being filled, unless one of the two
  // mentions a name that the other declares.
  void add_block(std::size_t begin, std::size_t end, std::vector<step>& to) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!s_[i].is_identifier() || is_member(s_, i)) continue;
      const int v = v_.find_variable(s_[i].text, i);
      if (v >= 0 && v_.storage_of(v) != variable_storage::uniform)
        set_obstacle(i, "a declaration for the block that depends on a variable of a thread");
    }
    step one{.kind = step::form::block_text};
    one.text.emplace_back(begin, end);
    if (open_ && !to.empty() && !shares_names(to.back(), begin, end)) {
      to.insert(to.end() - 1, std::move(one));
    } else {
      close(to);
      to.push_back(std::move(one));
    }
  }
  // Returns true if the region or the statement mentions a name that the other declares, in whatever meaning.
  bool shares_names(const step& region, std::size_t begin, std::size_t end) const {
    const std::set<std::string_view> here = declared_in(begin, end);
    std::set<std::string_view> mentioned;
    for (std::size_t i = begin; i < end; ++i)
      if (s_[i].is_identifier()) mentioned.insert(s_[i].text);
    std::size_t examined = 0;
    for (const token_range& r : region.text) {
      for (const level_declaration& d : v_.declarations()) {
        if (++examined > 4096) return true;
        if (d.begin >= r.first && d.end <= r.second)
          for (const declarator& one : d.text.declarators)
            if (mentioned.contains(one.name)) return true;
      }
      for (std::size_t i = r.first; i < r.second; ++i) {
        if (++examined > 4096) return true;
        if (s_[i].is_identifier() && here.contains(s_[i].text)) return true;
      }
    }
    return false;
  }
  // Returns the names that a statement for the block declares: all names in it, unless it is a simple declaration.
  std::set<std::string_view> declared_in(std::size_t begin, std::size_t end) const {
    std::set<std::string_view> out;
    const classified_statement c = classify(s_, begin, end);
    if (c.kind == statement_kind::block_wide) {
      for (std::size_t i = begin; i < end; ++i)
        if (s_[i].is_identifier()) out.insert(s_[i].text);
    } else {
      for (const declarator& d : c.variables.declarators) out.insert(d.name);
    }
    return out;
  }

  void add(const statement& s, std::vector<step>& to) {
    switch (s.kind) {
      case statement::form::barrier:
        return close(to);
      case statement::form::plain:
        if (steps_.contains(s.begin)) close(to);
        return add_plain(s.begin, s.end, to);
      case statement::form::compound: {
        close(to);
        step scope{.kind = step::form::scope};
        fill(s, scope.inner);
        to.push_back(std::move(scope));
        return;
      }
      case statement::form::branch: {
        close(to);
        step branch{.kind = step::form::branch, .is_constexpr = s.is_constexpr};
        add_condition(s, branch);
        fill(s.inner[0], branch.inner);
        if (s.inner.size() > 1) fill(s.inner[1], branch.other);
        to.push_back(std::move(branch));
        return;
      }
      case statement::form::for_loop: {
        close(to);
        step scope{.kind = step::form::scope};
        if (s.start < s.start_end) add_plain(s.start, s.start_end + 1, scope.inner);
        close(scope.inner);
        step loop{.kind = step::form::loop};
        add_condition(s, loop);
        fill(s.inner[0], loop.inner);
        add_steps(s, loop.after);
        scope.inner.push_back(std::move(loop));
        to.push_back(std::move(scope));
        return;
      }
      case statement::form::while_loop:
      case statement::form::do_loop: {
        close(to);
        step loop{.kind = s.kind == statement::form::do_loop ? step::form::do_loop : step::form::loop};
        add_condition(s, loop);
        fill(s.inner[0], loop.inner);
        to.push_back(std::move(loop));
        return;
      }
    }
  }

  // Adds the steps of a statement that is the body of a branch or loop.
  void fill(const statement& s, std::vector<step>& to) {
    if (s.kind == statement::form::compound)
      for (const statement& inner : s.inner) add(inner, to);
    else
      add(s, to);
    close(to);
  }

  void add_plain(std::size_t begin, std::size_t end, std::vector<step>& to) {
    if (const int d = v_.declared_at(begin); d >= 0) {
      if (v_.declarations()[static_cast<std::size_t>(d)].storage == variable_storage::uniform)
        return add_block(begin, end, to);
      return add_text(begin, end, to);
    }
    if (v_.is_uniform_update(begin, end - 1)) {
      close(to);
      to.push_back({.kind = step::form::block_text, .text = {{begin, end}}});
      return;
    }
    switch (classify(s_, begin, end).kind) {
      case statement_kind::shared:
      case statement_kind::block_wide:
        return add_block(begin, end, to);
      default:
        return add_text(begin, end, to);
    }
  }

  // Adds the third part of a for: an expression that changes a uniform variable runs once, others for each thread.
  void add_steps(const statement& s, std::vector<step>& to) {
    std::size_t begin = s.step;
    for (std::size_t i = s.step; i <= s.step_end; ++i) {
      if (i != s.step_end && !s_[i].is(",")) {
        if (s_[i].is("(") || s_[i].is("[") || s_[i].is("{")) i = s_.closing(i);
        continue;
      }
      if (begin < i) {
        if (v_.is_uniform_update(begin, i)) {
          close(to);
          to.push_back({.kind = step::form::block_text, .text = {{begin, i}}});
        } else {
          add_text(begin, i, to);
          open_ = false;  // one expression in each region, because expressions have no semicolons
        }
      }
      begin = i + 1;
    }
    close(to);
  }

  void add_condition(const statement& s, step& to) {
    to.condition = {s.condition, s.condition_end};
    to.is_uniform = s.is_constexpr || s.condition == s.condition_end || v_.is_uniform(s.condition, s.condition_end);
    if (to.is_uniform) return;
    if (classify(s_, s.condition, s.condition_end).kind != statement_kind::expression)
      set_obstacle(s.begin, "a declaration in the condition of a statement around a barrier");
    to.segment = new_segment();
    ranges_[static_cast<std::size_t>(to.segment)].emplace_back(s.condition, s.condition_end);
  }

  // Finds the variables that each segment uses, and the variables that live across barriers.
  void find_uses_of_segments() {
    for (std::size_t n = 0; n < ranges_.size(); ++n)
      for (const token_range& r : ranges_[n])
        for (std::size_t i = r.first; i < r.second; ++i) {
          if (!s_[i].is_identifier() || is_member(s_, i)) continue;
          const int v = v_.find_variable(s_[i].text, i);
          if (v < 0 || v_.storage_of(v) == variable_storage::uniform) continue;
          const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
          if (variable.shape.name_at == i && !variable.is_parameter) out_.segments[n].declares.insert(v);
          out_.segments[n].uses.insert(v);
        }
    for (segment& s : out_.segments) {
      std::vector<int> rest(s.uses.begin(), s.uses.end());
      while (!rest.empty()) {
        const int v = rest.back();
        rest.pop_back();
        if (s.declares.contains(v)) continue;
        out_.crossing.insert(v);
        if (v_.storage_of(v) == variable_storage::recomputed)
          for (const int other : dependencies_of(v))
            if (s.uses.insert(other).second) rest.push_back(other);
      }
    }
    for (const int v : out_.crossing) {
      const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
      if (variable.is_parameter || v_.storage_of(v) != variable_storage::stored) continue;
      if (is_lambda(variable))
        set_obstacle(variable.begin, "the lambda '" + std::string(variable.name) + "' lives across a barrier");
      for (std::size_t i = variable.shape.begin; i < variable.shape.end; ++i)
        if (s_[i].is_identifier() && i != variable.shape.name_at)
          if (const int o = v_.find_variable(s_[i].text, i); o >= 0 && v_.storage_of(o) != variable_storage::uniform)
            set_obstacle(i, "the size of '" + std::string(variable.name) + "' depends on a variable of a thread");
      if (v_.declarations()[variable.declaration].text.is_auto &&
          (variable.shape.is_array || !variable.shape.is_assigned))
        set_obstacle(variable.begin, "the type of '" + std::string(variable.name) + "' is not understood");
    }
  }

  std::vector<int> dependencies_of(int v) const {
    std::vector<int> out;
    const level_declaration& d = v_.declarations()[v_.all()[static_cast<std::size_t>(v)].declaration];
    for (std::size_t i = d.begin; i < d.end; ++i) {
      if (!s_[i].is_identifier() || is_member(s_, i)) continue;
      const int o = v_.find_variable(s_[i].text, i);
      if (o >= 0 && o != v && v_.storage_of(o) != variable_storage::uniform) out.push_back(o);
    }
    return out;
  }

  // Refuses words whose effects are not analyzed here.
  void check_words(const definition& kernel, const statement& whole) {
    constexpr std::string_view words[] = {
        "decltype", "__decltype",       "typeof",    "__typeof__", "__typeof", "__auto_type", "alloca", "setjmp",
        "try",      "__builtin_alloca", "class",     "struct",     "union",    "operator",    "new",    "delete",
        "static",   "thread_local",     "co_return", "co_await",   "co_yield", "template"};
    if (u_.has_hidden_uses)
      set_obstacle(kernel.name_at, "operators and constructors of the source take references to numbers");
    for (std::size_t i = whole.begin; i < whole.end; ++i) {
      if (s_[i].is("[") && !is_subscript(i)) {
        for (std::size_t k = i + 1; k < s_.closing(i) && k < whole.end; ++k)
          if (s_[k].is("&") || s_[k].is("this") || s_[k].is("["))
            set_obstacle(i, s_[k].is("[") ? "an attribute" : "a lambda that refers to variables");
      }
      if (!s_[i].is_identifier() || is_member(s_, i)) continue;
      if (s_[i].is("static") && is_specifier_beside(s_, i, "__shared__")) continue;
      if (std::find(std::begin(words), std::end(words), s_[i].text) != std::end(words))
        set_obstacle(i, "'" + std::string(s_[i].text) + "' in a kernel with a barrier");
      if (v_.templates().types.contains(s_[i].text)) require(fill_in("::troupe_cuda::data<%1>", {s_[i].text}));
    }
  }
  bool is_subscript(std::size_t i) const {
    const token& t = s_[i - 1];
    return (t.is_identifier() && !is_word_before_expression(t.text)) || t.is(")") || t.is("]");
  }

  void require(std::string condition) {
    if (std::find(out_.conditions.begin(), out_.conditions.end(), condition) == out_.conditions.end())
      out_.conditions.push_back(std::move(condition));
    if (out_.conditions.size() > 100) out_.obstacle = "too many types that are not known";
  }

  // A parameter that is neither a number nor a pointer is shared by all threads, so only its members may be read. The
  // memory that they point to may be used in any way.
  void check_parameter(const kernel_parameter& p) {
    if (p.name.empty() || p.is_number || p.is_pointer) return;
    for (const name_use& use : v_.uses().of(p.name))
      if (use.kind != use_kind::read && use.kind != use_kind::assigned && use.pointee == 0)
        set_obstacle(use.at, "what happens to the parameter '" + std::string(p.name) +
                                 "' is not understood; copy the member that is needed to a local variable");
    require(fill_in(u_.has_operators ? "::troupe_cuda::number<decltype(%1)>" : "::troupe_cuda::data<decltype(%1)>",
                    {p.name}));
    check_members(p.name, "decltype(" + std::string(p.name) + ")", 0, s_.size());
  }

  void check_variable(const level_variable& v) {
    const std::string name(v.name);
    if (v.shape.is_reference) set_obstacle(v.begin, "the reference '" + name + "' is declared between barriers");
    if (v.is_parameter || !is_lambda(v)) check_addresses(v);
    if (v.is_parameter || v.form == type_form::number || v.form == type_form::pointer || is_lambda(v)) return;
    const level_declaration& d = v_.declarations()[v.declaration];
    if (d.text.is_auto) {
      const int index = v_.find_variable(v.name, v.shape.name_at);
      if (index >= 0 && v_.storage_of(index) != variable_storage::stored) return;
      return set_obstacle(v.begin, "the type of '" + name + "' is not understood");
    }
    if (v.form == type_form::vector && !u_.has_operators) return;
    std::string type;
    for (std::size_t i = d.text.type; i < d.text.type_end; ++i) {
      if (s_[i].kind == token_kind::pragma) continue;
      if (v_.declares(s_[i].text) || s_[i].is("alignas") || s_[i].is("__align__"))
        return set_obstacle(v.begin, "the type of '" + name + "' is not understood");
      if (!s_[i].is("const") && !s_[i].is("__device__") && !s_[i].is("register")) type += std::string(s_[i].text) + " ";
    }
    require(fill_in(u_.has_operators ? "::troupe_cuda::number<%1>" : "::troupe_cuda::data<%1>", {type}));
    check_members(v.name, type, v.begin, v.end);
  }

  // x.a.b must be a number: an array would decay to a pointer into x. In x.a.b[i], it must be a pointer.
  void check_members(std::string_view name, const std::string& type, std::size_t begin, std::size_t end) {
    for (const name_use& use : v_.uses().of(name)) {
      if (use.at < begin || use.at >= end || !use.has_member) continue;
      std::string chain;
      const std::size_t chain_end = use.pointee != 0 ? use.pointee : use.end;
      for (std::size_t i = use.at + 1; i < chain_end; ++i) {
        if (s_[i].is("[") && chain.empty()) {
          i = s_.closing(i);
        } else if (s_[i].is(".") || s_[i].is_identifier()) {
          chain += s_[i].text;
        } else {
          return set_obstacle(use.at, "what happens to a member of '" + std::string(name) + "' is not understood");
        }
      }
      const std::string trait = use.pointee != 0 ? "pointer" : "member";
      require(fill_in("::troupe_cuda::%3<decltype(::troupe_cuda::some<%1>()%2)>", {type, chain, trait}));
    }
  }

  // A variable has a different address in each region and ends with its region, so its address must not be kept.
  void check_addresses(const level_variable& v) {
    const bool is_pointer = v.form == type_form::pointer && !v.shape.is_array;
    for (const name_use& use : v_.uses().of(v.name)) {
      if (use.at < v.begin || use.at >= v.end || use.at == v.shape.name_at) continue;
      if (is_pointer && use.leaves_pointer()) continue;
      if (use.kind == use_kind::lent || (v.shape.is_array && use.is_argument)) continue;
      const bool whole = v.shape.is_array && use.subscripts < v.shape.dimensions;
      if (use.kind == use_kind::leaked || whole)
        set_obstacle(use.at, "what happens to '" + std::string(v.name) + "' is not understood");
    }
  }

  // Returns true for a lambda that is called and not used in any other way.
  bool is_lambda(const level_variable& v) const {
    if (v.is_parameter || !v_.declarations()[v.declaration].text.is_auto || !v.shape.is_assigned ||
        !s_[v.shape.initialiser].is("["))
      return false;
    const std::vector<name_use>& uses = v_.uses().of(v.name);
    return std::all_of(uses.begin(), uses.end(), [&](const name_use& use) {
      return use.at < v.begin || use.at >= v.end || use.at == v.shape.name_at || s_[use.at + 1].is("(");
    });
  }

  const token_list& s_;
  const unit& u_;
  const level_variables& v_;
  const std::unordered_set<std::size_t>& steps_;
  split_plan out_;
  std::vector<std::vector<token_range>> ranges_;  // for each segment, its tokens
  bool open_ = false;                             // the last region accepts more statements
};

}  // namespace

split_plan make_plan(const token_list& source, const unit& u, const definition& kernel, const body_outline& body,
                     const level_variables& variables, const std::vector<kernel_parameter>& parameters,
                     const std::unordered_set<std::size_t>& steps) {
  return planner(source, u, variables, steps).run(kernel, body, parameters);
}

}  // namespace troupe::cuda_on_host
