// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns CUDA C++ into C++ whose kernels run whole blocks.
//
// The text is preprocessed, with our prelude (cuda/troupe_cuda.h) in front. The translator understands only as much C++
// as it needs: tokens (token.cpp), functions and their bodies (functions.cpp), statements around barriers
// (statements.cpp), and declarations between them (declaration.cpp). Everything else is copied unchanged, including
// line markers, so that the compiler's messages refer to the user's lines.
//
// A kernel keeps its name and template parameters, and gets the block as an additional first parameter. Its body takes
// one of three forms:
//
// LOOP, if no barrier or warp operation can be reached. Names alone decide which functions reach one
// (waiting_names.cpp).
//
//   __global__ void scale(int n, float a, float* x) {
//     int i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i >= n) return;
//     x[i] *= a;
//   }
//
// becomes, apart from names and white space,
//
//   void scale(block& troupe_b, int n, float a, float* x) {
//     run_block(troupe_b, [&](frame troupe_f) {
//       const uint3 blockIdx = troupe_f.index; ...
//       each_thread(troupe_f, all_threads(), [&](const uint3 threadIdx, unsigned troupe_t) {
//         int i = blockIdx.x * blockDim.x + threadIdx.x;
//         if (i >= n) return;
//         x[i] *= a;
//       });
//     });
//   }
//
// where each_thread is a loop that the compiler vectorizes.
//
// SPLIT, if all barriers are statements `__syncthreads();` in the kernel itself, in structured control flow (split.cpp,
// plan.cpp, variables.cpp). The code between two barriers becomes a loop like this one.
//
//   __global__ void sum(const float* x, float* y) {
//     __shared__ float part[256];
//     int t = threadIdx.x;
//     float mine = x[blockIdx.x * 256 + t];
//     part[t] = mine;
//     __syncthreads();
//     for (int s = 128; s > 0; s >>= 1) {
//       if (t < s) part[t] += part[t + s];
//       __syncthreads();
//     }
//     y[blockIdx.x * 256 + t] = mine / part[0];
//   }
//
// becomes
//
//     static thread_local float part[256];
//     float* v_mine = per_thread<float>(troupe_f);            // an element for each thread, in scratch memory
//     each_thread(..., { int t = threadIdx.x; float mine = ...; part[t] = mine; store(v_mine[troupe_t], mine); });
//     int s = 128;                                            // the same for all threads: once for the block
//     for (;;) {
//       if (!(s > 0)) break;
//       each_thread(..., { int t = threadIdx.x; if (t < s) part[t] += part[t + s]; });     // t is recomputed
//       s >>= 1;
//     }
//     each_thread(..., { int t = threadIdx.x; float mine = v_mine[troupe_t]; y[...] = mine / part[0]; });
//
// If a condition around a barrier may differ between threads, all threads evaluate it, and they must agree. If threads
// return before a barrier, the kernel tracks those that are left.
//
// FIBERS, for all other kernels: the body is called once for each thread, on its own stack, and barriers switch between
// stacks.
//
// In each form, every thread has its own copy of the parameters. Splitting does not copy parameters that are never
// written, so it must prove that they are not.
//
// If the splitting does not fully understand a kernel, the kernel runs as fibers: it may be slow, but it must not be
// wrong. Every use of a variable is therefore assumed to be the worst, unless the tokens around it prove that it is a
// read or an assignment (usage.cpp). Questions that only types can answer are left to the compiler: such a kernel has
// both bodies, and selects one by `if constexpr`.
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/aliases.hpp>
#include <troupe/cuda_on_host/translate/internal/parsing/names.hpp>
#include <troupe/cuda_on_host/translate/internal/passes.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/guard.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/split.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/steps.hpp>
#include <troupe/cuda_on_host/translate/internal/waiting_names.hpp>
#include <troupe/cuda_on_host/translate/translate.hpp>

#include <algorithm>
#include <unordered_map>

namespace troupe::cuda_on_host {

namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c != '\n' && c != '\r') out += c;
  }
  return out + "\"";
}

class translator {
 public:
  translator(token_list tokens, unit u, const translate_options& options)
      : tokens_(std::move(tokens)),
        unit_(std::move(u)),
        source_(tokens_),
        options_(options),
        stepping_(find_stepping()),
        waiting_(find_waiting_names(tokens_, unit_, options,
                                    [this](const definition& d) { return stepping_.contains(&d); })) {}

