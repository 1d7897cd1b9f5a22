// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of dnn: graphs are planned once for each structure, and computed in float, or in double where that is
// needed for exactness.
#include <cerrno>
#include <memory>
#include <new>
#include <thread>
#include <troupe/base/cat.hpp>
#include <troupe/base/thread_team.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/host/support.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/host/program.hpp>
#include <troupe/dnn/host/scratch_pool.hpp>
#include <troupe/plan/cache.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::dnn {
namespace {

class host_dnn {
 public:
  static result<std::unique_ptr<host_dnn>> make(const engine_context&) { return std::make_unique<host_dnn>(); }
  const char* version() const noexcept { return openblas_get_config(); }
  std::string notes() const { return cat("plans: ", plans_.count().plans, "\nthreads: ", team_.threads()); }

  result<void> run(const computation& r, call&) try {
    const auto plan = TROUPE_TRY(plan_of("dnn.computation", r.graph.seen()));
    TROUPE_TRY(fits("dnn.computation", *plan, r.workspace));
    const scratch_pool::block scratch = scratch_.take(plan->scratch_bytes());
    plan->run(r.graph.seen(), scratch.data(), team_);
    return {};
  } catch (const std::bad_alloc&) {
    return error::retry_later("dnn", ENOMEM, "dnn.computation: out of memory for what lies between its operations");
  }

  result<std::uint64_t> run(const prepare& r, call&) {
    const auto plan = TROUPE_TRY(plan_of("dnn.prepare", r.graph.seen()));
    TROUPE_TRY(fits("dnn.prepare", *plan, r.workspace));
    return plan->scratch_bytes();
  }
  result<plan::statistics> run(const read_statistics& r, call&) {
    return r.start_anew ? plans_.count_anew() : plans_.count();
  }

 private:
  result<std::shared_ptr<host::program>> plan_of(std::string_view request, const seen_graph& g) {
    if (g.empty()) return error(reaction::fatal, "dnn", cat(request, ": the graph is damaged"));
    const auto key = g.structure();
    return plans_.get({reinterpret_cast<const char*>(key.data()), key.size()}, [&] { return host::program::make(g); });
  }
  static result<void> fits(std::string_view request, const host::program& p, std::uint64_t workspace) {
    if (p.scratch_bytes() <= workspace) return {};
    return error(reaction::unsupported, "dnn",
                 cat(request, ": workspace is ", workspace, "; the host engine needs ", p.scratch_bytes(),
                     " bytes for what lies between the operations of this graph"));
  }

  plan::cache<host::program> plans_{{.most = 1024}};
  scratch_pool scratch_;
  thread_team team_{static_cast<std::size_t>(openblas_get_num_threads())};
};

}  // namespace
}  // namespace troupe::dnn

using namespace troupe::dnn;
TROUPE_ENGINE(host_dnn, "dnn", "host", all_requests)
