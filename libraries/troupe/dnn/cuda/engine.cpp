// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of dnn: each step of a graph is a launch of one of our kernels, or a part that cuDNN computes.
#include <memory>
#include <optional>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/scratch.hpp>
#include <troupe/dnn/cuda/kernels.hpp>
#include <troupe/dnn/cuda/launches.hpp>
#include <troupe/dnn/cudnn/vendor.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/steps/step_plans.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::dnn {
namespace {

// The steps of a graph, and those that cuDNN computes.
struct cuda_plan : step_list {
  std::vector<std::unique_ptr<part>> parts;
};

class cuda_dnn {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cuda_dnn>> make(const engine_context& context) {
    auto kernels = TROUPE_TRY(load_kernels());
    int multiprocessors = 0;
    TROUPE_TRY(cuda::done_on(nullptr, "dnn", "cuDeviceGetAttribute",
                             ::cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                                    static_cast<CUdevice>(context.device))));
    auto vendor = cudnn::vendor::open(context);
    return std::unique_ptr<cuda_dnn>(new cuda_dnn(std::move(kernels), multiprocessors, std::move(vendor)));
  }
  const char* version() const noexcept { return vendor_ ? (*vendor_)->version().c_str() : "kernels of Troupe"; }
  std::string notes() const {
    std::string out = cat("plans: ", plans_.count().plans);
    if (!vendor_) out += cat("\nslow: convolutions, because ", vendor_.error().text());
    return out;
  }

  result<void> run(const computation& r, call& c) {
    const seen_graph& g = r.graph.seen();
    const auto all = TROUPE_TRY(plan_of(r));
    std::optional<cuda::scratch> scratch;
    if (all->bytes != 0) {
      auto made = TROUPE_TRY(cuda::scratch::make(c, "dnn", all->bytes));
      scratch.emplace(std::move(made));
    }
    const launch_site w{kernels_,    g, scratch ? scratch->address() : 0, *all, static_cast<CUstream>(c.stream),
                        most_blocks_};
    for (const auto& step : all->steps) {
      if (const auto* claimed = std::get_if<claimed_step>(&step))
        TROUPE_TRY(enqueue_part(*claimed, *all, w, c));
      else if (const auto* elements = std::get_if<pass>(&step))
        TROUPE_TRY(enqueue(*elements, w));
      else
        TROUPE_TRY(enqueue(std::get<whole_step>(step), w));
    }
    return {};
  }

  result<std::uint64_t> run(const prepare& r, call&) { return TROUPE_TRY(plan_of(r))->bytes; }
  result<plan::statistics> run(const read_statistics& r, call&) { return plans_.count(r.start_anew); }

 private:
  using optional_vendor = result<std::unique_ptr<cudnn::vendor>>;
  cuda_dnn(cuda::kernel_set kernels, int multiprocessors, optional_vendor vendor)
      : kernels_(std::move(kernels)),
        most_blocks_(blocks_of_a_multiprocessor * static_cast<std::int64_t>(multiprocessors)),
        vendor_(std::move(vendor)) {}

  template <class Request>
  result<std::shared_ptr<cuda_plan>> plan_of(const Request& r) {
    const seen_graph& g = r.graph.seen();
    if (!vendor_) return plans_.find(r, [&]() -> result<cuda_plan> { return plan_without_vendor(g); });
    const cudnn::wishes how{.exact = r.precision == precision::exact,
                            .repeatable = r.repeatability == repeatability::always,
                            .measured = r.choice == choice::measured,
                            .workspace = r.workspace};
    std::string more(reinterpret_cast<const char*>(&r.workspace), sizeof r.workspace);
    for (const bool b : {how.exact, how.repeatable, how.measured}) more += b ? '1' : '0';
    for (const seen_memory& m : g.memory()) more += is_aligned(m) ? '1' : '0';
    return plans_.find(r, [&]() -> result<cuda_plan> { return plan_with_vendor(g, how); }, more);
  }
  static bool is_aligned(const seen_memory& m) noexcept { return m.address % 16 == 0; }
  static cuda_plan plan_without_vendor(const seen_graph& g) { return {steps_of(g, limits_of_kernels), {}}; }
  cuda_plan plan_with_vendor(const seen_graph& g, const cudnn::wishes& how) {
    std::vector<bool> aligned;
    for (const seen_memory& m : g.memory()) aligned.push_back(is_aligned(m));
    cuda_plan out;
    out.parts = (*vendor_)->find(g, aligned, how);
    std::vector<claim> claims;
    for (const auto& p : out.parts) claims.push_back(p->what());
    static_cast<step_list&>(out) = steps_of(g, limits_of_kernels, claims);
    // What fits not with cuDNN may fit without.
    return out.bytes > how.workspace ? plan_without_vendor(g) : std::move(out);
  }

  result<void> enqueue_part(const claimed_step& s, const cuda_plan& all, const launch_site& w, const call& c) {
    std::vector<void*> addresses;
    addresses.reserve(s.inputs.size() + s.outputs.size());
    for (const location& l : s.inputs) addresses.push_back(w.at(l));
    for (const location& l : s.outputs) addresses.push_back(w.at(l));
    return all.parts[s.which]->enqueue(addresses, s.room.is_buffer ? w.at(s.room) : nullptr, c);
  }

  cuda::kernel_set kernels_;
  std::int64_t most_blocks_;
  optional_vendor vendor_;
  step_plans<cuda_plan> plans_{"the CUDA engine"};
};

}  // namespace
}  // namespace troupe::dnn

using namespace troupe::dnn;
TROUPE_ENGINE(cuda_dnn, "dnn", "cuda", all_requests)