  translation run() {
    refuse(replace_keywords(source_, unit_));
    if (!out_.findings.empty()) return std::move(out_);
    replace_shared(source_, unit_);
    replace_dynamic_shared(source_, unit_);
    replace_launching_functions(source_, unit_);
    examine_code_outside_kernels();
    for (const definition& d : unit_.definitions) {
      if (!d.is_function()) continue;
      if (!d.is_kernel) {
        if (d.has_body && (waiting_.contains(d.name) || stepping_.contains(&d))) keep_in_step(d);
        continue;
      }
      if (d.has_body)
        rewrite(d);
      else
        remove_declaration(d);
    }
    aliases_ = add_aliases(source_, tokens_, unit_, options_, out_.findings);
    if (!out_.findings.empty()) return std::move(out_);
    out_.text = std::string("namespace troupe_cuda { constexpr bool index_in_functions = ") +
                (functions_read_index_ ? "true" : "false") + "; }\n" + source_.all() +
                trailer(unit_, options_, aliases_, functions_use_block_);
    return std::move(out_);
  }

 private:
  // Finds functions whose threads use volatile memory as if the threads of a warp ran in lockstep.
  std::unordered_map<const definition*, volatile_steps> find_stepping() const {
    std::unordered_map<const definition*, volatile_steps> out;
    for (const definition& d : unit_.definitions)
      if (d.is_function() && d.has_body)
        if (volatile_steps steps = find_volatile_steps(tokens_, unit_, d); !steps.empty())
          out.emplace(&d, std::move(steps));
    return out;
  }
  std::unordered_set<std::size_t> shared_steps(const definition& d) const {
    return find_shared_steps(tokens_, unit_, d, [this](std::string_view word) { return waiting_.contains(word); });
  }
  // Adds steps to code that runs as fibers. Threads in the kernel's own body get the highest rank: threads in a
  // function, which returns to the body, continue first.
  void keep_in_step(const definition& d) {
    const std::size_t rank = d.is_kernel ? tokens_.size() : 0;
    if (const auto steps = stepping_.find(&d); steps != stepping_.end()) {
      write_steps(source_, steps->second, rank);
      functions_use_block_ = true;
    } else if (const auto before = shared_steps(d); !before.empty()) {
      write_steps(source_, before, rank);
      functions_use_block_ = true;
    }
  }

  // Sorts uses of GPU-only features: into findings if the image would be useless without the kernel; otherwise into
  // left_out, to be reported when the kernel is launched.
  void refuse(const std::vector<gpu_only>& all) {
    for (const gpu_only& one : all)
      if (const definition* const kernel = function_at(unit_, one.at); kernel && kernel->has_body)
        refused_.emplace(kernel, one.what);
      else
        out_.findings.push_back(one.what);
    bool others = false;
    for (const definition& d : unit_.definitions)
      others |= d.is_kernel && d.has_body && !d.is_template && !refused_.contains(&d);
    for (const definition& d : unit_.definitions) {
      const auto refused = refused_.find(&d);
      if (refused == refused_.end()) continue;
      const bool is_required = options_.kernels.empty() ? !others && !d.is_template : is_requested(d);
      (is_required ? out_.findings : out_.left_out).push_back(refused->second);
    }
  }
  bool is_requested(const definition& d) const {
    return std::any_of(options_.kernels.begin(), options_.kernels.end(),
                       [&](const std::string& name) { return last_identifier(name) == d.name; });
  }

