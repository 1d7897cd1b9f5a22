// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe {
namespace {

enum shows { k10, core2, sse4_2, avx, avx_fma, avx2, avx2_without_fma, avx512, avx512_bf16, avx512_without_bw };

// A processor that reports these extensions, whatever its model has.
x86_processor processor(const char* vendor, std::uint32_t signature, shows extensions) {
  x86_processor p;
  p.vendor = vendor;
  p.signature = signature;
  p.sse4a = extensions == k10;
  p.ssse3 = extensions >= core2;
  p.sse4_2 = extensions >= sse4_2;
  p.avx = extensions >= avx;
  p.fma = extensions >= avx_fma && extensions != avx2_without_fma;
  p.avx2 = p.scalar_v3 = extensions >= avx2;
  p.avx512_vl = extensions >= avx512;
  p.avx512 = extensions == avx512 || extensions == avx512_bf16;
  p.avx512_bf16 = extensions == avx512_bf16;
  return p;
}

constexpr const char *intel = "GenuineIntel", *amd = "AuthenticAMD", *hygon = "HygonGenuine", *zhaoxin = "  Shanghai  ",
                     *centaur = "CentaurHauls";

struct known {
  const char* name;
  const char* vendor;
  std::uint32_t signature;
  shows extensions;
  std::string_view own;        // the choice of OpenBLAS 0.3.21
  std::string_view told = "";  // what Troupe passes to OpenBLAS; empty: nothing
};

// Signatures are those of CPUID. The choices of OpenBLAS are from driver/others/dynamic.c of version 0.3.21.
constexpr known processors[] = {
    // Processors that OpenBLAS knows.
    {"Xeon 5160, Core 2", intel, 0x000006f6, core2, "Core2"},
    {"Xeon X5570, Nehalem", intel, 0x000106a5, sse4_2, "Nehalem"},
    {"Xeon E5-2670, Sandy Bridge", intel, 0x000206d7, avx, "Sandybridge"},
    {"Core i7-3770, Ivy Bridge", intel, 0x000306a9, avx, "Sandybridge"},
    {"Xeon E5-2690 v3, Haswell", intel, 0x000306f2, avx2, "Haswell"},
    {"Xeon E5-2690 v4, Broadwell", intel, 0x000406f1, avx2, "Haswell"},
    {"Core i7-8700, Coffee Lake", intel, 0x000906ea, avx2, "Haswell"},
    {"Xeon Phi 7250, without AVX-512VL", intel, 0x00050671, avx2, "Haswell"},
    {"Xeon 8176, Skylake", intel, 0x00050654, avx512, "SkylakeX"},
    {"Xeon 8380H, Cooper Lake", intel, 0x0005065b, avx512_bf16, "Cooperlake"},
    {"Xeon 8380, Ice Lake", intel, 0x000606a6, avx512, "SkylakeX"},
    {"Core i7-1165G7, Tiger Lake", intel, 0x000806c1, avx512, "SkylakeX"},
    {"Xeon 8480, Sapphire Rapids", intel, 0x000806f8, avx512_bf16, "Cooperlake"},
    {"Core i9-12900K, Alder Lake", intel, 0x00090672, avx2, "Haswell"},
    {"Opteron, K8", amd, 0x00020f12, core2, "Opteron_SSE3"},
    {"E-350, Bobcat", amd, 0x00500f10, core2, "Bobcat"},
    {"Athlon 5350, Jaguar, AVX in halves", amd, 0x00700f01, avx, "Bobcat"},
    {"Opteron 6272, Bulldozer", amd, 0x00600f12, avx, "Bulldozer"},
    {"Opteron 6376, Piledriver", amd, 0x00600f20, avx_fma, "Piledriver"},
    {"A10-7850K, Steamroller", amd, 0x00630f01, avx_fma, "Steamroller"},
    {"A12-9800, Excavator", amd, 0x00660f51, avx2, "Excavator"},
    {"EPYC 7601, Zen", amd, 0x00800f12, avx2, "Zen"},
    {"EPYC 7763, Zen 3", amd, 0x00a00f11, avx2, "Zen"},
    {"EPYC 9654, Zen 4", amd, 0x00a10f11, avx512_bf16, "Cooperlake"},
    {"EPYC 9755, Zen 5", amd, 0x00b00f21, avx512_bf16, "Cooperlake"},
    {"Dhyana", hygon, 0x00900f02, avx2, "Zen"},
    {"KX-U6880A", zhaoxin, 0x000307b0, avx, "Nehalem", "Sandybridge"},

    // Processors whose model OpenBLAS does not know, and for which it chooses well by their extensions.
    {"Core Ultra 7 155H, Meteor Lake", intel, 0x000a06a4, avx2, "Haswell"},
    {"Xeon 6767P, Granite Rapids", intel, 0x000a06d1, avx512_bf16, "Cooperlake"},
    {"Xeon 6780E, Sierra Forest", intel, 0x000a06f3, avx2, "Haswell"},

    // Processors that OpenBLAS takes for much older ones.
    {"Xeon 8592+, Emerald Rapids", intel, 0x000c06f2, avx512_bf16, "Prescott", "SkylakeX"},
    {"Core i9-13900K, Raptor Lake", intel, 0x000b0671, avx2, "Prescott", "Haswell"},
    {"N100, Alder Lake-N", intel, 0x000b06e0, avx2, "Prescott", "Haswell"},
    {"Core Ultra 9 285K, Arrow Lake", intel, 0x000c0662, avx2, "Prescott", "Haswell"},
    {"Core Ultra 7 258V, Lunar Lake", intel, 0x000b06d1, avx2, "Prescott", "Haswell"},
    {"Diamond Rapids, family 19", intel, 0x00400f10, avx512_bf16, "Prescott", "SkylakeX"},
    {"Core i3-8121U, Cannon Lake", intel, 0x00060663, avx512, "Haswell", "SkylakeX"},
    {"Atom P5962B, Tremont", intel, 0x00080664, sse4_2, "Prescott", "Nehalem"},
    {"Opteron 6174, K10", amd, 0x00100f91, k10, "Prescott", "Barcelona"},

    // Processors in the form in which hypervisors present them.
    {"Common KVM processor", intel, 0x00000f61, avx512, "Prescott", "SkylakeX"},
    {"Common 64-bit QEMU processor with AVX2", amd, 0x00060fb1, avx2, "Opteron_SSE3", "Zen"},
    {"a Penryn that shows AVX2", intel, 0x0001067a, avx2, "Penryn", "Haswell"},
    {"a Skylake that hides AVX-512", intel, 0x00050654, avx2, "Haswell"},
    {"a Skylake that hides all from AVX on", intel, 0x00050654, sse4_2, "Nehalem"},
    {"a Haswell that hides FMA", intel, 0x000306f2, avx2_without_fma, "Haswell", "Sandybridge"},
    {"a Zen 2 that hides AVX2", amd, 0x00830f10, avx, "Zen", "Sandybridge"},
    {"an Ice Lake that hides AVX-512BW", intel, 0x000606a6, avx512_without_bw, "SkylakeX", "Haswell"},
    {"another vendor's", "Another Corp", 0x00000f10, avx2, "Haswell"},
    {"Centaur's CNS, which hides FMA", centaur, 0x000507b0, avx2_without_fma, "Zen", "Sandybridge"},
};

TEST(openblas_kernels, are_openblas_own_choice_or_the_best_if_that_is_unfit) {
  for (const known& k : processors) {
    SCOPED_TRACE(k.name);
    const x86_processor p = processor(k.vendor, k.signature, k.extensions);
    EXPECT_EQ(openblas_takes(p), k.own);
    const kernel_choice c = kernel_choice::of(p, nullptr);
    EXPECT_EQ(c.setting(), k.told.empty() ? "" : "OPENBLAS_CORETYPE=" + std::string(k.told));
    EXPECT_EQ(c.by, k.told.empty() ? kernel_choice::chooser::openblas : kernel_choice::chooser::troupe);
    EXPECT_FALSE(unfit(k.told.empty() ? k.own : k.told, p));
  }
}

TEST(openblas_kernels, are_never_chosen_against_the_users_setting) {
  for (const known& k : processors)
    for (const char* setting : {"Haswell", "", "nonsense"}) {
      const kernel_choice c = kernel_choice::of(processor(k.vendor, k.signature, k.extensions), setting);
      EXPECT_EQ(c.by, kernel_choice::chooser::user) << k.name;
      EXPECT_EQ(c.setting(), "") << k.name;
    }
}

TEST(openblas_kernels, are_described_with_their_chooser_and_a_remedy_if_they_are_unfit) {
  const x86_processor known = processor(intel, 0x000606a6, avx512);
  const x86_processor unknown = processor(intel, 0x000c06f2, avx512_bf16);
  const auto own = kernel_choice::of(known, nullptr), ours = kernel_choice::of(unknown, nullptr),
             users = kernel_choice::of(unknown, "Haswell");
  EXPECT_EQ(own.text("SkylakeX"), "SkylakeX, as OpenBLAS chooses");
  EXPECT_EQ(own.remedy("SkylakeX"), "");
  // The choice of another version of OpenBLAS, which knows fewer or more processors than 0.3.21.
  EXPECT_EQ(own.remedy("Haswell"), "export OPENBLAS_CORETYPE=SkylakeX");
  EXPECT_EQ(own.remedy("SapphireRapids"), "");
  EXPECT_EQ(ours.text("SkylakeX"), "SkylakeX, chosen by Troupe: OpenBLAS 0.3.21 takes Prescott here");
  EXPECT_EQ(ours.remedy("SkylakeX"), "");
  // An OpenBLAS built for a single processor does not read the variable.
  EXPECT_EQ(ours.text("Nehalem"), "Nehalem, though Troupe asked for SkylakeX");
  EXPECT_NE(ours.remedy("Nehalem").find("libopenblas0-pthread"), std::string::npos);
  EXPECT_EQ(users.text("Haswell"), "Haswell, set by OPENBLAS_CORETYPE=Haswell");
  EXPECT_EQ(users.remedy("Haswell"), "unset OPENBLAS_CORETYPE");
}

TEST(openblas_kernels, that_are_chosen_fit_this_machine) {
  const x86_processor here = x86_processor::of_this_machine();
  const kernel_choice c = kernel_choice::of(here, nullptr);
  EXPECT_EQ(here.vendor.size(), 12u);
  EXPECT_FALSE(unfit(c.setting().empty() ? c.own : c.best, here));
  // Compares with the compiler's library.
  EXPECT_EQ(here.avx, __builtin_cpu_supports("avx") != 0);
  EXPECT_EQ(here.avx2, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(here.fma, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(here.avx512 && here.scalar_v3, __builtin_cpu_supports("x86-64-v4") != 0);
}

}  // namespace
}  // namespace troupe
