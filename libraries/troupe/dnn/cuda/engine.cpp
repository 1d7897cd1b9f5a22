// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of dnn: each step of a graph is a launch of one of our kernels, or a vendor kernel of cuDNN.
#include <chrono>
#include <memory>
#include <optional>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/per_lane.hpp>
#include <troupe/cuda/scratch.hpp>
#include <troupe/dnn/cuda/cuda_plan.hpp>
#include <troupe/dnn/cuda/kernels.hpp>
#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/cuda/launches/stored_type.hpp>
#include <troupe/dnn/cudnn/kernel_maker.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/generated/kernel_compiler.hpp>
#include <troupe/dnn/products/kernel_maker.hpp>
#include <troupe/dnn/sets/lowering.hpp>
#include <troupe/dnn/steps/plan_cache.hpp>
#include <troupe/dnn/steps/planner.hpp>
#include <troupe/dnn/steps/precision.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::dnn {
namespace {

using std::chrono::steady_clock;

struct plan_with_generated_kernels : cuda_plan {
  generated::source generated_source = {};  // which generated kernel computes each step
  generated::generated_kernels generated = {};
  // After a temporary failure of a vendor's library, the graph is planned again up to most_attempts times.
  int attempts = 0;
  steady_clock::time_point next_attempt = steady_clock::time_point::max();
};

// The second attempt follows after 1 minute, the next ones after 2, 4, 8 and 16 more.
constexpr int most_attempts = 6;
steady_clock::time_point next_attempt_after(int attempts) {
  if (attempts == most_attempts) return steady_clock::time_point::max();
  return steady_clock::now() + std::chrono::minutes(1 << (attempts - 1));
}

class cuda_dnn {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cuda_dnn>> make(const engine_context& context) {
    auto kernels = TROUPE_TRY(load_kernels());
    const auto gpu = TROUPE_TRY(cuda::gpu_properties::of(context.device, "dnn"));
    auto lane_workspaces = TROUPE_TRY(cuda::per_lane<cuda::kept_scratch>::make(context.lanes));
    auto cudnn = cudnn::kernel_maker::open(context, gpu);
    auto compiler = generated::kernel_compiler::open(context, gpu);
    return std::unique_ptr<cuda_dnn>(new cuda_dnn(std::move(lane_workspaces), std::move(kernels), gpu.multiprocessors,
                                                  std::move(cudnn), std::move(compiler), context));
  }
  const char* version() const noexcept { return cudnn_ ? (*cudnn_)->version().c_str() : "kernels of Troupe"; }
  std::string notes() const {
    std::string out = cat("plans: ", plans_.count().plans);
    if (!cudnn_) out += cat("\nslow: convolutions, because ", cudnn_.error().text());
    if (const std::string why = products_.why_none(); !why.empty()) out += cat("\nslow: products, because ", why);
    out += compiler_ ? cat("\n", (*compiler_)->notes())
                     : cat("\nslow: functions of elements, because ", compiler_.error().text());
    return out;
  }

  result<void> run(const computation& r, call& c) {
    const encoded_graph& g = r.graph.encoded();
    const auto plan = TROUPE_TRY(find_plan(r, computation::request_name, c));
    std::optional<cuda::scratch> workspace;
    if (plan->bytes != 0) {
      cuda::kept_scratch* const of_lane = TROUPE_TRY(lane_workspaces_.of(c));
      auto made = TROUPE_TRY(of_lane->take(c, "dnn", plan->bytes));
      workspace.emplace(std::move(made));
    }
    const launch_context on{
        built_in_kernels_, g, workspace ? workspace->address() : 0, *plan, static_cast<CUstream>(c.stream),
        most_blocks_};
    const generated_kernels_of_plan generated{plan->generated_source, plan->generated};
    for (std::size_t i = 0; i < plan->steps.size(); ++i) {
      const auto& step = plan->steps[i];
      if (const auto* const fused = std::get_if<fused_step>(&step); fused != nullptr) {
        if (const auto of_sets = plan->set_kernels_of(*fused); !of_sets.empty())
          TROUPE_TRY(enqueue_or_interpret(of_sets, generated, i, on));
        else
          TROUPE_TRY(enqueue_fused_step(*fused, *plan, on, c));
      } else if (const auto* const elements = std::get_if<elementwise_kernel>(&step)) {
        TROUPE_TRY(enqueue_or_interpret(*elements, generated, i, on));
      } else {
        TROUPE_TRY(enqueue(std::get<operator_step>(step), on));
      }
    }
    return {};
  }

  result<std::uint64_t> run(const prepare& r, call& c) {
    const auto plan = TROUPE_TRY(find_plan(r.request, prepare::request_name, c));
    if (!plan->generated.empty()) (*compiler_)->wait_for(plan->generated);
    return plan->bytes;
  }
  result<plan::statistics> run(const read_statistics& r, call&) { return plans_.count(r.start_anew); }

