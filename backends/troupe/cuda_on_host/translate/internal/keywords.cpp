// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/parsing/declaration.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/words.hpp>
#include <troupe/cuda_on_host/translate/internal/passes.hpp>
#include <troupe/cuda_on_host/translate/internal/pattern.hpp>

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace troupe::cuda_on_host {

namespace {

struct refusal {
  std::string_view word, text;
};
constexpr std::string_view ptx =
    "PTX (asm) runs on GPUs only; guard it with `#if !defined(__TROUPE_HOST__)` and give plain C++ for the host engine";
constexpr std::string_view
    textures = "textures exist on GPUs only; read from memory",
    surfaces = "surfaces exist on GPUs only; read and write memory",
    clusters = "clusters of blocks exist on GPUs only; use one block, or several launches",
    grid_barrier =
        "a barrier of the whole grid would need all blocks at once, which the host engine does "
        "not run; launch two kernels",
    nested_launch =
        "a kernel cannot be launched by a kernel on the host engine (<<<...>>>); launch it from "
        "the application",
    host_launch =
        "a function that launches kernels (<<<...>>>) is the application's, and cannot be called "
        "by a kernel; launch from the application";
constexpr refusal refused[] = {
    {"nvcuda",
     "tensor-core operations (nvcuda::wmma) exist on GPUs only; multiply with ordinary code when __TROUPE_HOST__ is "
     "defined"},
    {"wmma",
     "tensor-core operations (nvcuda::wmma) exist on GPUs only; multiply with ordinary code when __TROUPE_HOST__ is "
     "defined"},
    {"cudaTextureObject_t", textures},
    {"cudaSurfaceObject_t", surfaces},
    {"texture", textures},
    {"tex1Dfetch", textures},
    {"tex1D", textures},
    {"tex2D", textures},
    {"tex2DLod", textures},
    {"tex2DLayered", textures},
    {"tex3D", textures},
    {"texCubemap", textures},
    {"surf1Dread", surfaces},
    {"surf1Dwrite", surfaces},
    {"surf2Dread", surfaces},
    {"surf2Dwrite", surfaces},
    {"surf3Dread", surfaces},
    {"surf3Dwrite", surfaces},
    {"this_cluster", clusters},
    {"cluster_group", clusters},
};

bool is_launch(const token_list& s, std::size_t i) noexcept { return s[i].is("<<") && s[i + 1].is("<"); }

class replacer {
 public:
  replacer(edited_source& source, const unit& u) : e_(source), s_(source.tokens()), u_(u) {
    for (const refusal& r : refused) refused_.emplace(r.word, r.text);
  }

  std::vector<gpu_only> run() {
    for (std::size_t i = 0; i < s_.size(); ++i) {
      if (s_[i].kind == token_kind::pragma)
        pragma(i);
      else if (s_[i].is_identifier())
        word(i);
      else if (is_launch(s_, i) && (!function_at(u_, i) || function_at(u_, i)->is_kernel))
        complain(i, nested_launch);
    }
    return std::move(findings_);
  }

 private:
  // Reports a use. In a function that is not a kernel, the use only ends a launch that reaches it. At namespace scope,
  // mentioning a name has no effect.
  void complain(std::size_t i, std::string_view text) {
    const definition* const function = function_at(u_, i);
    const bool is_declared_here = text != ptx && text != textures && text != nested_launch;
    if (function ? !function->is_kernel : is_declared_here) return;
    if (findings_.size() < 100) findings_.push_back({{s_.files[s_[i].file], s_[i].line, std::string(text)}, i});
  }

  void erase_with_parenthesis(std::size_t i) {
    e_.replace(i, "");
    if (s_[i + 1].is("(") && s_.closing(i + 1) < s_.size()) e_.erase(i + 1, s_.closing(i + 1) + 1);
  }

  void word(std::size_t i) {
    const std::string_view w = s_[i].text;
    if (w == "asm" || w == "__asm__" || w == "__asm") {
      std::size_t k = i + 1;
      while (s_[k].is("volatile") || s_[k].is("__volatile__")) ++k;
      if (s_[k].is("(") && s_.closing(k) < s_.size()) assembly(i, k);
      return;
    }
    if (w == "this_grid") return grid_group(i);
    if (w == "sync" && waits_for_grid(i)) return complain(i, grid_barrier);
    // The variable becomes static through the replacement of __shared__.
    if (w == "static" && is_specifier_beside(s_, i, "__shared__")) return e_.replace(i, "");
    if (!w.starts_with("__")) {
      if (const auto r = refused_.find(w); r != refused_.end() && refers(i) && !u_.names.contains(w))
        complain(i, r->second);
      return;
    }
    if (w == "__global__") return e_.replace(i, "__attribute__((noinline))");
    if (w == "__device__" || w == "__host__" || w == "__constant__" || w == "__managed__" || w == "__grid_constant__" ||
        w == "__nv_pure__")
      return e_.replace(i, "");
    if (w == "__launch_bounds__" || w == "__maxnreg__") return erase_with_parenthesis(i);
    if (w == "__shared__") return e_.replace(i, "static thread_local");
    if (w == "__forceinline__")
      return e_.replace(i, says_inline(i) ? "__attribute__((always_inline))" : "inline __attribute__((always_inline))");
    if (w == "__noinline__" && !s_[i - 1].is("(")) return e_.replace(i, "__attribute__((noinline))");
    if (w == "__align__" && s_[i + 1].is("(") && s_.closing(i + 1) < s_.size()) {
      e_.replace(i, "__attribute__((aligned");
      return e_.add_behind(s_.closing(i + 1), "))");
    }
    if (w == "__cluster_dims__" || w == "__block_size__") {
      complain(i, clusters);
      return erase_with_parenthesis(i);
    }
  }

  // asm("" ::: "memory") generates no code, so it is removed.
  void assembly(std::size_t i, std::size_t open) {
    const bool is_empty =
        s_[open + 1].text == "\"\"" && (s_[open + 2].is(":") || s_[open + 2].is("::") || s_[open + 2].is(")"));
    const definition* const function = function_at(u_, i);
    if (!is_empty && (!function || function->is_kernel)) return complain(i, ptx);
    e_.erase(i, s_.closing(open) + 1);
    e_.replace(i, is_empty ? "((void)0)" : "::troupe_cuda::unsupported(\"" + std::string(ptx) + "\")");
  }

  // Remembers a variable that holds the grid group: auto g = cg::this_grid();
  void grid_group(std::size_t i) {
    std::size_t at = i;
    while (at > 1 && s_[at - 1].is("::") && s_[at - 2].is_identifier()) at -= 2;
    if (at > 1 && s_[at - 1].is("=") && s_[at - 2].is_identifier()) grids_.insert(s_[at - 2].text);
  }
  bool waits_for_grid(std::size_t i) const {
    if (s_[i - 1].is("."))
      return grids_.contains(s_[i - 2].text) || (i > 4 && s_[i - 2].is(")") && s_[i - 4].is("this_grid"));
    return s_[i + 1].is("(") && grids_.contains(s_[i + 2].text) && s_[i + 3].is(")");
  }

  // Returns true if the word means CUDA's name, not a member and not a name that the user declares.
  bool refers(std::size_t i) const noexcept {
    if (s_[i - 1].is(".") || s_[i - 1].is("->")) return false;
    return s_[i + 1].is("::") || s_[i + 1].is("(") || s_[i + 1].is("<") || s_[i].text.starts_with("cuda") ||
           s_[i - 1].is("::");
  }

  bool says_inline(std::size_t i) const noexcept {
    for (std::size_t k = i, steps = 0; k-- > 0 && ++steps < 12;) {
      if (s_[k].is("inline") || s_[k].is("__inline__") || s_[k].is("__inline")) return true;
      if (!s_[k].is_identifier()) break;
    }
    for (std::size_t k = i + 1; s_[k].is_identifier() && k < i + 12; ++k)
      if (s_[k].is("inline") || s_[k].is("__inline__") || s_[k].is("__inline")) return true;
    return false;
  }

  // Rewrites #pragma unroll in a form that g++ and clang++ accept. If the argument is not a literal, the compiler
  // decides how far to unroll.
  void pragma(std::size_t i) {
    std::string_view text = s_[i].text;
    const std::size_t at = text.find("unroll");
    if (at == std::string_view::npos || text.find("GCC") != std::string_view::npos ||
        text.find("clang") != std::string_view::npos)
      return;
    std::string number;
    for (const char c : text.substr(at + 6))
      if (c >= '0' && c <= '9')
        number += c;
      else if (c != ' ' && c != '(' && c != ')' && c != '\r')
        return e_.replace(i, "");
    if (number.size() > 4) number = "1024";
    e_.replace(i, "#pragma GCC unroll " + (number.empty()  ? std::string("64")
                                           : number == "0" ? std::string("1")
                                                           : number));
  }

  edited_source& e_;
  const token_list& s_;
  const unit& u_;
  std::unordered_map<std::string_view, std::string_view> refused_;
  std::unordered_set<std::string_view> grids_;
  std::vector<gpu_only> findings_;
};

// Returns the declaration of an `extern __shared__` array as a typedef, without these two words and without alignment
// specifiers.
std::string type_of(edited_source& e, std::size_t begin, std::size_t end, std::size_t name, const std::string& type) {
  const token_list& s = e.tokens();
  std::string out = "typedef ";
  for (std::size_t i = begin; i < end; ++i) {
    if (s[i].is("extern") || s[i].is("__shared__") || s[i].is("volatile")) continue;
    if ((s[i].is("__align__") || s[i].is("alignas") || s[i].is("__attribute__")) && s[i + 1].is("(")) {
      i = s.closing(i + 1);
      continue;
    }
    out += (i == name ? type : std::string(s[i].text)) + " ";
  }
  return out + ";";
}

}  // namespace

std::vector<gpu_only> replace_keywords(edited_source& source, const unit& u) { return replacer(source, u).run(); }

void replace_launching_functions(edited_source& e, const unit& u) {
  const token_list& s = e.tokens();
  for (const definition& d : u.definitions) {
    if (!d.is_function() || !d.has_body || d.is_kernel) continue;
    std::size_t at = d.body;
    while (at < d.end && !is_launch(s, at)) ++at;
    if (at >= d.end) continue;
    bool is_device = false;
    for (std::size_t i = d.begin; i < d.body; ++i) is_device |= s[i].is("__device__");
    e.erase(d.body + 1, d.end - 1);
    e.add_behind(d.body,
                 "::troupe_cuda::unsupported(\"" + std::string(is_device ? nested_launch : host_launch) + "\");");
  }
}

bool may_need_gpu(const token_list& s) noexcept {
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (is_launch(s, i) || s[i].is("asm") || s[i].is("__asm__") || s[i].is("__asm") || s[i].is("this_grid"))
      return true;
    if (!s[i].is_identifier()) continue;
    for (const refusal& r : refused)
      if (s[i].text == r.word) return true;
  }
  return false;
}

