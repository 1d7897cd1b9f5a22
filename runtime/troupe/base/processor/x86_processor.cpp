// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/processor/x86_processor.hpp>

#ifdef __x86_64__
#include <cpuid.h>

#include <cstring>
#endif

namespace troupe {

#ifdef __x86_64__
namespace {

struct registers {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
};

// Returns the registers of CPUID for the leaf and part; zeros if the processor does not have the leaf.
registers ask(std::uint32_t leaf, std::uint32_t part = 0) {
  registers r;
  if (__get_cpuid_count(leaf, part, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

constexpr bool has(std::uint32_t all, int bit) { return (all >> bit & 1) != 0; }

// Returns the set of registers that the operating system saves (XCR0). Precondition: CPUID reports OSXSAVE.
std::uint32_t saved_registers() {
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

x86_processor x86_processor::of_this_machine() {
  const registers maker = ask(0), one = ask(1), seven = ask(7), seven_more = ask(7, 1), extended = ask(0x80000001);
  x86_processor p;
  p.vendor.resize(12);
  std::memcpy(p.vendor.data(), &maker.b, 4);
  std::memcpy(p.vendor.data() + 4, &maker.d, 4);
  std::memcpy(p.vendor.data() + 8, &maker.c, 4);
  p.signature = one.a;
  p.sse4a = has(extended.c, 6);
  p.ssse3 = has(one.c, 9);
  p.sse4_2 = has(one.c, 20);
  const std::uint32_t saved = has(one.c, 27) ? saved_registers() : 0;
  p.avx = has(one.c, 28) && (saved & 0x6) == 0x6;
  p.avx2 = p.avx && has(seven.b, 5);
  p.fma = p.avx && has(one.c, 12);
  p.scalar_v3 = has(seven.b, 3) && has(seven.b, 8) && has(extended.c, 5) && has(one.c, 22) && has(one.c, 29);
  const bool wide = p.avx && (saved & 0xe6) == 0xe6;
  p.avx512_vl = wide && has(seven.b, 31);
  p.avx512 = p.avx512_vl && has(seven.b, 16) && has(seven.b, 17) && has(seven.b, 28) && has(seven.b, 30);
  p.avx512_bf16 = p.avx512 && has(seven_more.a, 5);
  return p;
}
#else
x86_processor x86_processor::of_this_machine() { return {}; }
#endif

}  // namespace troupe
