// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/pattern.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/guard.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/plan.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/split.hpp>

namespace troupe::cuda_on_host {

namespace {

constexpr const char* lambda_head =
    "[&](const ::uint3 threadIdx, const unsigned troupe_t) __attribute__((always_inline))";

class writer {
 public:
  writer(edited_source& source, const unit& u, const definition& kernel,
         const std::vector<kernel_parameter>& parameters, bool functions_read_index,
         const std::unordered_set<std::size_t>& steps)
      : e_(source),
        s_(source.tokens()),
        u_(u),
        kernel_(kernel),
        body_(outline(s_, kernel.body)),
        v_(s_, u, kernel, body_, parameters),
        parameters_(parameters),
        functions_read_index_(functions_read_index),
        steps_(steps) {}

  split_body run() {
    if (!body_.obstacle.empty()) return {.obstacle = body_.obstacle};
    if (!v_.obstacle().empty()) return {.obstacle = v_.obstacle()};
    find_returns();
    if (!obstacle_.empty()) return {.obstacle = obstacle_};
    plan_ = make_plan(s_, u_, kernel_, body_, v_, parameters_, steps_);
    if (!plan_.obstacle.empty()) return {.obstacle = plan_.obstacle};
    for (const std::size_t r : returns_) e_.replace(r, "return false");
    if (!returns_.empty()) out_ += "::troupe_cuda::remaining_threads troupe_left(troupe_f);";
    own_parameters();
    write(plan_.steps);
    std::string condition;
    for (const std::string& c : plan_.conditions) condition += (condition.empty() ? "" : " && ") + c;
    return {.text = std::move(out_), .condition = std::move(condition)};
  }

 private:
  bool leaves_early() const noexcept { return !returns_.empty(); }
  const char* left() const noexcept { return leaves_early() ? "troupe_left" : "::troupe_cuda::all_threads()"; }
  std::string call(const char* function, int segment, const std::vector<token_range>& text) const {
    bool independent = true;
    for (const token_range& r : text) independent = independent && v_.is_independent(r.first, r.second);
    for (const int v : plan_.segments[static_cast<std::size_t>(segment)].uses) {
      const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
      independent = independent && !variable.shape.is_array &&
                    (variable.form == type_form::number || variable.form == type_form::pointer);
    }
    return std::string("::troupe_cuda::") + function + (functions_read_index_ ? "<true, " : "<false, ") +
           (independent ? "true" : "false") + ">(troupe_f, ";
  }

  // Finds returns after which other threads may reach a barrier: then the kernel must track which threads are left.
  void find_returns() {
    std::size_t last = 0;
    for (const statement& s : body_.whole.inner)
      if (s.kind != statement::form::plain) last = s.end;
    for (std::size_t i = body_.whole.begin; i < body_.whole.end; ++i) {
      if (s_[i].is("goto") || s_[i].is("asm") || s_[i].is("__asm__"))
        set_obstacle(i, std::string(s_[i].text) + " in a kernel with a barrier");
      const bool subscript =
          (s_[i - 1].is_identifier() && !s_[i - 1].is("return")) || s_[i - 1].is(")") || s_[i - 1].is("]");
      if (s_[i].is("[") && !subscript) i = behind_lambda(i);
      if (!s_[i].is("return")) continue;
      if (!s_[i + 1].is(";")) set_obstacle(i, "a return with a value in a kernel with a barrier");
      if (i < last) returns_.push_back(i);
    }
  }

  // Returns the last token of the lambda that begins at `i`, because its returns are not the kernel's; or `i` if there
  // is no lambda.
  std::size_t behind_lambda(std::size_t i) const {
    std::size_t k = s_.closing(i) + 1;
    if (s_[k].is("<")) k = s_.after_angles(k, body_.whole.end);
    if (s_[k].is("(")) k = s_.closing(k) + 1;
    if (!s_[k].is("{") && !s_[k].is("mutable") && !s_[k].is("noexcept") && !s_[k].is("constexpr") && !s_[k].is("->") &&
        !s_[k].is("__attribute__"))
      return i;
    for (std::size_t steps = 0; k < body_.whole.end && ++steps < 64; ++k) {
      if (s_[k].is("{")) return std::min(s_.closing(k), body_.whole.end);
      if (s_[k].is(";") || s_[k].is(",") || s_[k].is("]")) break;
      if (s_[k].is("(")) k = s_.closing(k);
    }
    return i;
  }

  void set_obstacle(std::size_t at, const std::string& what) {
    if (obstacle_.empty()) obstacle_ = cat("line ", s_[at].line, ": ", what);
  }

  // Turns parameters that threads write into variables of each thread.
  void own_parameters() {
    for (std::size_t v = 0; v < v_.all().size(); ++v) {
      if (!v_.all()[v].is_parameter) continue;
      const std::string n = std::to_string(v), name(v_.all()[v].name);
      out_ += fill_in(
          "using troupe_T%1 = typename ::troupe_cuda::plain<decltype(%2)>::type;"
          "troupe_T%1* const troupe_v%1 = ::troupe_cuda::per_thread<troupe_T%1>(troupe_f);"
          "for (unsigned troupe_t = 0; troupe_t < troupe_f.threads; ++troupe_t) "
          "::troupe_cuda::store(troupe_v%1[troupe_t], %2);",
          {n, name});
    }
  }

