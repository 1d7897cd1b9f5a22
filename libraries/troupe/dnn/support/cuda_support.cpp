// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/plan.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/operation_graph.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/dnn/support/node_support.hpp>

namespace troupe::dnn::support {
namespace {

// Returns the types in which cuDNN may compute the node, the best first.
std::vector<dtype> types_with_cudnn(const node_query& query) {
  const graph_analysis analysis = analysis_of(query.graph);
  std::vector<dtype> out;
  for (std::size_t i = 0; i < query.graph.nodes().size(); ++i) {
    if (query.graph.nodes()[i].what != query.what) continue;
    for (const cudnn::operation_graph& graph : cudnn::operation_graphs_of(analysis, i, {})) {
      const dtype t = graph.match.inputs[0].type;
      if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
    }
  }
  return out;
}

// Returns "cuDNN in f64", or "cuDNN as stored or in f32"; "" if cuDNN is not used.
std::string with_cudnn(const node_query& query) {
  const std::vector<dtype> types = types_with_cudnn(query);
  if (types.empty()) return "";
  std::string out = in_type("cuDNN", types[0], query.type);
  for (std::size_t i = 1; i < types.size(); ++i) out += cat(" or in ", to_string(types[i]));
  return out;
}

std::string without_cudnn(const node_query& query) {
  const cuda_plan all = make_cuda_plan({}, analysis_of(query.graph));
  const planned_node planned =
      planned_node::of(all, query, [&](const fused_step& s) { return all.direct_of(s).what == query.what; });
  switch (planned.how) {
    case planned_node::kind::view:
      return "view";
    case planned_node::kind::operator_step:
      return in_type("plain", all.compute_type, query.type);
    case planned_node::kind::fused_step:
      return in_type("direct", all.direct_of(std::get<fused_step>(all.steps[planned.step])).inputs[0].type, query.type);
    default: {
      const auto kernels = generated::source_of(all, aligned_memory_of(query.graph)).of_steps;
      return in_type(kernels[planned.step] == generated::source::none ? "interpreted" : "generated", all.compute_type,
                     query.type);
    }
  }
}

}  // namespace

result<cuda_engine> cuda_engine::make() {
  // The operation graphs are built with cuDNN's functions.
  TROUPE_TRY(cudnn::load());
  return cuda_engine();
}

node_support cuda_engine::ask(const node_query& query) const {
  const std::string vendor = with_cudnn(query), ours = without_cudnn(query);
  return {vendor.empty() ? ours : cat(vendor, ", else ", ours)};
}

}  // namespace troupe::dnn::support
