// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <troupe/base/text/cat.hpp>
#include <troupe/jit/cuda/architecture.hpp>

namespace troupe::jit {
namespace {

// From this capability on, there is code that runs only on GPUs of exactly that capability.
constexpr capability first_with_own_code = 90;

error refusal(reaction r, const std::string& text) { return error(r, "jit", "jit.compile: " + text); }

std::string list(const std::vector<capability>& known) {
  std::string out;
  for (const capability k : known) out += cat(out.empty() ? "" : ", ", k);
  return out;
}

}  // namespace

result<target> target_for(const std::string& asked, capability gpu, const std::vector<capability>& known) {
  const auto is_known = [&](capability c) { return std::find(known.begin(), known.end(), c) != known.end(); };
  if (!asked.empty()) {
    const std::size_t digits = asked.starts_with("sm_") ? 3 : asked.starts_with("compute_") ? 8 : asked.size();
    capability number = 0;
    const auto [end, wrong] = std::from_chars(asked.data() + digits, asked.data() + asked.size(), number);
    const std::string_view suffix(end, static_cast<std::size_t>(asked.data() + asked.size() - end));
    if (wrong != std::errc() || (!suffix.empty() && suffix != "a" && suffix != "f"))
      return refusal(reaction::caller_bug, "architecture is \"" + asked +
                                               "\"; expected sm_90a or similar, compute_90 for PTX, or nothing for "
                                               "the device's own");
    if (!is_known(number))
      return refusal(reaction::unsupported,
                     "architecture is \"" + asked + "\"; the installed NVRTC compiles for " + list(known));
    return target{asked};
  }
  if (is_known(gpu)) return target{cat("sm_", gpu, gpu >= first_with_own_code ? "a" : "")};
  const auto above = std::upper_bound(known.begin(), known.end(), gpu);
  if (above == known.begin())
    return refusal(reaction::unsupported,
                   cat("the GPU's capability is ", gpu, "; the installed NVRTC compiles for ", list(known)));
  const std::string nearest = std::to_string(*std::prev(above));
  return target{"compute_" + nearest,
                cat("note: the GPU's capability is ", gpu,
                    ", which the installed NVRTC does not know: compiled to PTX for ", nearest, "\n")};
}

// PTX runs on newer GPUs too; machine code on GPUs with the same major and at least the same minor number; "f" code on
// the same family; "a" code on this GPU's capability only.
bool runs_on(std::string_view architecture, capability gpu) {
  const bool ptx = architecture.starts_with("compute_");
  architecture.remove_prefix(architecture.find('_') + 1);
  capability number = 0;
  const auto [end, wrong] = std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
  if (wrong != std::errc() || architecture.ends_with('a')) return gpu == number;
  if (ptx && !architecture.ends_with('f')) return gpu >= number;
  return gpu >= number && gpu / 10 == number / 10;
}

}  // namespace troupe::jit
