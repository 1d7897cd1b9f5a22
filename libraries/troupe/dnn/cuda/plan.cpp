// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/direct.hpp>
#include <troupe/dnn/cuda/launches.hpp>
#include <troupe/dnn/cuda/plan.hpp>

namespace troupe::dnn {

std::vector<bool> aligned_memory_of(const encoded_graph& g) {
  std::vector<bool> out;
  for (const encoded_memory& m : g.memory()) out.push_back(is_aligned(m));
  return out;
}

cuda_plan completed(std::vector<std::unique_ptr<part>> parts, const encoded_graph& g) {
  std::vector<claim> claims;
  std::vector<bool> claimed(g.nodes().size());
  for (const auto& p : parts) {
    claims.push_back(p->what());
    for (const std::uint16_t n : p->what().nodes) claimed[n] = true;
  }
  const links l(g);
  const read_set read(g);
  const std::vector<bool> aligned = aligned_memory_of(g);
  for (claim& c : direct_claims({g, l, aligned, read, claimed})) claims.push_back(std::move(c));
  cuda_plan out;
  out.direct.resize(claims.size() - parts.size());
  out.parts = std::move(parts);
  static_cast<step_list&>(out) = steps_of(g, limits_of_kernels, claims);
  for (const auto& step : out.steps)
    if (const auto* const s = std::get_if<vendor_step>(&step); s != nullptr && s->which >= out.parts.size())
      out.direct[s->which - out.parts.size()] = direct_step(g, claims[s->which], *s);
  return out;
}

}  // namespace troupe::dnn
