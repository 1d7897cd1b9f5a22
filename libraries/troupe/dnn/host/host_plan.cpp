// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <troupe/base/linux/die.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/host/host_plan.hpp>
#include <troupe/dnn/host/operations/compute_functions.hpp>
#include <troupe/dnn/host/operations/elementwise.hpp>
#include <troupe/dnn/steps/planner.hpp>

namespace troupe::dnn::host {
namespace {

result<void> compute_fused_step(const fused_step& s, const vendor_kernel& kernel, const execution_context& on,
                                call& c) {
  std::vector<void*> addresses;
  addresses.reserve(s.inputs.size() + s.outputs.size());
  for (const location& l : s.inputs) addresses.push_back(on.at(l));
  for (const location& l : s.outputs) addresses.push_back(on.at(l));
  return kernel.enqueue(addresses, s.workspace.is_buffer ? on.at(s.workspace) : nullptr, c);
}

template <class N>
void compute(const operator_step& s, const execution_context& on) {
  const auto compute_operation = compute_functions<N>[index_of(s.what)];
  if (compute_operation == nullptr)
    die("dnn: a plan has an operator step for %s, which is elementwise or a view",
        std::string(to_string(s.what)).c_str());
  compute_operation(on, s);
}

}  // namespace

result<host_plan> make_host_plan(const encoded_graph& g, onednn::kernel_maker* onednn, std::uint64_t workspace) {
  for (const encoded_tensor& t : g.tensors())
    for (std::size_t i = 0; i < t.shape.rank; ++i)
      if (t.shape.extents[i] > std::numeric_limits<std::int32_t>::max())
        return error(
            reaction::unsupported, "dnn",
            cat("dnn: an extent is ", t.shape.extents[i],
                "; OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the tensor"));
  if (onednn != nullptr) {
    host_plan out;
    out.vendor_kernels = onednn->make_kernels(g, workspace);
    std::vector<fusion_match> matches;
    for (const auto& kernel : out.vendor_kernels) matches.push_back(kernel->match());
    static_cast<step_list&>(out) = steps_of(g, {}, matches);
    // A plan that needs too much workspace with oneDNN may fit without it.
    if (out.bytes <= workspace) return out;
  }
  return host_plan{steps_of(g), {}};
}

result<void> run(const host_plan& plan, const encoded_graph& g, std::byte* workspace, thread_team& team, call& c) {
  const execution_context on{g, workspace, plan.buffers, team};
  const bool is_float = plan.compute_type == dtype::f32;
  for (const auto& step : plan.steps) {
    if (const auto* fused = std::get_if<fused_step>(&step))
      TROUPE_TRY(compute_fused_step(*fused, *plan.vendor_kernels[fused->match], on, c));
    else if (const auto* elements = std::get_if<elementwise_kernel>(&step))
      is_float ? compute_elements<float>(*elements, on) : compute_elements<double>(*elements, on);
    else
      is_float ? compute<float>(std::get<operator_step>(step), on) : compute<double>(std::get<operator_step>(step), on);
  }
  return {};
}

}  // namespace troupe::dnn::host
