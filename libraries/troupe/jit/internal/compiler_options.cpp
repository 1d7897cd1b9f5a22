// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/jit/internal/compiler_options.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace troupe::jit {
namespace {

// Each list is a text: words that are each followed by a space.

template <class F>
bool any_word(std::string_view list, F&& f) {
  for (; !list.empty(); list.remove_prefix(list.find(' ') + 1))
    if (f(list.substr(0, list.find(' ')))) return true;
  return false;
}
bool begins_with_any(std::string_view text, std::string_view list) {
  return any_word(list, [&](std::string_view word) { return text.starts_with(word); });
}
bool is_any(std::string_view text, std::string_view list) {
  return any_word(list, [&](std::string_view word) { return text == word; });
}

constexpr std::string_view  // Options of NVRTC that the host's compilers reject as unknown; "=": with a value
    long_for_nvrtc =
        "--ptxas-options= --Ofast-compile= --prec-sqrt= --prec-div= --restrict --device-debug "
        "--dopt= --extra-device-vectorization --modify-stack-limit= --jump-table-density= "
        "--device-stack-protector= --builtin-move-forward= --builtin-initializer-list= "
        "--disable-warnings --device-as-default-execution-space --device-int128 "
        "--device-float128 --display-error-number --no-display-error-number --diag-error= "
        "--diag-suppress= --diag-warn= --brief-diagnostics= --split-compile= --minimal "
        "--no-cache ";
// Options that may make the compiler or the linker read files, but run none of them. Each is followed by its value.
constexpr std::string_view reads_files =
    "-I -L -l -isystem -iquote -idirafter -include -fsanitize= -fno-sanitize= -fsanitize-recover= -fsanitize-trap= "
    "-fsanitize-ignorelist= -flto= -stdlib= --stdlib= --sysroot= ";
constexpr std::string_view reads_files_alone =
    "-flto -fopenmp -fopenmp-simd -fuse-ld=bfd -fuse-ld=gold -fuse-ld=lld -fuse-ld=mold -static-libgcc "
    "-static-libstdc++ -nostdlib -nodefaultlibs -rdynamic -s ";
// Allowed words after "-Wl,". Others make the linker write files or load plug-ins.
constexpr std::string_view for_linker =
    "--as-needed --no-as-needed --push-state --pop-state --whole-archive --no-whole-archive --start-group --end-group "
    "--gc-sections --no-gc-sections --no-undefined --undefined-version --exclude-libs= --icf= --hash-style= --build-id "
    "--enable-new-dtags --disable-new-dtags --strip-all --strip-debug -Bstatic -Bdynamic -Bsymbolic "
    "-Bsymbolic-functions --export-dynamic -O1 -O2 -s -S -rpath= --rpath= -rpath-link= --rpath-link= ";
constexpr std::string_view for_linker_with_value = "-rpath --rpath -rpath-link --rpath-link -z --exclude-libs ";

// Short names of NVRTC's options and what to use instead, where adding a dash does not give the long name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> short_for_nvrtc{
    {{"-std", "use recipe::standard"},
     {"-ftz", "use recipe::flush_to_zero"},
     {"-fmad", "use recipe::fuse_multiply_add"},
     {"-use_fast_math", "use recipe::fast_math"},
     {"-maxrregcount", "use recipe::max_registers"},
     {"-arch", "use recipe::architecture"},
     {"-lineinfo", "use recipe::debug_information"},
     {"-pch", "use recipe::precompiled_headers"},
     {"-include", "write #include into the source"},
     {"-Xptxas", "write --ptxas-options="},
     {"-G", "write --device-debug"},
     {"-w", "write --disable-warnings"},
     {"-I", "use recipe::include_paths"},
     {"-D", "use recipe::definitions"},
     {"-U", "write #undef into the source"}}};

constexpr std::string_view harmless = "-D -U -m -W -std= --param= ",  // prefixes of options that read no files
    harmless_alone =
        "-w -pedantic -pedantic-errors -ansi -pthread -pipe -O -O0 -O1 -O2 -O3 -Os -Oz -Og -Ofast "
        "-g -g0 -g1 -g2 -g3 -gz -gline-tables-only -gno-column-info -gcolumn-info ";
