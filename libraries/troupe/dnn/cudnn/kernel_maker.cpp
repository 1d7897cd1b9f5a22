// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <algorithm>
#include <mutex>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/default_stream.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/dnn/cudnn/candidate.hpp>
#include <troupe/dnn/cudnn/cudnn_kernel.hpp>
#include <troupe/dnn/cudnn/engines.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/handle.hpp>
#include <troupe/dnn/cudnn/kernel_maker.hpp>
#include <troupe/dnn/cudnn/status.hpp>
#include <troupe/dnn/cudnn/trial/plan_trial.hpp>
#include <troupe/plan/kept_choices.hpp>

namespace troupe::dnn::cudnn {
namespace {

std::string version_text() {
  const std::size_t v = calls().version();
  return cat(v / 10000, ".", v / 100 % 100, ".", v % 100);
}

class cudnn_kernel_maker final : public kernel_maker {
 public:
  cudnn_kernel_maker(handle planning, cuda::stream stream, const engine_context& context, std::string gpu,
                     std::uint64_t most_workspace)
      : planning_(std::move(planning)),
        stream_(std::move(stream)),
        gpu_(std::move(gpu)),
        most_workspace_(most_workspace),
        remarks_([context](const std::string& text) { remark(context, "dnn: " + text); }),
        handles_(context.lanes) {
    version_ = "cuDNN " + version_text();
  }
  const std::string& version() const noexcept override { return version_; }

  made_kernels make_kernels(graph_analysis& g, const computation_options& requested) override {
    const std::scoped_lock guard(lock_);
    computation_options options = requested;
    options.workspace = std::min(options.workspace, most_workspace_);
    is_final_ = true;
    made_kernels out;
    for (std::size_t i = 0; i < g.graph.nodes().size(); ++i) {
      auto kernel = g.matched[i] ? nullptr : make_kernel(g, i, options);
      if (kernel == nullptr) continue;
      g.add(kernel->match());
      out.vendor_kernels.push_back(std::move(kernel));
    }
    out.is_final = is_final_;
    return out;
  }

 private:
  std::unique_ptr<vendor_kernel> make_kernel(const graph_analysis& analysis, std::size_t node,
                                             const computation_options& options) {
    for (candidate& c : candidates_of(analysis, node, options)) {
      variant_pack pack(c);
      if (pack.size() > variant_pack::most) continue;
      if (auto plan = find_plan(analysis, c, pack, options))
        return std::make_unique<cudnn_kernel>(std::move(c), std::move(pack), std::move(*plan), handles_);
    }
    return nullptr;
  }

  // Returns the plan that an earlier process stored, or a new one; nullopt if cuDNN has no plan.
  std::optional<cudnn_plan> find_plan(const graph_analysis& analysis, candidate& c, const variant_pack& pack,
                                      const computation_options& options) {
    const std::string key = key_on_disk(c, options);
    if (const auto stored = kept_.find(key)) {
      if (stored->empty()) {
        remarks_.once(cat("slow: cuDNN has no engine for a part of a graph, according to ", kept_.disk().folder(),
                          "; it is asked again ", kept_.provisional_days, " days after the first attempt"));
        return std::nullopt;
      }
      if (auto plan = cudnn_plan::from(planning_.get(), *stored)) {
        c.match.workspace = pack.workspace_of(*plan);
        if (gives_right_results(analysis, c, pack, *plan)) return plan;
      } else {
        kept_.report_unusable("cuDNN does not accept it");
      }
    }
    auto made = new_plan(analysis, c, pack, options);
    if (made) {
      const std::string text = made->text();
      if (!text.empty() && made->is_provisional)
        kept_.keep_provisionally(key, text);
      else if (!text.empty())
        kept_.keep(key, text);
      return std::move(*made);
    }
    if (made.error().reaction() == reaction::unsupported) {
      kept_.keep_provisionally(key, "");  // "" means that cuDNN has no plan
    } else {
      is_final_ = false;
      remarks_.once(cat("slow: our kernels compute a part of a graph instead of cuDNN, because ", made.error().text()));
    }
    return std::nullopt;
  }