void replace_shared(edited_source& e, const unit& u) {
  const token_list& s = e.tokens();
  for (const definition& d : u.definitions) {
    if (!d.is_function() || !d.has_body) continue;
    std::size_t begin = d.body + 1;
    for (std::size_t i = d.body; i < d.end; ++i) {
      if (s[i].is(";") || s[i].is("{") || s[i].is("}")) begin = i + 1;
      if (!s[i].is("__shared__")) continue;
      std::size_t end = i;
      while (end < d.end && !s[end].is(";")) ++end;
      const classified_statement c = classify(s, begin, end + 1);
      if (c.kind == statement_kind::shared)
        for (const declarator& v : c.variables.declarators) {
          const std::string name(v.name);
          e.replace(v.name_at, "troupe_s_" + name);
          e.add_behind(end, fill_in("auto& %1 = ::troupe_cuda::once(troupe_s_%1);", {name}));
        }
      i = end;
      begin = end + 1;
    }
  }
}

void replace_dynamic_shared(edited_source& e, const unit& u) {
  constexpr std::string_view reference = "auto& %1 = ::troupe_cuda::dynamic_shared<troupe_S_%1>(%2);";
  const token_list& s = e.tokens();
  std::unordered_map<std::string_view, const dynamic_array*> global;
  std::unordered_set<std::size_t> global_begins;
  for (const dynamic_array& a : u.dynamic_arrays) {
    const std::size_t name = declared_name(s, a.begin, a.end);
    const std::string type = type_of(e, a.begin, a.end, name, "troupe_S_" + std::string(a.name));
    e.erase(a.begin, a.end + 1);
    e.replace(a.begin, type);
    global[a.name] = &a;
    global_begins.insert(a.begin);
  }
  for (const definition& d : u.definitions) {
    if (!d.is_function() || !d.has_body) continue;
    const std::string block = d.is_kernel ? "troupe_b" : "*::troupe_cuda::current";
    std::unordered_set<std::string_view> parameters, given;
    for (std::size_t i = d.parameters; i < s.closing(d.parameters); ++i) parameters.insert(s[i].text);
    for (std::size_t i = d.body; i < d.end; ++i) {
      if (s[i].is("extern")) {
        if (!is_specifier_beside(s, i, "__shared__")) continue;
        std::size_t begin = i, end = i;
        while (s[begin - 1].is_identifier()) --begin;  // as in __shared__ extern
        while (end < d.end && !s[end].is(";")) ++end;
        const std::size_t name = declared_name(s, begin, end);
        if (name >= end) continue;
        const std::string n(s[name].text);
        const std::string text = type_of(e, begin, end, name, "troupe_S_" + n) + fill_in(reference, {n, block});
        given.insert(s[name].text);
        e.erase(begin, end + 1);
        e.replace(begin, text);
        i = end;
      } else if (s[i].is_identifier() && !is_member(s, i) && !parameters.contains(s[i].text)) {
        const auto found = global.find(s[i].text);
        if (found == global.end() || !given.insert(s[i].text).second) continue;
        const std::string n(s[i].text);
        e.add_behind(d.body, fill_in(reference, {n, block}));
      }
    }
  }
}

}  // namespace troupe::cuda_on_host