  void write(const std::vector<step>& steps) {
    for (const step& s : steps) switch (s.kind) {
        case step::form::block_text:
          // g++ 12 fails on an array in a lambda whose size is a constant of an enclosing lambda, unless the constant
          // is static.
          if (is_constant(s.text[0].first)) out_ += "static ";
          out_ += e_.marker(s.text[0].first) + e_.slice(s.text[0].first, s.text[0].second) + ";";
          break;
        case step::form::region:
          write_region(s);
          break;
        case step::form::scope:
          out_ += "{ const ::troupe_cuda::scratch_scope troupe_s(troupe_f);";
          write(s.inner);
          out_ += "}";
          break;
        case step::form::branch:
          write_branch(s);
          break;
        case step::form::loop:
        case step::form::do_loop:
          out_ += "for (;;) {";
          if (s.kind == step::form::loop) write_exit(s);
          out_ += "{ const ::troupe_cuda::scratch_scope troupe_s(troupe_f);";
          write(s.inner);
          out_ += "}";
          if (s.kind == step::form::do_loop) write_exit(s);
          write(s.after);
          out_ += "}";
          break;
      }
  }

  bool is_constant(std::size_t i) const {
    while (s_[i].kind == token_kind::pragma) ++i;
    return (s_[i].is("constexpr") || is_specifier_beside(s_, i, "constexpr")) && !s_[i].is("static") &&
           !is_specifier_beside(s_, i, "static");
  }

  void write_branch(const step& s) {
    if (s.is_uniform) {
      out_ += e_.marker(s.condition.first) + (s.is_constexpr ? "if constexpr (" : "if (") +
              e_.slice(s.condition.first, s.condition.second) + ") {";
    } else {
      ask(s);
      out_ += "if (troupe_a == ::troupe_cuda::answer::yes) {";
    }
    out_ += "const ::troupe_cuda::scratch_scope troupe_s(troupe_f);";
    write(s.inner);
    out_ += "} else { const ::troupe_cuda::scratch_scope troupe_s(troupe_f);";
    write(s.other);
    out_ += s.is_uniform ? "}" : "} }";
  }

  void write_exit(const step& s) {
    if (leaves_early()) out_ += "if (troupe_left.none()) return;";
    if (s.condition.first == s.condition.second) return;
    if (s.is_uniform) {
      out_ += e_.marker(s.condition.first) + "if (!(" + e_.slice(s.condition.first, s.condition.second) + ")) break;";
    } else {
      ask(s);
      out_ += "if (troupe_a == ::troupe_cuda::answer::no) break; }";
    }
  }

  // Evaluates a condition in all threads. Opens a brace, within which troupe_a is yes or no.
  void ask(const step& s) {
    const auto [begin, end] = s.condition;
    out_ += "{ const auto troupe_a = " + call("ask_each_thread", s.segment, {s.condition}) + left() + ", " +
            lambda_head + " -> bool {";
    fetch(s.segment);
    out_ += e_.marker(begin) + "const bool troupe_c = static_cast<bool>(" + e_.slice(begin, end) + ");";
    write_back(s.segment, {s.condition});
    out_ += "return troupe_c; });";
    out_ += "if (troupe_a == ::troupe_cuda::answer::divided) ::troupe_cuda::divided(troupe_b);";
    out_ += "if (troupe_a == ::troupe_cuda::answer::none_left) return;";
  }

  void write_region(const step& s) {
    for (const int v : plan_.segments[static_cast<std::size_t>(s.segment)].declares)
      if (is_stored(v)) write_storage(v, s);
    bool may_leave = false;
    for (const token_range& r : s.text)
      for (const std::size_t i : returns_) may_leave |= i >= r.first && i < r.second;
    const auto g =
        may_leave || s.text.size() != 1 ? std::nullopt : find_guard(s_, v_, s.text[0].first, s.text[0].second);
    const bool guarded = g && std::any_of(parameters_.begin(), parameters_.end(), [&](const kernel_parameter& p) {
                           return mentions(g->begin, g->condition_end, p.name);
                         });
    if (guarded) {
      out_ += call("each_thread_inside", s.segment, s.text) + left() + ", " + lambda_head + " -> bool {";
      fetch(s.segment);
      out_ += guard_text(e_, *g) +
              "}, [&](const ::uint3 threadIdx, const unsigned troupe_t, const bool troupe_inside) "
              "__attribute__((always_inline)) {";
      skip_if_inside(e_, *g);
    } else {
      out_ += call(may_leave ? "each_thread_or_leaves" : "each_thread", s.segment, s.text) + left() + ", " +
              lambda_head + (may_leave ? " -> bool {" : " {");
    }
    fetch(s.segment);
    for (const token_range& r : s.text) {
      out_ += e_.marker(r.first) + e_.slice(r.first, r.second);
      // an expression from a for has no semicolon
      if (!s_[r.second - 1].is(";") && !s_[r.second - 1].is("}")) out_ += ";";
    }
    write_back(s.segment, s.text);
    out_ += may_leave ? "return true; }); if (troupe_left.none()) return;" : "});";
  }

