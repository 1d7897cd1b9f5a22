// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <troupe/base/cat.hpp>
#include <troupe/base/die.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/host/host_plan.hpp>
#include <troupe/dnn/host/operations/attention.hpp>
#include <troupe/dnn/host/operations/convolution.hpp>
#include <troupe/dnn/host/operations/elementwise.hpp>
#include <troupe/dnn/host/operations/images.hpp>
#include <troupe/dnn/host/operations/pooling.hpp>
#include <troupe/dnn/host/operations/sequences.hpp>
#include <troupe/dnn/host/operations/sets.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>

namespace troupe::dnn::host {
namespace {

result<void> compute_by_vendor(const fused_step& s, const vendor_kernel& kernel, const execution_context& w,
                               const call& c) {
  std::vector<void*> addresses;
  addresses.reserve(s.inputs.size() + s.outputs.size());
  for (const location& l : s.inputs) addresses.push_back(w.at(l));
  for (const location& l : s.outputs) addresses.push_back(w.at(l));
  return kernel.enqueue(addresses, s.workspace.is_buffer ? w.at(s.workspace) : nullptr, c);
}

template <class N>
void compute(const operator_step& s, const execution_context& w) {
  const node_attributes& f = s.attributes;
  const auto& in = s.inputs;
  const location& to = s.outputs[0];
  switch (s.what) {
    case op::convolution:
      return convolve<N>(w, f.as<convolution_attributes>(), in[0], in[1], to);
    case op::convolution_data_gradient:
      return convolution_data_gradient<N>(w, f.as<convolution_attributes>(), in[0], in[1], to);
    case op::convolution_weight_gradient:
      return convolution_weight_gradient<N>(w, f.as<convolution_attributes>(), in[0], in[1], to);
    case op::product:
      return multiply_matrices<N>(w, in[0], in[1], to);
    case op::reduction:
      return reduce<N>(w, f.as<reduction_attributes>(), in[0], to);
    case op::normalization:
      return normalize<N>(w, s);
    case op::normalization_gradient:
      return normalization_gradient<N>(w, s);
    case op::pooling:
      return pool<N>(w, f.as<pooling_attributes>(), in[0], to);
    case op::pooling_gradient:
      return pool_gradient<N>(w, f.as<pooling_attributes>(), in[0], in.size() > 1 ? &in[1] : nullptr, to);
    case op::softmax:
      return softmax<N>(w, f.as<softmax_attributes>(), in[0], to);
    case op::attention:
      return attend<N>(w, s);
    case op::attention_gradient:
      return attention_gradient<N>(w, s);
    case op::local_response_norm:
      return normalize_responses<N>(w, f.as<local_response_norm_attributes>(), in[0], to);
    case op::local_response_norm_gradient:
      return response_gradient<N>(w, f.as<local_response_norm_attributes>(), in[0], in[1], to);
    case op::resampling:
      return resample<N>(w, f.as<resampling_attributes>(), in[0], to);
    case op::resampling_gradient:
      return resampling_gradient<N>(w, f.as<resampling_attributes>(), in[0], to);
    case op::pooling_with_indexes:
      return pool_with_indexes<N>(w, f.as<pooling_attributes>(), in[0], to, s.outputs[1]);
    case op::pooling_index_gradient:
      return pool_index_gradient<N>(w, f.as<pooling_attributes>(), in[0], in[1], to);
    case op::block_quantization:
      return quantize_blocks<N>(w, f.as<block_attributes>(), in[0], to, s.outputs[1]);
    case op::block_dequantization:
      return dequantize_blocks<N>(w, f.as<block_attributes>(), in[0], in[1], to);
    case op::recurrence:
      return recur<N>(w, s);
    case op::recurrence_gradient:
      return recurrence_gradient<N>(w, s);
    case op::ctc_loss:
      return ctc_loss<N>(w, s);
    case op::ctc_loss_gradient:
      return ctc_loss_gradient<N>(w, s);
    case op::softmax_gradient:
      return softmax_gradient<N>(w, f.as<softmax_attributes>(), in[0], in[1], to);
    case op::none:
    case op::write:
    case op::convert:
    case op::pointwise:
    case op::reshape:
    case op::transposition:
    case op::concatenation:
    case op::slice:
    case op::random:
      break;
  }
  die("dnn: a plan has an operator step for %s, which is elementwise or a view",
      std::string(to_string(s.what)).c_str());
}

}  // namespace

result<host_plan> make_host_plan(const encoded_graph& g, onednn::vendor* vendor, std::uint64_t workspace) {
  for (const encoded_tensor& t : g.tensors())
    for (std::size_t i = 0; i < t.shape.rank; ++i)
      if (t.shape.extents[i] > std::numeric_limits<std::int32_t>::max())
        return error(
            reaction::unsupported, "dnn",
            cat("dnn: an extent is ", t.shape.extents[i],
                "; OpenBLAS counts in 32 bits, so the host engine takes at most 2147483647: split the tensor"));
  if (vendor != nullptr) {
    host_plan out;
    out.vendor_kernels = vendor->find(g, workspace);
    std::vector<fusion_match> matches;
    for (const auto& kernel : out.vendor_kernels) matches.push_back(kernel->match());
    static_cast<step_list&>(out) = steps_of(g, {}, matches);
    // A plan that needs too much workspace with oneDNN may fit without it.
    if (out.bytes <= workspace) return out;
  }
  return host_plan{steps_of(g), {}};
}

result<void> run(const host_plan& all, const encoded_graph& g, std::byte* workspace, thread_team& team, const call& c) {
  const execution_context w{g, workspace, all.buffers, team};
  const bool is_float = all.compute_type == dtype::f32;
  for (const auto& step : all.steps) {
    if (const auto* vendor = std::get_if<fused_step>(&step))
      TROUPE_TRY(compute_by_vendor(*vendor, *all.vendor_kernels[vendor->which], w, c));
    else if (const auto* elements = std::get_if<elementwise_kernel>(&step))
      is_float ? run<float>(*elements, w) : run<double>(*elements, w);
    else
      is_float ? compute<float>(std::get<operator_step>(step), w) : compute<double>(std::get<operator_step>(step), w);
  }
  return {};
}

}  // namespace troupe::dnn::host
