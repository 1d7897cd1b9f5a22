// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of dnn. It plans each structure of a graph once. It computes a graph in float, or in double if the
// graph has f64, or integers that float cannot represent.
#include <cerrno>
#include <memory>
#include <new>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/threads/thread_team.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/host/openblas_admission.hpp>
#include <troupe/blas/host/support.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/host/host_plan.hpp>
#include <troupe/dnn/host/workspace_pool.hpp>
#include <troupe/dnn/steps/plan_cache.hpp>
#include <troupe/worker/engine.hpp>
#include <troupe/worker/plugins/openblas_kernels.hpp>

namespace troupe::dnn {
namespace {

class host_dnn {
 public:
  static result<std::unique_ptr<host_dnn>> make(const engine_context& context) {
    return std::make_unique<host_dnn>(TROUPE_TRY(blas::openblas_admission::make("dnn", context.lanes)));
  }
  explicit host_dnn(blas::openblas_admission admission) : admission_(std::move(admission)) {}
  const char* version() const noexcept { return version_.c_str(); }
  std::string notes() const {
    std::string out = cat("plans: ", plans_.count().plans, "\n", admission_.threads_text());
    if (!onednn_) out += cat("\nslow: convolutions, because ", onednn_.error().text());
    return out;
  }

  result<void> run(const computation& r, call& c) try {
    const auto plan = TROUPE_TRY(find_plan(r, computation::request_name));
    const workspace_pool::block workspace = workspaces_.take(plan->bytes);
    const auto turn = admission_.enter();
    return host::run(*plan, r.graph.encoded(), workspace.data(), team_, c);
  } catch (const std::bad_alloc&) {
    return error::retry_later("dnn", ENOMEM, "dnn.computation: out of host memory for the workspace");
  }

  result<std::uint64_t> run(const prepare& r, call&) {
    return TROUPE_TRY(find_plan(r.request, prepare::request_name))->bytes;
  }
  result<plan::statistics> run(const read_statistics& r, call&) { return plans_.count(r.start_anew); }

 private:
  result<std::shared_ptr<host::host_plan>> find_plan(const computation& r, std::string_view name) {
    onednn::kernel_maker* const onednn = onednn_ ? onednn_->get() : nullptr;
    return plans_.find_or_make(r, name, [&](const graph_kind& kind) {
      return host::make_host_plan(kind.graph(), onednn, kind.options().workspace);
    });
  }

  const blas::openblas_admission admission_;
  workspace_pool workspaces_;
  thread_team team_{static_cast<std::size_t>(openblas_get_num_threads())};
  const result<std::unique_ptr<onednn::kernel_maker>> onednn_ = onednn::kernel_maker::open(team_.threads());
  const std::string version_ =
      onednn_ ? cat(openblas_get_config(), "; ", (*onednn_)->version()) : openblas_get_config();
  plan_cache<host::host_plan> plans_{"the host engine"};
};

}  // namespace
}  // namespace troupe::dnn

using namespace troupe::dnn;
TROUPE_ENGINE(host_dnn, "dnn", "host", all_requests)