  // Determines what functions outside of kernels need to know about the running thread.
  void examine_code_outside_kernels() {
    functions_use_block_ = !unit_.dynamic_arrays.empty() || may_need_gpu(tokens_);
    std::vector<bool> in_kernel(tokens_.size() + 1, false);
    for (const definition& d : unit_.definitions)
      if (d.is_kernel && d.has_body)
        std::fill(in_kernel.begin() + static_cast<std::ptrdiff_t>(d.body),
                  in_kernel.begin() + static_cast<std::ptrdiff_t>(std::min(d.end, tokens_.size())), true);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const token& t = tokens_[i];
      if (!t.is_identifier()) continue;
      const bool outside = !in_kernel[i] || tokens_[i - 1].is("::");
      if ((t.is("threadIdx") && outside) || t.is("this_grid")) functions_read_index_ = true;
      if ((t.is("threadIdx") || t.is("blockIdx") || t.is("blockDim") || t.is("gridDim") || t.is("__shared__")) &&
          outside)
        functions_use_block_ = true;
      if (t.is("assertion_failed") || t.is("__trap") || waiting_.contains(t.text)) functions_use_block_ = true;
    }
  }

  // A declaration without a body is removed, except in a class, where it is needed.
  void remove_declaration(const definition& d) {
    if (d.in_class)
      add_block_parameter(d);
    else
      source_.erase(d.begin, d.end);
  }

  void add_block_parameter(const definition& d) {
    const bool none = tokens_.closing(d.parameters) == d.parameters + 1 ||
                      (tokens_[d.parameters + 1].is("void") && tokens_[d.parameters + 2].is(")"));
    if (none && tokens_[d.parameters + 1].is("void")) source_.replace(d.parameters + 1, "");
    source_.add_behind(d.parameters, std::string("::troupe_cuda::block& troupe_b") + (none ? "" : ", "));
  }

  // Removes the kernel's body, but keeps the kernel and its attributes.
  void rewrite_refused(const definition& d, const finding& why) {
    source_.erase(d.body + 1, d.end - 1);
    source_.add_behind(d.body, cat("if (::troupe_cuda::describes_itself(troupe_b, ", launch_bounds(tokens_, d), ", ",
                                   static_cast<int>(execution::never), ", ",
                                   in_quotes(cat(why.file, ":", why.line, ": ", why.text)), ")) return;"));
    out_.kernels.push_back({.name = d.qualified(), .line = d.line, .how = execution::never, .reason = why.text});
  }

  void rewrite(const definition& d) {
    add_block_parameter(d);
    if (const auto refused = refused_.find(&d); refused != refused_.end()) return rewrite_refused(d, refused->second);
    const std::vector<kernel_parameter> parameters = read_parameters(tokens_, unit_, d.parameters);
    translated_kernel k{.name = d.qualified(), .line = d.line};
    const std::string as_written = source_.slice(d.body + 1, d.end - 1);
    split_body split;
    decide(d, parameters, k, split);
    const auto number = [](execution how) { return std::to_string(static_cast<int>(how)); };
    std::string how = number(k.how), reason = in_quotes(k.reason), head;
    if (!split.condition.empty()) {
      head = "constexpr bool troupe_simple = " + split.condition + ";";
      how = "troupe_simple ? " + how + " : " + number(execution::fibers);
      reason = "troupe_simple ? " + reason + " : " + in_quotes(unknown_types);
    }
    head += "if (::troupe_cuda::describes_itself(troupe_b, " + launch_bounds(tokens_, d) + ", " + how + ", " + reason +
            ")) return;"
            "::troupe_cuda::run_block(troupe_b, [&](::troupe_cuda::frame troupe_f) __attribute__((always_inline)) {"
            "const ::uint3 blockIdx = troupe_f.index; const ::dim3 blockDim = troupe_f.size, gridDim = troupe_f.grid;";
    own_parameters own = make_own(source_, parameters);
    if (k.how == execution::split) {
      const std::size_t close = d.end - 1;
      std::string body = split.text;
      if (!split.condition.empty())
        body = "if constexpr (troupe_simple) {" + split.text + "} else {" + own.outside + fibers_head() + own.begin +
               source_.marker(d.body + 1) + as_written + "::troupe_cuda::end_of_kernel(troupe_b);" + own.end + "}); }";
      source_.erase(d.body + 1, close);
      source_.add_behind(d.body, head + body + "});");
      // replaces the brace only, so that the line ends between the tokens remain
      source_.replace(close, source_.marker(close) + "}");
    } else if (k.how == execution::fibers) {
      keep_in_step(d);
      source_.add_behind(d.body, head + own.outside + fibers_head() + own.begin);
      source_.replace(d.end - 1, "::troupe_cuda::end_of_kernel(troupe_b);" + own.end + "}); }); }");
    } else {
      write_loop(d, parameters, head, own);
    }
    out_.kernels.push_back(std::move(k));
  }

  static constexpr const char* unknown_types = "the type of a variable between barriers is not that of simple data";

  static std::string fibers_head() {
    return "::troupe_cuda::as_fibers(troupe_f, [&](const ::uint3 threadIdx, const unsigned troupe_t) {";
  }

  void write_loop(const definition& d, const std::vector<kernel_parameter>& parameters, std::string head,
                  const own_parameters& own) {
    const body_outline body = outline(tokens_, d.body);
    const level_variables variables(tokens_, unit_, d, body, parameters);
    const std::string template_arguments = std::string(functions_read_index_ ? "<true, " : "<false, ") +
                                           (variables.is_independent(d.body + 1, d.end - 1) ? "true>" : "false>");
    const auto g = variables.obstacle().empty() ? find_guard(tokens_, variables, d.body + 1, d.end - 1) : std::nullopt;
    head += own.outside;
    if (g) {
      head += "::troupe_cuda::each_thread_inside" + template_arguments +
              "(troupe_f, ::troupe_cuda::all_threads(), [&](const ::uint3 threadIdx, const unsigned troupe_t) "
              "__attribute__((always_inline)) -> bool {" +
              guard_text(source_, *g) +
              "}, [&](const ::uint3 threadIdx, const unsigned troupe_t, const bool troupe_inside) "
              "__attribute__((always_inline)) {" +
              own.begin + source_.marker(d.body);
      skip_if_inside(source_, *g);
    } else {
      head += "::troupe_cuda::each_thread" + template_arguments +
              "(troupe_f, ::troupe_cuda::all_threads(), [&](const ::uint3 threadIdx, const unsigned troupe_t) "
              "__attribute__((always_inline)) {" +
              own.begin;
    }
    source_.add_behind(d.body, head);
    source_.replace(d.end - 1, own.end + "}); }); }");
  }

  void decide(const definition& d, const std::vector<kernel_parameter>& parameters, translated_kernel& k,
              split_body& split) {
    const auto fibers = [&](std::string why) {
      k.how = execution::fibers;
      k.reason = std::move(why);
    };
    if (options_.only_fibers) return fibers("fibers were asked for");
    if (const auto steps = stepping_.find(&d); steps != stepping_.end())
      return fibers(cat("line ", tokens_[steps->second.stores.front().begin].line,
                        ": threads of a warp write to volatile memory that others read before the next barrier"));
    if (waiting_.callers_unknown) return fibers(waiting_.reason);
    bool barriers = false;
    for (std::size_t i = d.body; i < d.end; ++i) {
      if (!tokens_[i].is_identifier()) continue;
      if (tokens_[i].is("__syncthreads"))
        barriers = true;
      else if (waiting_.contains(tokens_[i].text))
        return fibers(cat("line ", tokens_[i].line, ": ", tokens_[i].text, " waits for other threads"));
    }
    if (!barriers) return;
    const std::unordered_set<std::size_t> steps = shared_steps(d);
    split = split_at_barriers(source_, unit_, d, parameters, functions_read_index_, steps);
    if (!split.obstacle.empty() && !steps.empty())
      split = split_at_barriers(source_, unit_, d, parameters, functions_read_index_, {});
    if (!split.obstacle.empty()) return fibers(split.obstacle);
    k.how = execution::split;
    k.reason = "its barriers are statements of the kernel";
  }

  const token_list tokens_;
  const unit unit_;
  edited_source source_;
  const translate_options& options_;
  const std::unordered_map<const definition*, volatile_steps> stepping_;
  const waiting_names waiting_;
  std::unordered_map<const definition*, finding> refused_;  // kernels that need a GPU
  kernel_aliases aliases_;
  bool functions_read_index_ = false;  // functions read threadIdx
  bool functions_use_block_ = false;   // functions use the block
  translation out_;
};

}  // namespace

