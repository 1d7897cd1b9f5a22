// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/host/program.hpp>
#include <troupe/dnn/host/scratch_pool.hpp>
#include <troupe/dnn/support/way.hpp>

namespace troupe::dnn::support {
namespace {

constexpr std::uint64_t any_workspace = ~std::uint64_t{0};

// Whether a part of the program has the node.
bool is_in_parts(const host::program& p, const asked& a) {
  return std::any_of(p.vendor_kernels.begin(), p.vendor_kernels.end(), [&](const auto& part) {
    const auto& nodes = part->what().nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](auto n) { return a.graph.nodes()[n].what == a.what; });
  });
}

// Carries the program out, because what multiplies matrices is decided while it runs.
bool multiplies(const host::program& p, const encoded_graph& g) {
  scratch_pool pool;
  const auto scratch = pool.take(p.bytes);
  thread_team alone(1);
  const std::size_t before = products_so_far();
  (void)host::run(p, g, scratch.data(), alone, {});
  return products_so_far() != before;
}

}  // namespace

result<host_engine> host_engine::make() {
  // What oneDNN has should not depend on this processor. With AVX-512 it has more.
  if (!__builtin_cpu_supports("avx2")) return error(reaction::unsupported, "dnn", "this processor has no AVX2");
  ::setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
  ::setenv("TROUPE_ONEDNN", "always", 1);
  return host_engine(TROUPE_TRY(onednn::vendor::open(1)));
}

way host_engine::ask(const asked& a) const {
  const auto alone = host::plan(a.graph, nullptr, any_workspace);
  if (!alone) return {"refused", alone.error().text()};
  const planned p = planned::of(*alone, a, [](const vendor_step&) { return false; });
  if (p.how == planned::kind::view) return {"view"};
  const char* const ours = p.how == planned::kind::whole && multiplies(*alone, a.graph) ? "OpenBLAS" : "loops";
  const auto all = host::plan(a.graph, vendor_.get(), any_workspace);
  return {in_type(all && is_in_parts(*all, a) ? cat("oneDNN or ", ours) : ours, alone->numbers, a.type)};
}

}  // namespace troupe::dnn::support
