// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/translate/internal/pattern.hpp>
#include <troupe/cuda_on_host/translate/internal/splitting/split.hpp>

namespace troupe::cuda_on_host {

own_parameters make_own(const edited_source& source, const std::vector<kernel_parameter>& parameters) {
  own_parameters out;
  std::string packs, values;
  for (const kernel_parameter& p : parameters) {
    if (p.name.empty()) continue;
    const std::string name(p.name);
    if (p.is_pack) {
      packs += (packs.empty() ? "" : ", ") + source.slice(p.begin, p.end);
      values += (values.empty() ? "" : ", ") + name + "...";
      continue;
    }
    out.outside += fill_in(
        "const auto& troupe_p_%1 = %1; using troupe_P_%1 = typename ::troupe_cuda::own<decltype(%1)>::type;", {name});
    out.begin += fill_in("troupe_P_%1 %1 = troupe_p_%1;", {name});
  }
  if (!packs.empty()) {
    out.begin += "[&](" + packs + ") __attribute__((always_inline)) {";
    out.end = "}(" + values + ");";
  }
  return out;
}

}  // namespace troupe::cuda_on_host
