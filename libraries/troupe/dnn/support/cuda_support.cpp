// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/plan.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/sketch.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/dnn/support/way.hpp>

namespace troupe::dnn::support {
namespace {

// The types in which cuDNN is asked for the node, the best first.
std::vector<dtype> types_with_cudnn(const asked& a) {
  const def_use l(a.graph);
  const read_set read(a.graph);
  const std::vector<bool> aligned = aligned_memory_of(a.graph), matched(a.graph.nodes().size());
  const model m{a.graph, l, aligned, read, matched};
  std::vector<dtype> out;
  for (std::size_t i = 0; i < a.graph.nodes().size(); ++i) {
    if (a.graph.nodes()[i].what != a.what) continue;
    for (const cudnn::sketch& s : cudnn::sketches_of(m, i, {})) {
      const dtype t = s.what.inputs[0].type;
      if (std::find(out.begin(), out.end(), t) == out.end()) out.push_back(t);
    }
  }
  return out;
}

// "cuDNN in f64", or "cuDNN as stored or in f32"; nothing if it is not asked.
std::string with_cudnn(const asked& a) {
  const std::vector<dtype> types = types_with_cudnn(a);
  if (types.empty()) return "";
  std::string out = in_type("cuDNN", types[0], a.type);
  for (std::size_t i = 1; i < types.size(); ++i) out += cat(" or in ", to_string(types[i]));
  return out;
}

std::string without_cudnn(const asked& a) {
  const cuda_plan all = completed({}, a.graph);
  const planned p = planned::of(all, a, [&](const vendor_step& s) { return all.direct_of(s).what == a.what; });
  switch (p.how) {
    case planned::kind::view:
      return "view";
    case planned::kind::whole:
      return in_type("plain", all.numbers, a.type);
    case planned::kind::matched:
      return in_type("direct", all.direct_of(std::get<vendor_step>(all.steps[p.step])).inputs[0].type, a.type);
    default: {
      const auto kernels = generated::source_of(all, aligned_memory_of(a.graph)).of_steps;
      return in_type(kernels[p.step] == generated::source::none ? "interpreted" : "generated", all.numbers, a.type);
    }
  }
}

}  // namespace

result<cuda_engine> cuda_engine::make() {
  // Its functions draw what it is asked for.
  TROUPE_TRY(cudnn::load());
  return cuda_engine();
}

way cuda_engine::ask(const asked& a) const {
  const std::string vendor = with_cudnn(a), ours = without_cudnn(a);
  return {vendor.empty() ? ours : cat(vendor, ", else ", ours)};
}

}  // namespace troupe::dnn::support
