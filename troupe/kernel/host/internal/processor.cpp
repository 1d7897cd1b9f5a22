// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/kernel/host/internal/processor.hpp>

namespace troupe::kernel {

namespace {

bool has([[maybe_unused]] std::string_view feature) {
#if defined(__x86_64__)
#define TROUPE_FEATURE(name) \
  if (feature == (name)) return __builtin_cpu_supports(name) != 0;
  TROUPE_FEATURE("avx")
  TROUPE_FEATURE("avx2")
  TROUPE_FEATURE("fma")
  TROUPE_FEATURE("f16c")
  TROUPE_FEATURE("bmi2")
  TROUPE_FEATURE("avx512f")
  TROUPE_FEATURE("avx512bw")
  TROUPE_FEATURE("avx512dq")
  TROUPE_FEATURE("avx512vl")
  TROUPE_FEATURE("avx512vbmi")
  TROUPE_FEATURE("avx512bf16")
#undef TROUPE_FEATURE
#endif
  return false;
}

}  // namespace

std::string missing_in_processor(std::string_view features) {
  while (!features.empty()) {
    const auto end = features.find(' ');
    const std::string_view one = features.substr(0, end);
    if (!one.empty() && !has(one)) return std::string(one);
    features.remove_prefix(end == std::string_view::npos ? features.size() : end + 1);
  }
  return {};
}

}  // namespace troupe::kernel
