// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <troupe/cuda_on_host/processor.hpp>

namespace troupe::cuda_on_host {

namespace {

struct feature {
  const char* macro;  // the macro that the compiler defines if it assumes the feature
  const char* name;
  bool (*is_there)();
};

// All features that g++ 12 enables for any processor with -march=native and that both compilers can test. Left out are
// fxsave, which every processor has, and shstk, which the operating system controls.
constexpr feature features[] = {
#if defined(__x86_64__)
#define TROUPE_FEATURE(macro, name) {macro, name, [] { return __builtin_cpu_supports(name) != 0; }}
    TROUPE_FEATURE("__ADX__", "adx"),
    TROUPE_FEATURE("__AES__", "aes"),
    TROUPE_FEATURE("__AMX_BF16__", "amx-bf16"),
    TROUPE_FEATURE("__AMX_INT8__", "amx-int8"),
    TROUPE_FEATURE("__AMX_TILE__", "amx-tile"),
    TROUPE_FEATURE("__AVX__", "avx"),
    TROUPE_FEATURE("__AVX2__", "avx2"),
    TROUPE_FEATURE("__AVXVNNI__", "avxvnni"),
    TROUPE_FEATURE("__AVX512BF16__", "avx512bf16"),
    TROUPE_FEATURE("__AVX512BITALG__", "avx512bitalg"),
    TROUPE_FEATURE("__AVX512BW__", "avx512bw"),
    TROUPE_FEATURE("__AVX512CD__", "avx512cd"),
    TROUPE_FEATURE("__AVX512DQ__", "avx512dq"),
    TROUPE_FEATURE("__AVX512F__", "avx512f"),
    TROUPE_FEATURE("__AVX512FP16__", "avx512fp16"),
    TROUPE_FEATURE("__AVX512IFMA__", "avx512ifma"),
    TROUPE_FEATURE("__AVX512VBMI__", "avx512vbmi"),
    TROUPE_FEATURE("__AVX512VBMI2__", "avx512vbmi2"),
    TROUPE_FEATURE("__AVX512VL__", "avx512vl"),
    TROUPE_FEATURE("__AVX512VNNI__", "avx512vnni"),
    TROUPE_FEATURE("__AVX512VP2INTERSECT__", "avx512vp2intersect"),
    TROUPE_FEATURE("__AVX512VPOPCNTDQ__", "avx512vpopcntdq"),
    TROUPE_FEATURE("__BMI__", "bmi"),
    TROUPE_FEATURE("__BMI2__", "bmi2"),
    TROUPE_FEATURE("__CLDEMOTE__", "cldemote"),
    TROUPE_FEATURE("__CLFLUSHOPT__", "clflushopt"),
    TROUPE_FEATURE("__CLWB__", "clwb"),
    TROUPE_FEATURE("__CLZERO__", "clzero"),
    TROUPE_FEATURE("__ENQCMD__", "enqcmd"),
    TROUPE_FEATURE("__F16C__", "f16c"),
    TROUPE_FEATURE("__FMA__", "fma"),
    TROUPE_FEATURE("__FMA4__", "fma4"),
    TROUPE_FEATURE("__FSGSBASE__", "fsgsbase"),
    TROUPE_FEATURE("__GFNI__", "gfni"),
    TROUPE_FEATURE("__HRESET__", "hreset"),
    TROUPE_FEATURE("__KL__", "kl"),
    TROUPE_FEATURE("__WIDEKL__", "widekl"),
    TROUPE_FEATURE("__LWP__", "lwp"),
    TROUPE_FEATURE("__LZCNT__", "lzcnt"),
    TROUPE_FEATURE("__MOVBE__", "movbe"),
    TROUPE_FEATURE("__MOVDIRI__", "movdiri"),
    TROUPE_FEATURE("__MOVDIR64B__", "movdir64b"),
    TROUPE_FEATURE("__MWAITX__", "mwaitx"),
    TROUPE_FEATURE("__PCLMUL__", "pclmul"),
    TROUPE_FEATURE("__PCONFIG__", "pconfig"),
    TROUPE_FEATURE("__PKU__", "pku"),
    TROUPE_FEATURE("__POPCNT__", "popcnt"),
    TROUPE_FEATURE("__PRFCHW__", "prfchw"),
    TROUPE_FEATURE("__PTWRITE__", "ptwrite"),
    TROUPE_FEATURE("__RDPID__", "rdpid"),
    TROUPE_FEATURE("__RDRND__", "rdrnd"),
    TROUPE_FEATURE("__RDSEED__", "rdseed"),
    TROUPE_FEATURE("__RTM__", "rtm"),
    TROUPE_FEATURE("__SERIALIZE__", "serialize"),
    TROUPE_FEATURE("__SGX__", "sgx"),
    TROUPE_FEATURE("__SHA__", "sha"),
    TROUPE_FEATURE("__SSE3__", "sse3"),
    TROUPE_FEATURE("__SSSE3__", "ssse3"),
    TROUPE_FEATURE("__SSE4_1__", "sse4.1"),
    TROUPE_FEATURE("__SSE4_2__", "sse4.2"),
    TROUPE_FEATURE("__SSE4A__", "sse4a"),
    TROUPE_FEATURE("__TBM__", "tbm"),
    TROUPE_FEATURE("__TSXLDTRK__", "tsxldtrk"),
    TROUPE_FEATURE("__UINTR__", "uintr"),
    TROUPE_FEATURE("__VAES__", "vaes"),
    TROUPE_FEATURE("__VPCLMULQDQ__", "vpclmulqdq"),
    TROUPE_FEATURE("__WAITPKG__", "waitpkg"),
    TROUPE_FEATURE("__WBNOINVD__", "wbnoinvd"),
    TROUPE_FEATURE("__XOP__", "xop"),
    TROUPE_FEATURE("__XSAVE__", "xsave"),
    TROUPE_FEATURE("__XSAVEC__", "xsavec"),
    TROUPE_FEATURE("__XSAVEOPT__", "xsaveopt"),
    TROUPE_FEATURE("__XSAVES__", "xsaves"),
#undef TROUPE_FEATURE
#endif
    {"__troupe_no_macro__", "", nullptr}};

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
      out.append("#ifdef ").append(a.macro).append("\n\"").append(a.name).append("\"\n#endif\n");
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