 private:
  using optional_maker = result<std::unique_ptr<cudnn::kernel_maker>>;
  using optional_compiler = result<std::unique_ptr<generated::kernel_compiler>>;
  cuda_dnn(cuda::per_lane<cuda::kept_scratch> lane_workspaces, cuda::kernel_set kernels, int multiprocessors,
           optional_maker cudnn, optional_compiler compiler, const engine_context& context)
      : lane_workspaces_(std::move(lane_workspaces)),
        built_in_kernels_(std::move(kernels)),
        most_blocks_(blocks_of_a_multiprocessor * static_cast<std::int64_t>(multiprocessors)),
        cudnn_(std::move(cudnn)),
        products_(context),
        compiler_(std::move(compiler)) {}

  // A plan is outdated if a vendor's library failed temporarily when it was made, and the time of the next attempt has
  // come.
  result<std::shared_ptr<plan_with_generated_kernels>> find_plan(const computation& r, std::string_view name,
                                                                 const call& c) {
    return plans_.find_or_make(
        r, name,
        [&](const graph_kind& kind, const plan_with_generated_kernels* before) -> result<plan_with_generated_kernels> {
          return make_plan(kind, before == nullptr ? 1 : before->attempts + 1, c);
        },
        [](const plan_with_generated_kernels& p) { return p.next_attempt <= steady_clock::now(); });
  }
  plan_with_generated_kernels make_plan(const graph_kind& kind, int attempts, const call& c) {
    bool is_final = true;
    plan_with_generated_kernels out = with_generated_kernels(plan_that_fits(kind, is_final, c), kind.graph());
    out.attempts = attempts;
    if (!is_final) out.next_attempt = next_attempt_after(attempts);
    return out;
  }
  // Returns the fastest plan that needs no more workspace than allowed; if all need more, the one that needs least.
  cuda_plan plan_that_fits(const graph_kind& kind, bool& is_final, const call& c) {
    const sets::lowered_graph lowered(kind.graph());
    const encoded_graph& g = lowered.graph();
    const computation_options& o = kind.options();
    const dtype compute_type = needs_double(g) ? dtype::f64 : dtype::f32;
    for (const bool with_cudnn : {true, false}) {
      if (with_cudnn && !cudnn_) continue;
      graph_analysis analysis = analysis_of(g);
      std::vector<std::unique_ptr<vendor_kernel>> kernels;
      if (with_cudnn) {
        auto made = (*cudnn_)->make_kernels(analysis, o);
        kernels = std::move(made.vendor_kernels), is_final = made.is_final;
      }
      auto of_products = products_.make_kernels(analysis, o, compute_type, c);
      for (auto& k : of_products.vendor_kernels) kernels.push_back(std::move(k));
      is_final = is_final && of_products.is_final;
      cuda_plan plan = make_cuda_plan(std::move(kernels), std::move(analysis));
      const auto fits = place_vendor_kernels(plan, o.workspace, c);
      if (fits && *fits) return plan;
      is_final = is_final && fits;
    }
    cuda_plan out = make_cuda_plan({}, analysis_of(g));
    if (out.bytes <= o.workspace) return out;
    return make_cuda_plan({}, analysis_of(g), true);
  }
  plan_with_generated_kernels with_generated_kernels(cuda_plan of, const encoded_graph& g) {
    plan_with_generated_kernels p{std::move(of)};
    p.generated_source.of_steps.resize(p.steps.size());
    if (!compiler_) return p;
    p.generated_source =
        generated::source_of(p, [&](const fused_step& s) { return p.set_kernels_of(s); }, aligned_memory_of(g));
    p.generated = (*compiler_)->request_compilation(p.generated_source);
    p.generated_source.text = {};
    for (generated::source::kernel& k : p.generated_source.kernels) k.alone = {};
    return p;
  }

  // Enqueues the generated kernels of a step, or interprets its operations if they are not compiled yet.
  template <class Kernel>
  static result<void> enqueue_or_interpret(const Kernel& k, const generated_kernels_of_plan& generated,
                                           std::size_t step, const launch_context& on) {
    return generated.launches_of(step).empty() ? enqueue(k, on) : enqueue_generated(generated, step, k, on);
  }
  static result<void> enqueue_fused_step(const fused_step& s, const cuda_plan& plan, const launch_context& on,
                                         call& c) {
    const vendor_kernel* const kernel = plan.vendor_kernel_of(s);
    if (kernel == nullptr) return enqueue_stored_type(plan.stored_type_step_of(s), on);
    thread_local std::vector<void*> addresses;  // reused, so that requests do not allocate
    addresses.clear();
    for (const location& l : s.inputs) addresses.push_back(on.at(l));
    for (const location& l : s.outputs) addresses.push_back(on.at(l));
    if (kernel->reads_early()) TROUPE_TRY(enqueue_order_barrier(on));
    return kernel->enqueue(addresses, s.workspace.is_buffer ? on.at(s.workspace) : nullptr, c);
  }

  cuda::per_lane<cuda::kept_scratch> lane_workspaces_;
  cuda::kernel_set built_in_kernels_;
  std::int64_t most_blocks_;
  optional_maker cudnn_;
  products::kernel_maker products_;
  optional_compiler compiler_;
  plan_cache<plan_with_generated_kernels> plans_{"the CUDA engine", memory_alignment};
};

}  // namespace
}  // namespace troupe::dnn

using namespace troupe::dnn;
// `prepare` is slow because it waits for compilers.
TROUPE_ENGINE(cuda_dnn, "dnn", "cuda", troupe::with_slow<all_requests, prepare>)
