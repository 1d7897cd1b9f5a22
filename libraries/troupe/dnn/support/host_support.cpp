// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/host/host_plan.hpp>
#include <troupe/dnn/host/scratch_pool.hpp>
#include <troupe/dnn/support/node_support.hpp>

namespace troupe::dnn::support {
namespace {

constexpr std::uint64_t any_workspace = ~std::uint64_t{0};

// Returns true if a vendor kernel of the plan computes the node.
bool has_vendor_kernel(const host::host_plan& p, const node_query& query) {
  return std::any_of(p.vendor_kernels.begin(), p.vendor_kernels.end(), [&](const auto& kernel) {
    const auto& nodes = kernel->match().nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](auto n) { return query.graph.nodes()[n].what == query.what; });
  });
}

// Returns true if the plan multiplies matrices. Runs it, because its functions decide that while they run.
bool multiplies(const host::host_plan& p, const encoded_graph& g) {
  scratch_pool pool;
  const auto scratch = pool.take(p.bytes);
  thread_team team(1);
  const std::size_t before = products_so_far();
  (void)host::run(p, g, scratch.data(), team, {});
  return products_so_far() != before;
}

}  // namespace

result<host_engine> host_engine::make() {
  // Limit oneDNN to AVX2, so that the table does not depend on this processor: with AVX-512 it has more.
  if (!__builtin_cpu_supports("avx2")) return error(reaction::unsupported, "dnn", "this processor has no AVX2");
  ::setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
  ::setenv("TROUPE_ONEDNN", "always", 1);
  return host_engine(TROUPE_TRY(onednn::vendor::open(1)));
}

node_support host_engine::ask(const node_query& query) const {
  const auto own = host::make_host_plan(query.graph, nullptr, any_workspace);
  if (!own) return {"refused", own.error().text()};
  const planned_node planned = planned_node::of(*own, query, [](const fused_step&) { return false; });
  if (planned.how == planned_node::kind::view) return {"view"};
  const char* const ours =
      planned.how == planned_node::kind::operator_step && multiplies(*own, query.graph) ? "OpenBLAS" : "loops";
  const auto all = host::make_host_plan(query.graph, vendor_.get(), any_workspace);
  return {
      in_type(all && has_vendor_kernel(*all, query) ? cat("oneDNN or ", ours) : ours, own->compute_type, query.type)};
}

}  // namespace troupe::dnn::support