static finding unmatched_finding(const token_list& s) {
  const token& bracket = s[s.unmatched->at];
  return {s.files[bracket.file], bracket.line, s.unmatched->text};
}

std::string to_string(const finding& f) { return cat(f.file, ":", f.line, ": error: ", f.text); }

translation translate(std::string_view preprocessed, const translate_options& options) {
  const std::string folder = options.own_folder.empty() ? "" : options.own_folder + "/";
  token_list tokens = tokenize(preprocessed, folder);
  if (tokens.unmatched && !options.any_brackets) return {.findings = {unmatched_finding(tokens)}};
  unit u = find_definitions(tokens);
  if (auto unknown = find_unknown_names(tokens, u, options); !unknown.empty()) return {.findings = std::move(unknown)};
  const auto parse_again = [&](const std::optional<std::string>& text) {
    if (!text) return;
    tokens = tokenize(*text, folder);
    u = find_definitions(tokens);
  };
  const std::optional<std::string> needed = without_host_code(tokens, u, options);
  parse_again(needed);
  const std::optional<std::string> plain = options.only_fibers ? std::nullopt : with_plain_barriers(tokens, u);
  parse_again(plain);
  if (options.read_source) find_columns(tokens, options.read_source);
  return translator(std::move(tokens), std::move(u), options).run();
}

}  // namespace troupe::cuda_on_host
