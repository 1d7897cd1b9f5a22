// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <iterator>
#include <troupe/base/compiler/for_each.hpp>
#include <troupe/cuda_on_host/processor.hpp>

namespace troupe::cuda_on_host {

namespace {

struct feature {
  std::string_view name;
  bool (*is_there)();
  // Returns the macro that the compiler defines if it assumes the feature: __SSE4_1__ for sse4.1.
  std::string macro() const {
    std::string out = "__";
    for (const char c : name) out += c == '-' || c == '.' ? '_' : static_cast<char>(std::toupper(c));
    return out + "__";
  }
};

// All features that g++ 12 enables for any processor with -march=native and that both compilers can test. Left out are
// fxsave, which every processor has, and shstk, which the operating system controls.
constexpr feature features[] = {
#if defined(__x86_64__)
#define TROUPE_FEATURE(UNUSED, NAME) {NAME, [] { return __builtin_cpu_supports(NAME) != 0; }},
    TROUPE_FOR_EACH(TROUPE_FEATURE, , "adx", "aes", "amx-bf16", "amx-int8", "amx-tile", "avx", "avx2", "avxvnni",
                    "avx512bf16", "avx512bitalg", "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512fp16",
                    "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vl", "avx512vnni", "avx512vp2intersect",
                    "avx512vpopcntdq", "bmi", "bmi2", "cldemote", "clflushopt", "clwb", "clzero", "enqcmd", "f16c",
                    "fma", "fma4", "fsgsbase", "gfni", "hreset", "kl", "widekl")
        TROUPE_FOR_EACH(TROUPE_FEATURE, , "lwp", "lzcnt", "movbe", "movdiri", "movdir64b", "mwaitx", "pclmul",
                        "pconfig", "pku", "popcnt", "prfchw", "ptwrite", "rdpid", "rdrnd", "rdseed", "rtm", "serialize",
                        "sgx", "sha", "sse3", "ssse3", "sse4.1", "sse4.2", "sse4a", "tbm", "tsxldtrk", "uintr", "vaes",
                        "vpclmulqdq", "waitpkg", "wbnoinvd", "xop", "xsave", "xsavec", "xsaveopt", "xsaves")
#undef TROUPE_FEATURE
#endif
            {"troupe_no_macro", nullptr}};

bool has(std::string_view name) {
  return std::any_of(std::begin(features), std::end(features),
                     [&](const feature& a) { return a.is_there != nullptr && a.name == name && a.is_there(); });
}

// These markers are string literals, because the user's macros cannot change them.
constexpr std::string_view begin = "\"troupe: the processor has\"\n", end = "\"troupe: no more\"\n";

}  // namespace

std::string missing_in_processor(std::string_view features) {
  while (!features.empty()) {
    const auto space = features.find(' ');
    const std::string_view one = features.substr(0, space);
    if (!one.empty() && !has(one)) return std::string(one);
    features.remove_prefix(space == std::string_view::npos ? features.size() : space + 1);
  }
  return {};
}

const std::string& feature_query() {
  static const std::string text = [] {
    std::string out(begin);
    for (const feature& a : features)
      out.append("#ifdef ").append(a.macro()).append("\n\"").append(a.name).append("\"\n#endif\n");
    return out + std::string(end);
  }();
  return text;
}

bool extract_features(std::string& preprocessed, std::string& features) {
  const std::size_t first = preprocessed.find(begin);
  const std::size_t last = first == std::string::npos ? first : preprocessed.find(end, first);
  if (last == std::string::npos) return false;
  // Each feature is a string literal on a line of its own, among blank lines and line markers.
  std::string_view left = std::string_view(preprocessed).substr(first + begin.size(), last - first - begin.size());
  while (!left.empty()) {
    const std::size_t line = std::min(left.find('\n'), left.size() - 1);
    if (left.front() == '"') features.append(left.substr(1, line - 2)).append(" ");
    left.remove_prefix(line + 1);
  }
  preprocessed.erase(first, last + end.size() - first);
  return true;
}

}  // namespace troupe::cuda_on_host
