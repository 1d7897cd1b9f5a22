// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/jit/internal/compiler_options.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace troupe::jit {
namespace {

// Each list is a text of words, each followed by a space.

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

constexpr std::string_view reserved =
    "-o -c -S -E -x -M -B -d -r -h -### -save-temps -wrapper -emit -aux-info -print -fsyntax-only -fdump -time "
    "-ftime-trace -Wp, -Wa, ";
constexpr std::string_view long_and_not_reserved = "--param= --sysroot= --gcc-toolchain= --gcc-install-dir= --stdlib= ",
                           // Options of NVRTC that the host's compilers reject as unknown; "=": with a value
    long_for_nvrtc =
        "--ptxas-options= --Ofast-compile= --prec-sqrt= --prec-div= --restrict --device-debug "
        "--dopt= --extra-device-vectorization --modify-stack-limit= --jump-table-density= "
        "--device-stack-protector= --builtin-move-forward= --builtin-initializer-list= "
        "--disable-warnings --device-as-default-execution-space --device-int128 "
        "--device-float128 --display-error-number --no-display-error-number --diag-error= "
        "--diag-suppress= --diag-warn= --brief-diagnostics= --split-compile= --minimal "
        "--no-cache ";
constexpr std::string_view with_an_argument =
    "-I -D -U -L -l -T -A -u -z -e -include -imacros -isystem -iquote -idirafter -iprefix -isysroot -iwithprefix "
    "-iwithprefixbefore -Xlinker -Xassembler -Xpreprocessor -Xclang -mllvm -target ";
constexpr std::string_view reserved_by_linker = "-o --output -M -Map --Map --print-map @ ";

// Short names of NVRTC's options, for users who know these, where adding a dash does not give the long name.
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

constexpr std::string_view harmless = "-D -U -O -g -m -w -std= -pedantic -pthread -pipe --param= ";
constexpr std::string_view harmless_after_f =
    "align- associative-math builtin cf-protection char8_t concepts constexpr- coroutines cx- data-sections "
    "delete-null- diagnostics- exceptions excess-precision expensive- fast-math finite-math fp-contract fp-model "
    "function-sections gcse gnu-keywords if-conversion implicit- inline ipa- ivopts loop- math-errno max-errors merge- "
    "message-length ms-extensions omit-frame- optimize- partial-inlining peel-loops permissive pic PIC plt predictive- "
    "prefetch-loop reciprocal-math rename- reorder- rounding-math rtti sched short-enums show- signaling-nans signed- "
    "slp-vectorize split- stack-clash stack-protector strict- template- tracer trapping-math trapv tree- unroll- "
    "unsafe-math unsigned-char unswitch- unwind-tables variable- vect version-loops visibility web wrapv zero- ";

}  // namespace

bool is_reserved_option(std::string_view option) {
  if (option.size() < 2 || option.front() != '-' || is_any(option, with_an_argument)) return true;
  if (option.starts_with("--"))
    return !begins_with_any(option, long_and_not_reserved) && !begins_with_any(option, long_for_nvrtc);
  if (begins_with_any(option, reserved)) return true;
  if (!option.starts_with("-Wl,")) return false;
  for (std::size_t comma = option.find(','); comma != std::string_view::npos; comma = option.find(',', comma + 1))
    if (begins_with_any(option.substr(comma + 1), reserved_by_linker)) return true;
  return false;
}

bool is_allowed_for_nvrtc(std::string_view option) {
  if (!is_any(option.substr(0, std::min(option.find('='), option.size() - 1) + 1), long_for_nvrtc)) return false;
  // Without a dash, ptxas takes an option for a file to read.
  constexpr std::string_view passed_on = "--ptxas-options=";
  if (!option.starts_with(passed_on)) return true;
  option.remove_prefix(passed_on.size());
  return option.starts_with('-') && !begins_with_any(option, "-optf --options-file ");
}

std::string alternative_to(std::string_view option) {
  if (option.starts_with("--ptxas-options="))
    return "pass options to ptxas directly, each with a dash, and not in a file";
  if (is_allowed_for_nvrtc("-" + std::string(option))) return "write -" + std::string(option);
  // Options of one letter may be followed directly by their value.
  const std::string_view name = option.substr(0, begins_with_any(option, "-I -D -U ") ? 2 : option.find('='));
  for (const auto& [short_name, instead] : short_for_nvrtc)
    if (name == short_name) return std::string(instead);
  return "docs/jit.md lists those that can be given";
}

bool reads_no_files(std::string_view option) {
  if (option.starts_with("-mllvm")) return false;
  if (option.starts_with("-W")) return option.find(',') == std::string_view::npos;  // -Wl, passes options to the linker
  if (!option.starts_with("-f")) return begins_with_any(option, harmless);
  option.remove_prefix(option.starts_with("-fno-") ? 5 : 2);
  return begins_with_any(option, harmless_after_f);
}

}  // namespace troupe::jit
