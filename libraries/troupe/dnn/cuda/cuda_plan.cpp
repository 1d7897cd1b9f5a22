// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/cuda_plan.hpp>
#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/cuda/launches/stored_type.hpp>
#include <troupe/dnn/steps/planner.hpp>

namespace troupe::dnn {

std::vector<bool> aligned_memory_of(const encoded_graph& g) {
  std::vector<bool> out;
  for (const encoded_memory& m : g.memory()) out.push_back(is_aligned(m, memory_alignment));
  return out;
}

cuda_plan make_cuda_plan(std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels, const graph_analysis& analysis) {
  const encoded_graph& g = analysis.graph;
  std::vector<fusion_match> matches;
  for (const auto& p : vendor_kernels) matches.push_back(p->match());
  for (fusion_match& m : stored_type_matches(analysis)) matches.push_back(std::move(m));
  cuda_plan out;
  out.stored_type_steps.resize(matches.size() - vendor_kernels.size());
  out.vendor_kernels = std::move(vendor_kernels);
  static_cast<step_list&>(out) = steps_of(g, limits_of_kernels, matches);
  for (const auto& step : out.steps)
    if (const auto* const s = std::get_if<fused_step>(&step); s != nullptr && out.vendor_kernel_of(*s) == nullptr)
      out.stored_type_steps[s->match - out.vendor_kernels.size()] = stored_type_step(g, matches[s->match], *s);
  return out;
}

result<bool> place_vendor_kernels(cuda_plan& plan, std::uint64_t workspace, const call& c) {
  if (plan.bytes > workspace) return false;
  const std::uint64_t rest = workspace == any_workspace ? workspace : workspace - plan.bytes;
  for (const auto& step : plan.steps) {
    const auto* const s = std::get_if<fused_step>(&step);
    if (s == nullptr || s->match >= plan.vendor_kernels.size()) continue;
    const auto needed = plan.vendor_kernels[s->match]->place(*s, rest, c);
    if (!needed && needed.error().reaction() != reaction::unsupported) return needed.error();
    if (!needed || *needed > rest) return false;
  }
  return true;
}

}  // namespace troupe::dnn
