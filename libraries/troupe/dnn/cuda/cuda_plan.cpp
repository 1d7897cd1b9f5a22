// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/cuda_plan.hpp>
#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/cuda/launches/stored_type.hpp>
#include <troupe/dnn/sets/set_matches.hpp>
#include <troupe/dnn/steps/planner.hpp>
#include <troupe/dnn/steps/precision.hpp>

namespace troupe::dnn {

std::vector<bool> aligned_memory_of(const encoded_graph& g) {
  std::vector<bool> out;
  for (const encoded_memory& m : g.memory()) out.push_back(is_aligned(m, memory_alignment));
  return out;
}

cuda_plan make_cuda_plan(std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels, graph_analysis analysis,
                         bool saves_memory) {
  const encoded_graph& g = analysis.graph;
  std::vector<fusion_match> matches;
  for (const auto& p : vendor_kernels) matches.push_back(p->match());
  const sets::set_limits limits{.operations = kernel_arguments::most_set_operations,
                                .operands = kernel_arguments::most_set_operands,
                                .saves_memory = saves_memory};
  const dtype compute = needs_double(g) ? dtype::f64 : dtype::f32;
  if (!saves_memory)
    for (fusion_match& m : stored_type_matches(analysis)) analysis.add(m), matches.push_back(std::move(m));
  const std::size_t before_sets = matches.size();
  const std::vector<sets::set_match> of_sets = sets::set_matches(analysis, matches, compute, limits);
  matches.insert(matches.end(), of_sets.begin(), of_sets.end());
  cuda_plan out;
  out.stored_type_steps.resize(before_sets - vendor_kernels.size());
  out.set_kernels.resize(of_sets.size());
  out.vendor_kernels = std::move(vendor_kernels);
  static_cast<step_list&>(out) = steps_of(g, limits_of_kernels, matches);
  for (const auto& step : out.steps) {
    const auto* const s = std::get_if<fused_step>(&step);
    if (s == nullptr || out.vendor_kernel_of(*s) != nullptr) continue;
    if (s->match >= before_sets)
      out.set_kernels[s->match - before_sets] = sets::set_kernels_of(g, of_sets[s->match - before_sets], *s);
    else
      out.stored_type_steps[s->match - out.vendor_kernels.size()] = stored_type_step(g, matches[s->match], *s);
  }
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
