// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of dnn: each step of a graph is a launch of one of our kernels.
#include <memory>
#include <optional>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/scratch.hpp>
#include <troupe/dnn/cuda/kernels.hpp>
#include <troupe/dnn/cuda/launches.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/steps/step_plans.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::dnn {
namespace {

class cuda_dnn {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<cuda_dnn>> make(const engine_context& context) {
    auto kernels = TROUPE_TRY(load_kernels());
    int multiprocessors = 0;
    TROUPE_TRY(cuda::done_on(nullptr, "dnn", "cuDeviceGetAttribute",
                             ::cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                                    static_cast<CUdevice>(context.device))));
    return std::unique_ptr<cuda_dnn>(new cuda_dnn(std::move(kernels), multiprocessors));
  }
  std::string notes() const {
    return cat("plans: ", plans_.count().plans,
               "\nslow: convolutions and products, which plain kernels compute without tensor cores");
  }

  result<void> run(const computation& r, call& c) {
    const seen_graph& g = r.graph.seen();
    const auto all = TROUPE_TRY(steps_of_graph("dnn.computation", g, r.workspace));
    std::optional<cuda::scratch> scratch;
    if (all->bytes != 0) {
      auto made = TROUPE_TRY(cuda::scratch::make(c, "dnn", all->bytes));
      scratch.emplace(std::move(made));
    }
    const launch_site w{kernels_,    g, scratch ? scratch->address() : 0, *all, static_cast<CUstream>(c.stream),
                        most_blocks_};
    for (const auto& step : all->steps) TROUPE_TRY(std::visit([&](const auto& s) { return enqueue(s, w); }, step));
    return {};
  }

  result<std::uint64_t> run(const prepare& r, call&) {
    return TROUPE_TRY(steps_of_graph("dnn.prepare", r.graph.seen(), r.workspace))->bytes;
  }
  result<plan::statistics> run(const read_statistics& r, call&) { return plans_.count(r.start_anew); }

 private:
  cuda_dnn(cuda::kernel_set kernels, int multiprocessors)
      : kernels_(std::move(kernels)),
        most_blocks_(blocks_of_a_multiprocessor * static_cast<std::int64_t>(multiprocessors)) {}

  result<std::shared_ptr<step_list>> steps_of_graph(std::string_view request, const seen_graph& g,
                                                    std::uint64_t workspace) {
    return plans_.find(request, g, workspace, [&]() -> result<step_list> { return steps_of(g, limits_of_kernels); });
  }

  cuda::kernel_set kernels_;
  std::int64_t most_blocks_;
  step_plans plans_{"the CUDA engine"};
};

}  // namespace
}  // namespace troupe::dnn

using namespace troupe::dnn;
TROUPE_ENGINE(cuda_dnn, "dnn", "cuda", all_requests)