  // Returns true if a plan that an earlier process tried and stored computes right results here, too, or cannot be
  // tried again for want of memory.
  bool gives_right_results(const graph_analysis& analysis, const candidate& c, const variant_pack& pack,
                           const cudnn_plan& plan) {
    if (const auto ready = cuda::await_default_stream("dnn"); !ready) {
      remarks_.once(ready.error().text());
      return false;
    }
    plan_trial t(analysis.graph, analysis.uses, stream_.get(), c.trial_unit, plan_trial::effort::few);
    const auto tried = t.run(c.match, false, [&](std::span<void* const> addresses, void* workspace) {
      return pack.enqueue(plan, planning_.get(), addresses, workspace);
    });
    if (!tried || tried->why_not.empty()) return true;
    kept_.report_unusable(tried->why_not);
    return false;
  }

  // Makes a plan. Fails with reaction::unsupported if cuDNN has no plan that computes right results, and will have none
  // later.
  result<cudnn_plan> new_plan(const graph_analysis& analysis, candidate& c, const variant_pack& pack,
                              const computation_options& options) {
    const auto graph = TROUPE_TRY(c.graph.make_descriptor(planning_.get()));
    plan_trial t(analysis.graph, analysis.uses, stream_.get(), c.trial_unit);
    const auto try_plan = [&](const cudnn_plan& plan) -> result<trial_result> {
      c.match.workspace = pack.workspace_of(plan);
      return t.run(c.match, options.choice == choice::measured, [&](std::span<void* const> addresses, void* workspace) {
        return pack.enqueue(plan, planning_.get(), addresses, workspace);
      });
    };
    auto plan = choose_engine(planning_.get(), graph,
                              {.workspace = options.workspace,
                               .deterministic = options.repeatability == repeatability::always,
                               .exact = c.exact_f32 && options.precision == precision::exact,
                               .excluded_engines = c.excluded_engines,
                               .measured = options.choice == choice::measured,
                               .try_plan = try_plan});
    if (plan) c.match.workspace = pack.workspace_of(*plan);
    return plan;
  }

  std::string key_on_disk(const candidate& c, const computation_options& options) const {
    constexpr int format = 5;
    return cat("dnn.cudnn", format, version_, gpu_, c.graph.description(), to_string(options.precision),
               to_string(options.repeatability), to_string(options.choice), options.workspace);
  }

  std::mutex lock_;  // guards the handle for planning, and its stream
  handle planning_;
  cuda::stream stream_;
  const std::string gpu_;
  const std::uint64_t most_workspace_;
  bool is_final_ = true;  // made_kernels::is_final of the current call
  plan::remarks remarks_;
  plan::kept_choices kept_{remarks_, {}};  // plans as text; "" if cuDNN has no plan
  lane_handles handles_;
  std::string version_;
};

}  // namespace

result<std::unique_ptr<kernel_maker>> kernel_maker::open(const engine_context& context,
                                                         const cuda::gpu_properties& gpu) {
  TROUPE_TRY(load());
  // Older versions compute wrong results, or end the process, for some small images.
  constexpr std::size_t oldest = 91900;
  if (calls().version() < oldest)
    return error(reaction::unsupported, "dnn",
                 cat("cuDNN is not used: version ", version_text(), " computes wrong results; install 9.19 or later"));
  auto planning = TROUPE_TRY(make_handle());
  CUstream made = nullptr;
  TROUPE_TRY(cuda::done_on(nullptr, "dnn", "cuStreamCreate", ::cuStreamCreate(&made, CU_STREAM_NON_BLOCKING)));
  cuda::stream stream(made);
  if (const cudnnStatus_t s = calls().set_stream(planning.get(), made); s != CUDNN_STATUS_SUCCESS)
    return failed("cudnnSetStream", s);
  std::size_t free = 0, all = 0;
  TROUPE_TRY(cuda::done_on(nullptr, "dnn", "cuMemGetInfo", ::cuMemGetInfo(&free, &all)));
  return std::unique_ptr<kernel_maker>(
      std::make_unique<cudnn_kernel_maker>(std::move(planning), std::move(stream), context, gpu.name, all / 8));
}

}  // namespace troupe::dnn::cudnn
