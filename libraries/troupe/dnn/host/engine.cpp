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
#include <troupe/dnn/steps/step_plans.hpp>
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
    const auto all = TROUPE_TRY(plan_of(r));
    const scratch_pool::block scratch = scratch_.take(all->bytes);
    host::run(*all, r.graph.seen(), scratch.data(), team_);
    return {};
  } catch (const std::bad_alloc&) {
    return error::retry_later("dnn", ENOMEM, "dnn.computation: out of memory for what lies between its operations");
  }

  result<std::uint64_t> run(const prepare& r, call&) { return TROUPE_TRY(plan_of(r))->bytes; }
  result<plan::statistics> run(const read_statistics& r, call&) { return plans_.count(r.start_anew); }

 private:
  template <class Request>
  result<std::shared_ptr<step_list>> plan_of(const Request& r) {
    return plans_.find(r, [&] { return host::plan(r.graph.seen()); });
  }

  step_plans<> plans_{"the host engine"};
  scratch_pool scratch_;
  thread_team team_{static_cast<std::size_t>(openblas_get_num_threads())};
};

}  // namespace
}  // namespace troupe::dnn

using namespace troupe::dnn;
TROUPE_ENGINE(host_dnn, "dnn", "host", all_requests)
