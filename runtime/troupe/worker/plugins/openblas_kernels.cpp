// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe {
namespace {

// The instruction sets that kernels use or require.
enum class level { basic, sse, avx, avx2, avx512 };

struct kernels {
  std::string_view name;
  level uses, needs;
};
constexpr kernels all_kernels[] = {
    {"Prescott", level::basic, level::basic},
    {"Core2", level::sse, level::basic},
    {"Penryn", level::sse, level::basic},
    {"Dunnington", level::sse, level::basic},
    {"Atom", level::sse, level::basic},
    {"Nano", level::sse, level::basic},
    {"Opteron", level::sse, level::basic},
    {"Opteron_SSE3", level::sse, level::basic},
    {"Barcelona", level::sse, level::basic},
    {"Nehalem", level::sse, level::basic},
    // Also for Jaguar, which executes AVX instructions in two halves: a decision of OpenBLAS.
    {"Bobcat", level::avx, level::basic},
    {"Sandybridge", level::avx, level::avx},
    {"Bulldozer", level::avx, level::avx},
    {"Piledriver", level::avx, level::avx},
    {"Steamroller", level::avx, level::avx},
    {"Excavator", level::avx2, level::avx},
    {"Haswell", level::avx2, level::avx2},
    {"Zen", level::avx2, level::avx2},
    // These two and SapphireRapids differ only in products of bfloat16, which blas.host does not compute with them.
    {"SkylakeX", level::avx512, level::avx512},
    {"Cooperlake", level::avx512, level::avx512},
};

// Returns null for a name from a later version of OpenBLAS.
const kernels* find(std::string_view name) noexcept {
  const auto at = std::find_if(std::begin(all_kernels), std::end(all_kernels), [name](const kernels& k) {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    return std::equal(k.name.begin(), k.name.end(), name.begin(), name.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
  });
  return at == std::end(all_kernels) ? nullptr : at;
}

bool is_amd(const x86_processor& p) noexcept { return p.vendor == "AuthenticAMD" || p.vendor == "HygonGenuine"; }

level level_of(const x86_processor& p) noexcept {
  if (p.avx512 && p.avx2 && p.fma && p.scalar_v3) return level::avx512;
  if (p.avx2 && p.fma) return level::avx2;
  if (p.avx) return level::avx;
  return p.sse4_2 || p.sse4a ? level::sse : level::basic;
}

// Chooses by the instruction sets, for processors whose model does not decide.
std::string_view by_extensions(const x86_processor& p) noexcept {
  if (p.avx512_vl) return p.avx512_bf16 ? "Cooperlake" : "SkylakeX";
  if (p.avx2) return "Haswell";
  return p.avx ? "Sandybridge" : "Prescott";
}

// Returns the best kernels, up to `most`, whose instruction sets the processor reports. For a model of Intel's Core
// line.
std::string_view at_most(std::string_view most, const x86_processor& p) noexcept {
  if (most == "Cooperlake" && p.avx512_bf16) return "Cooperlake";
  if ((most == "Cooperlake" || most == "SkylakeX") && p.avx512_vl) return "SkylakeX";
  if (most != "Sandybridge" && p.avx2) return "Haswell";
  return p.avx ? "Sandybridge" : "Nehalem";
}

struct core_models {
  std::string_view takes;
  bool needs_extensions;
  std::initializer_list<unsigned> models;
};
constexpr core_models all_core_models[] = {
    {"Core2", false, {0x0f, 0x16}},
    {"Penryn", false, {0x17}},
    {"Dunnington", false, {0x1d}},
    {"Atom", false, {0x1c, 0x37}},
    {"Nehalem", false, {0x1a, 0x1b, 0x1e, 0x1f, 0x25, 0x2c, 0x2e, 0x2f, 0x4c, 0x4d, 0x5c, 0x5f, 0x7a}},
    {"Sandybridge", true, {0x2a, 0x2d, 0x3a, 0x3e}},
    {"Haswell", true, {0x3c, 0x3d, 0x3f, 0x45, 0x46, 0x47, 0x4e, 0x4f, 0x56, 0x57, 0x5e, 0x66, 0x8e, 0x9e, 0xa5, 0xa6}},
    {"SkylakeX", true, {0x7d, 0x7e, 0x8c, 0x8d, 0xa7}},
    {"Cooperlake", true, {0x55, 0x6a, 0x6c, 0x8f, 0x97, 0x9a}},
};

std::string_view takes_of_core_line(const x86_processor& p) noexcept {
  if (p.extended_model() > 10) return "Prescott";  // OpenBLAS treats a model beyond its list as a Pentium 4
  for (const core_models& c : all_core_models)
    if (std::find(c.models.begin(), c.models.end(), p.model()) != c.models.end())
      return c.needs_extensions ? at_most(c.takes, p) : c.takes;
  // On 64 bits, models from before 2006 get Prescott too.
  return p.extended_model() == 0 && p.model() <= 0x0e && p.model() != 0x0c ? "Prescott" : by_extensions(p);
}

std::string_view takes_of_amd(const x86_processor& p) noexcept {
  if (p.base_family() < 15) return "Prescott";  // an Athlon, or a processor that a hypervisor presents as one
  const auto with_avx = [&p](std::string_view name) { return p.avx ? name : std::string_view("Barcelona"); };
  switch (p.extended_family()) {
    case 0:
    case 2:
      return "Opteron_SSE3";
    case 5:
    case 7:
      return "Bobcat";
    case 6:
      switch (p.low_model()) {
        case 1:
          return with_avx("Bulldozer");
        case 2:
        case 3:
          return with_avx("Piledriver");
        case 5:
          return with_avx("Excavator");
        case 0:
        case 8:
          if (p.extended_model() == 1) return with_avx("Piledriver");
          if (p.extended_model() == 3) return with_avx("Steamroller");
          if (p.extended_model() == 6) return with_avx("Excavator");
          break;
        default:
          break;
      }
      return by_extensions(p);
    case 10:
      if (p.avx512_vl) return by_extensions(p);
      return with_avx("Zen");
    case 8:
    case 9:
      return with_avx("Zen");
    default:
      return by_extensions(p);
  }
}

}  // namespace

std::string_view openblas_takes(const x86_processor& p) noexcept {
  if (p.vendor == "GenuineIntel") {
    if (p.base_family() == 6) return takes_of_core_line(p);
    return p.base_family() == 15 ? "Prescott" : by_extensions(p);
  }
  if (is_amd(p)) return takes_of_amd(p);
  const bool zhaoxin = p.vendor == "  Shanghai  ";
  if (!zhaoxin && p.vendor != "CentaurHauls") return by_extensions(p);
  if (p.base_family() == 7 && p.extended_model() == 5) return p.avx2 ? "Zen" : "Dunnington";
  return !zhaoxin && p.base_family() < 6 ? by_extensions(p) : "Nehalem";
}

std::string_view best_openblas_kernels(const x86_processor& p) noexcept {
  switch (level_of(p)) {
    case level::avx512:
      return "SkylakeX";
    case level::avx2:
      return is_amd(p) ? "Zen" : "Haswell";
    case level::avx:
      return "Sandybridge";
    case level::sse:
      return p.sse4_2 ? "Nehalem" : "Barcelona";
    case level::basic:
      break;
  }
  return "Prescott";
}

bool unfit(std::string_view name, const x86_processor& p) noexcept {
  const kernels* const k = find(name);
  return k != nullptr && (k->needs > level_of(p) || k->uses < level_of(p));
}

kernel_choice kernel_choice::of(const x86_processor& p, const char* setting) {
  kernel_choice c;
  c.processor = p;
  c.own = openblas_takes(p);
  c.best = best_openblas_kernels(p);
  if (setting != nullptr)
    c.by = chooser::user, c.users = setting;
  else if (!p.vendor.empty() && unfit(c.own, p))
    c.by = chooser::troupe;
  return c;
}

kernel_choice kernel_choice::here() { return of(x86_processor::of_this_machine(), ::secure_getenv(openblas_variable)); }

std::string kernel_choice::setting() const {
  if (by != chooser::troupe) return {};
  return std::string(openblas_variable).append("=").append(best);
}

std::string kernel_choice::text(std::string_view in_use) const {
  std::string out(in_use);
  switch (by) {
    case chooser::user:
      return out.append(", set by ").append(openblas_variable).append("=").append(users);
    case chooser::troupe:
      if (find(in_use) == find(best))
        return out.append(", chosen by Troupe: OpenBLAS 0.3.21 takes ").append(own).append(" here");
      return out.append(", though Troupe asked for ").append(best);
    case chooser::openblas:
      break;
  }
  return out.append(", as OpenBLAS chooses");
}

std::string kernel_choice::remedy(std::string_view in_use) const {
  if (!unfit(in_use, processor)) return {};
  const std::string variable = openblas_variable;
  switch (by) {
    case chooser::user:
      return "unset " + variable;
    case chooser::troupe:
      return "install an OpenBLAS that has its kernels for all processors (Debian: libopenblas0-pthread)";
    case chooser::openblas:
      break;
  }
  return "export " + variable + "=" + std::string(best);
}

}  // namespace troupe