  bool mentions(std::size_t begin, std::size_t end, std::string_view name) const {
    for (std::size_t i = begin; i < end; ++i)
      if (s_[i].is(name)) return true;
    return false;
  }

  bool is_stored(int v) const { return plan_.crossing.contains(v) && v_.storage_of(v) == variable_storage::stored; }

  // Writes the array that stores a variable of each thread across barriers.
  void write_storage(int v, const step& s) {
    const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
    const level_declaration& d = v_.declarations()[variable.declaration];
    const std::string n = std::to_string(v), name(variable.name);
    if (d.text.is_auto) {
      // The type is the return type of a lambda that contains all declarations up to this one. The lambda is never
      // called.
      out_ += "auto troupe_l" + n + " = [&](const ::uint3 threadIdx, const unsigned troupe_t) {";
      fetch(s.segment);
      for (const token_range& r : s.text)
        for (const level_declaration& before : v_.declarations())
          if (before.begin >= r.first && before.end <= r.second && before.begin <= d.begin && before.end > before.begin)
            out_ += e_.marker(before.begin) + e_.slice(before.begin, before.end);
      out_ += fill_in("return %2; }; using troupe_T%1 = decltype(troupe_l%1(threadIdx, 0u));", {n, name});
    } else {
      out_ +=
          fill_in("struct troupe_d%1 {", {n}) + e_.marker(d.begin) + e_.slice(d.text.type, d.text.type_end) + " " +
          e_.slice(variable.shape.begin, variable.shape.end) +
          fill_in("; }; using troupe_T%1 = typename ::troupe_cuda::plain<decltype(troupe_d%1::%2)>::type;", {n, name});
    }
    out_ += fill_in("troupe_T%1* const troupe_v%1 = ::troupe_cuda::per_thread<troupe_T%1>(troupe_f);", {n});
  }

  // Declares ordinary variables for the variables that a segment uses but does not declare.
  void fetch(int segment) {
    const auto& [uses, declares] = plan_.segments[static_cast<std::size_t>(segment)];
    int written = -1;  // index of the last written declaration, which may declare several variables
    for (const int v : uses) {
      if (declares.contains(v)) continue;
      const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
      const std::string n = std::to_string(v), name(variable.name);
      if (v_.storage_of(v) == variable_storage::recomputed) {
        if (written == static_cast<int>(variable.declaration)) continue;
        written = static_cast<int>(variable.declaration);
        const level_declaration& d = v_.declarations()[variable.declaration];
        out_ += e_.marker(d.begin) + e_.slice(d.begin, d.end);
      } else if (variable.shape.is_array) {
        out_ += fill_in(
            "::troupe_cuda::local_copy<troupe_T%1> troupe_h%1(troupe_v%1[troupe_t]); auto& %2 = troupe_h%1.value;",
            {n, name});
      } else {
        out_ += fill_in("troupe_T%1 %2 = troupe_v%1[troupe_t];", {n, name});
      }
    }
  }

  void write_back(int segment, const std::vector<token_range>& text) {
    const auto& [uses, declares] = plan_.segments[static_cast<std::size_t>(segment)];
    for (const int v : uses) {
      if (!is_stored(v)) continue;
      const level_variable& variable = v_.all()[static_cast<std::size_t>(v)];
      const std::string n = std::to_string(v), name(variable.name);
      bool written = declares.contains(v);
      for (const token_range& r : text) written |= v_.is_written_between(v, r.first, r.second);
      if (variable.shape.is_array && !declares.contains(v))
        out_ += fill_in("troupe_h%1.write_back();", {n});
      else if (written)
        out_ += fill_in("::troupe_cuda::store(troupe_v%1[troupe_t], %2);", {n, name});
    }
  }

  edited_source& e_;
  const token_list& s_;
  const unit& u_;
  const definition& kernel_;
  const body_outline body_;
  const level_variables v_;
  const std::vector<kernel_parameter>& parameters_;
  const bool functions_read_index_;
  const std::unordered_set<std::size_t>& steps_;
  split_plan plan_;
  std::vector<std::size_t> returns_;
  std::string obstacle_, out_;
};

}  // namespace

split_body split_at_barriers(edited_source& source, const unit& u, const definition& kernel,
                             const std::vector<kernel_parameter>& parameters, bool functions_read_index,
                             const std::unordered_set<std::size_t>& steps) {
  return writer(source, u, kernel, parameters, functions_read_index, steps).run();
}

}  // namespace troupe::cuda_on_host
