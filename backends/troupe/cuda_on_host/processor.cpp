// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <troupe/cuda_on_host/processor.hpp>

namespace troupe::cuda_on_host {

namespace {

struct ability {
  const char* macro;  // the compiler's, when it takes the ability for granted
  const char* name;
  bool (*is_there)();
};

// All that g++ 12 turns on for any processor with -march=native and that both compilers can ask for, but those that
// mean nothing to a program: fxsave, which all have, and shstk, which the system switches.
constexpr ability abilities[] = {
#if defined(__x86_64__)
#define TROUPE_ABILITY(macro, name) {macro, name, [] { return __builtin_cpu_supports(name) != 0; }}
    TROUPE_ABILITY("__ADX__", "adx"),
    TROUPE_ABILITY("__AES__", "aes"),
    TROUPE_ABILITY("__AMX_BF16__", "amx-bf16"),
    TROUPE_ABILITY("__AMX_INT8__", "amx-int8"),
    TROUPE_ABILITY("__AMX_TILE__", "amx-tile"),
    TROUPE_ABILITY("__AVX__", "avx"),
    TROUPE_ABILITY("__AVX2__", "avx2"),
    TROUPE_ABILITY("__AVXVNNI__", "avxvnni"),
    TROUPE_ABILITY("__AVX512BF16__", "avx512bf16"),
    TROUPE_ABILITY("__AVX512BITALG__", "avx512bitalg"),
    TROUPE_ABILITY("__AVX512BW__", "avx512bw"),
    TROUPE_ABILITY("__AVX512CD__", "avx512cd"),
    TROUPE_ABILITY("__AVX512DQ__", "avx512dq"),
    TROUPE_ABILITY("__AVX512F__", "avx512f"),
    TROUPE_ABILITY("__AVX512FP16__", "avx512fp16"),
    TROUPE_ABILITY("__AVX512IFMA__", "avx512ifma"),
    TROUPE_ABILITY("__AVX512VBMI__", "avx512vbmi"),
    TROUPE_ABILITY("__AVX512VBMI2__", "avx512vbmi2"),
    TROUPE_ABILITY("__AVX512VL__", "avx512vl"),
    TROUPE_ABILITY("__AVX512VNNI__", "avx512vnni"),
    TROUPE_ABILITY("__AVX512VP2INTERSECT__", "avx512vp2intersect"),
    TROUPE_ABILITY("__AVX512VPOPCNTDQ__", "avx512vpopcntdq"),
    TROUPE_ABILITY("__BMI__", "bmi"),
    TROUPE_ABILITY("__BMI2__", "bmi2"),
    TROUPE_ABILITY("__CLDEMOTE__", "cldemote"),
    TROUPE_ABILITY("__CLFLUSHOPT__", "clflushopt"),
    TROUPE_ABILITY("__CLWB__", "clwb"),
    TROUPE_ABILITY("__CLZERO__", "clzero"),
    TROUPE_ABILITY("__ENQCMD__", "enqcmd"),
    TROUPE_ABILITY("__F16C__", "f16c"),
    TROUPE_ABILITY("__FMA__", "fma"),
    TROUPE_ABILITY("__FMA4__", "fma4"),
    TROUPE_ABILITY("__FSGSBASE__", "fsgsbase"),
    TROUPE_ABILITY("__GFNI__", "gfni"),
    TROUPE_ABILITY("__HRESET__", "hreset"),
    TROUPE_ABILITY("__KL__", "kl"),
    TROUPE_ABILITY("__WIDEKL__", "widekl"),
    TROUPE_ABILITY("__LWP__", "lwp"),
    TROUPE_ABILITY("__LZCNT__", "lzcnt"),
    TROUPE_ABILITY("__MOVBE__", "movbe"),
    TROUPE_ABILITY("__MOVDIRI__", "movdiri"),
    TROUPE_ABILITY("__MOVDIR64B__", "movdir64b"),
    TROUPE_ABILITY("__MWAITX__", "mwaitx"),
    TROUPE_ABILITY("__PCLMUL__", "pclmul"),
    TROUPE_ABILITY("__PCONFIG__", "pconfig"),
    TROUPE_ABILITY("__PKU__", "pku"),
    TROUPE_ABILITY("__POPCNT__", "popcnt"),
    TROUPE_ABILITY("__PRFCHW__", "prfchw"),
    TROUPE_ABILITY("__PTWRITE__", "ptwrite"),
    TROUPE_ABILITY("__RDPID__", "rdpid"),
    TROUPE_ABILITY("__RDRND__", "rdrnd"),
    TROUPE_ABILITY("__RDSEED__", "rdseed"),
    TROUPE_ABILITY("__RTM__", "rtm"),
    TROUPE_ABILITY("__SERIALIZE__", "serialize"),
    TROUPE_ABILITY("__SGX__", "sgx"),
    TROUPE_ABILITY("__SHA__", "sha"),
    TROUPE_ABILITY("__SSE3__", "sse3"),
    TROUPE_ABILITY("__SSSE3__", "ssse3"),
    TROUPE_ABILITY("__SSE4_1__", "sse4.1"),
    TROUPE_ABILITY("__SSE4_2__", "sse4.2"),
    TROUPE_ABILITY("__SSE4A__", "sse4a"),
    TROUPE_ABILITY("__TBM__", "tbm"),
    TROUPE_ABILITY("__TSXLDTRK__", "tsxldtrk"),
    TROUPE_ABILITY("__UINTR__", "uintr"),
    TROUPE_ABILITY("__VAES__", "vaes"),
    TROUPE_ABILITY("__VPCLMULQDQ__", "vpclmulqdq"),
    TROUPE_ABILITY("__WAITPKG__", "waitpkg"),
    TROUPE_ABILITY("__WBNOINVD__", "wbnoinvd"),
    TROUPE_ABILITY("__XOP__", "xop"),
    TROUPE_ABILITY("__XSAVE__", "xsave"),
    TROUPE_ABILITY("__XSAVEC__", "xsavec"),
    TROUPE_ABILITY("__XSAVEOPT__", "xsaveopt"),
    TROUPE_ABILITY("__XSAVES__", "xsaves"),
#undef TROUPE_ABILITY
#endif
    {"__troupe_no_macro__", "", nullptr}};

bool has(std::string_view name) {
  return std::any_of(std::begin(abilities), std::end(abilities),
                     [&](const ability& a) { return a.is_there != nullptr && a.name == name && a.is_there(); });
}

// String literals, which no macro of the user's changes.
constexpr std::string_view begin = "\"troupe: the processor has\"\n", end = "\"troupe: no more\"\n";

}  // namespace

std::string missing_in_processor(std::string_view abilities) {
  while (!abilities.empty()) {
    const auto space = abilities.find(' ');
    const std::string_view one = abilities.substr(0, space);
    if (!one.empty() && !has(one)) return std::string(one);
    abilities.remove_prefix(space == std::string_view::npos ? abilities.size() : space + 1);
  }
  return {};
}

const std::string& question_of_abilities() {
  static const std::string text = [] {
    std::string out(begin);
    for (const ability& a : abilities)
      out.append("#ifdef ").append(a.macro).append("\n\"").append(a.name).append("\"\n#endif\n");
    return out + std::string(end);
  }();
  return text;
}

bool take_abilities(std::string& preprocessed, std::string& abilities) {
  const std::size_t first = preprocessed.find(begin);
  const std::size_t last = first == std::string::npos ? first : preprocessed.find(end, first);
  if (last == std::string::npos) return false;
  // Among blank lines and line markers, one ability on each line that is a string.
  std::string_view left = std::string_view(preprocessed).substr(first + begin.size(), last - first - begin.size());
  while (!left.empty()) {
    const std::size_t line = std::min(left.find('\n'), left.size() - 1);
    if (left.front() == '"') abilities.append(left.substr(1, line - 2)).append(" ");
    left.remove_prefix(line + 1);
  }
  preprocessed.erase(first, last + end.size() - first);
  return true;
}

}  // namespace troupe::cuda_on_host