constexpr std::string_view harmless_after_f =
    "align- associative-math bounds-check bracket-depth= branch- builtin caller-saves cf-protection char8_t "
    "code-hoisting "
    "color-diagnostics common concepts constexpr- coroutines cprop- crossjumping cx- data-sections dce delete-null- "
    "devirtualize diagnostics-absolute-paths diagnostics-color diagnostics-plain diagnostics-show dse early-inlining "
    "error-limit= exceptions excess-precision expensive- fast-math finite- float-store forward-propagate fp-contract "
    "fp-model function-sections gcse gnu-keywords guess-branch- if-conversion implicit-constexpr "
    "implicit-inline-templates inline ipa- ira- ivopts jump-tables lifetime-dse live-range- loop- math-errno "
    "max-errors "
    "merge- message-length modulo-sched move-loop ms-extensions new-ttp-matching non-call-exceptions omit-frame- "
    "optimize- partial-inlining peel-loops permissive pic PIC plt predictive- prefetch-loop reciprocal-math rename- "
    "reorder- rounding-math rtti sched schedule- section-anchors selective-scheduling semantic-interposition "
    "short-enums show- shrink-wrap signaling-nans signed- single-precision- slp-vectorize spell-checking split- "
    "stack-clash stack-protector store-merging strict- template- thread-jumps threadsafe-statics tracer trapping-math "
    "trapv tree- unroll- unsafe-math unsigned-char unswitch- unwind-tables variable- vect version-loops visibility web "
    "wrapv zero- ";

// Returns true if the parts of "-Wl,A,B" are options of the linker that read no options from files and write no files.
bool are_for_linker(std::string_view parts) {
  while (!parts.empty()) {
    parts.remove_prefix(1);  // skips the comma
    const std::string_view part = parts.substr(0, parts.find(','));
    parts.remove_prefix(part.size());
    const std::size_t equals = part.find('=');
    if (is_any(part, for_linker_with_value)) {
      if (parts.size() < 2 || parts[1] == '-' || parts[1] == '@' || parts[1] == ',') return false;
      parts.remove_prefix(std::min(parts.find(',', 1), parts.size()));
    } else if (!is_any(equals == part.npos ? part : part.substr(0, equals + 1), for_linker)) {
      return false;
    }
  }
  return true;
}

// Returns true if the option is a word of the list followed by a value, and not a longer option, as -include-pch is of
// -include.
bool has_value(std::string_view option, std::string_view list) {
  return any_word(list, [&](std::string_view word) {
    return option.size() > word.size() && option.starts_with(word) && option[word.size()] != '-';
  });
}

}  // namespace

bool is_allowed_option(std::string_view option) {
  constexpr std::string_view linker = "-Wl";
  if (option.starts_with("-Wl,")) return are_for_linker(option.substr(linker.size()));
  return begins_with_any(option, long_for_nvrtc) || has_value(option, reads_files) ||
         is_any(option, reads_files_alone) || reads_no_files(option);
}

bool is_allowed_for_nvrtc(std::string_view option) {
  if (!is_any(option.substr(0, std::min(option.find('='), option.size() - 1) + 1), long_for_nvrtc)) return false;
  // ptxas takes an argument without a dash for a file to read.
  constexpr std::string_view passed_on = "--ptxas-options=";
  if (!option.starts_with(passed_on)) return true;
  option.remove_prefix(passed_on.size());
  return option.starts_with('-') && !begins_with_any(option, "-optf --options-file ");
}

std::string alternative_to(std::string_view option) {
  if (option.starts_with("--ptxas-options="))
    return "pass options to ptxas directly, each with a dash, and not in a file";
  if (is_allowed_for_nvrtc("-" + std::string(option))) return "write -" + std::string(option);
  // Options of one letter may be followed by their value directly.
  const std::string_view name = option.substr(0, begins_with_any(option, "-I -D -U ") ? 2 : option.find('='));
  for (const auto& [short_name, instead] : short_for_nvrtc)
    if (name == short_name) return std::string(instead);
  return "docs/jit.md lists those that can be given";
}

bool reads_no_files(std::string_view option) {
  // These options of LLVM can load code.
  if (begins_with_any(option, "-mllvm -mmlir -main-file ")) return false;
  // -Wl, -Wp, and -Wa, pass options to other programs.
  if (option.starts_with("-W") && option.find(',') != std::string_view::npos) return false;
  if (is_any(option, harmless_alone) || begins_with_any(option, "-gdwarf -ggdb ")) return true;
  if (!option.starts_with("-f")) return has_value(option, harmless);
  option.remove_prefix(option.starts_with("-fno-") ? 5 : 2);
  return begins_with_any(option, harmless_after_f);
}

}  // namespace troupe::jit
