// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <algorithm>
#include <mutex>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/default_stream.hpp>
#include <troupe/cuda/gpu_identity.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/handle.hpp>
#include <troupe/dnn/cudnn/proof.hpp>
#include <troupe/dnn/cudnn/sketch.hpp>
#include <troupe/dnn/cudnn/status.hpp>
#include <troupe/dnn/cudnn/stored_plans.hpp>
#include <troupe/dnn/cudnn/variant_pack.hpp>
#include <troupe/dnn/cudnn/vendor.hpp>
#include <troupe/plan/remarks.hpp>

namespace troupe::dnn::cudnn {
namespace {

std::string version_text() {
  const std::size_t v = calls().version();
  return cat(v / 10000, ".", v / 100 % 100, ".", v % 100);
}

class cudnn_vendor;

// A part that is enqueued with the handle of the call's lane.
class cudnn_kernel_on_lanes final : public cudnn_kernel {
 public:
  cudnn_kernel_on_lanes(sketch s, variant_pack pack, execution_plan plan, cudnn_vendor& of, std::size_t lanes)
      : cudnn_kernel(std::move(s.what), std::move(pack), std::move(plan)),
        reads_early_(what().inputs.size() > s.factors && this->plan().reads_early()),
        of_(of),
        packs_(lanes) {}
  bool reads_early() const noexcept override { return reads_early_; }
  result<void> enqueue(std::span<void* const> addresses, void* workspace, const call& c) const override;

 private:
  const bool reads_early_;
  cudnn_vendor& of_;
  mutable std::vector<recent_packs> packs_;  // of each lane
};

class cudnn_vendor final : public vendor {
 public:
  cudnn_vendor(handle planning, cuda::stream stream, const engine_context& context, std::string gpu,
               std::uint64_t most_workspace)
      : planning_(std::move(planning)),
        stream_(std::move(stream)),
        gpu_(std::move(gpu)),
        most_workspace_(most_workspace),
        remarks_([context](const std::string& text) { remark(context, "dnn: " + text); }),
        lanes_(context.lanes) {
    version_ = "cuDNN " + version_text();
  }
  const std::string& version() const noexcept override { return version_; }

  found find(const encoded_graph& g, const std::vector<bool>& aligned, const wishes& wanted) override {
    const std::scoped_lock guard(lock_);
    wishes w = wanted;
    w.workspace = std::min(w.workspace, most_workspace_);
    is_final_ = true;
    const def_use l(g);
    const read_set read(g);
    std::vector<bool> matched(g.nodes().size());
    found out;
    for (std::size_t i = 0; i < g.nodes().size(); ++i) {
      auto here = matched[i] ? nullptr : find_at({g, l, aligned, read, matched}, i, w);
      if (here == nullptr) continue;
      for (const std::uint16_t n : here->what().nodes) matched[n] = true;
      out.vendor_kernels.push_back(std::move(here));
    }
    out.is_final = is_final_;
    return out;
  }

  // Calls `f(handle)` with the handle of the call's lane, which has its stream.
  template <class F>
  result<void> with_handle(const call& c, F&& f) {
    if (c.lane >= lanes_.size()) return error(reaction::fatal, "dnn", cat("lane ", c.lane, " is none of the worker's"));
    lane& on = lanes_[c.lane];
    const auto stream = static_cast<CUstream>(c.stream);
    if (on.library.get() == nullptr) on.library = TROUPE_TRY(make_handle());
    if (!on.has_stream || on.stream != stream) {
      if (const cudnnStatus_t s = calls().set_stream(on.library.get(), stream); s != CUDNN_STATUS_SUCCESS)
        return broken_or("cudnnSetStream", s, on, stream);
      on.stream = stream, on.has_stream = true;
    }
    const cudnnStatus_t s = f(on.library.get());
    if (s == CUDNN_STATUS_SUCCESS) [[likely]]
      return {};
    return broken_or("cudnnBackendExecute", s, on, stream);
  }

 private:
  struct lane {
    handle library;
    CUstream stream = nullptr;
    bool has_stream = false;
  };

  std::unique_ptr<vendor_kernel> find_at(const model& m, std::size_t node, const wishes& w) {
    for (sketch& s : sketches_of(m, node, w)) {
      variant_pack pack(s);
      if (pack.size() > variant_pack::most) continue;
      if (auto plan = plan_of(m, s, pack, w))
        return std::make_unique<cudnn_kernel_on_lanes>(std::move(s), std::move(pack), std::move(*plan), *this,
                                                       lanes_.size());
    }
    return nullptr;
  }

  // The plan of an earlier process, or a new one; nothing if cuDNN has none.
  std::optional<execution_plan> plan_of(const model& m, sketch& s, const variant_pack& pack, const wishes& w) {
    const std::string key = key_on_disk(s, w);
    if (const auto stored = disk_.find(key)) {
      if (stored->empty()) return std::nullopt;
      if (auto plan = execution_plan::from(planning_.get(), *stored)) {
        s.what.workspace = pack.workspace_of(*plan);
        if (is_right(m, s, pack, *plan)) return plan;
      } else {
        remarks_.once(cat("ignored a plan in ", disk_.folder(), ", which cuDNN does not accept"));
      }
    }
    auto made = new_plan(m, s, pack, w);
    if (made) {
      if (const std::string text = made->text(); !text.empty()) disk_.store(key, text, made->is_provisional);
      return std::move(*made);
    }
    if (made.error().reaction() == reaction::unsupported) {
      disk_.store(key, "", true);
    } else {
      is_final_ = false;
      remarks_.once(cat("slow: what cuDNN might compute is computed by our kernels, because ", made.error().text()));
    }
    return std::nullopt;
  }

  // Whether the plan of an earlier process, which was tried then, gives right results here too. Without memory to try
  // it again it is trusted.
  bool is_right(const model& m, const sketch& s, const variant_pack& pack, const execution_plan& plan) {
    if (const auto arrived = cuda::await_default_stream("dnn"); !arrived) {
      remarks_.once(arrived.error().text());
      return false;
    }
    trial t(m.graph, m.uses, stream_.get(), s.unit, trial::extent_of_trial::few);
    const auto tried = t.run(s.what, false, [&](std::span<void* const> addresses, void* workspace) {
      return pack.enqueue(plan, planning_.get(), addresses, workspace);
    });
    if (!tried || tried->why_not.empty()) return true;
    remarks_.once(cat("ignored a plan in ", disk_.folder(), ": ", tried->why_not));
    return false;
  }

  // Fails with reaction::unsupported if cuDNN has none that is right, and will not have one another time.
  result<execution_plan> new_plan(const model& m, sketch& s, const variant_pack& pack, const wishes& w) {
    const auto drawn = TROUPE_TRY(s.drawn.finish(planning_.get()));
    trial t(m.graph, m.uses, stream_.get(), s.unit);
    const auto attempt_at = [&](const execution_plan& plan) -> result<attempt> {
      s.what.workspace = pack.workspace_of(plan);
      return t.run(s.what, w.measured, [&](std::span<void* const> addresses, void* workspace) {
        return pack.enqueue(plan, planning_.get(), addresses, workspace);
      });
    };
    auto plan = choose_engine(planning_.get(), drawn,
                              {.workspace = w.workspace,
                               .deterministic = w.repeatable,
                               .exact = s.exact_f32 && w.exact,
                               .distrusted = s.distrusted,
                               .measured = w.measured,
                               .attempt_at = attempt_at});
    if (plan) s.what.workspace = pack.workspace_of(*plan);
    return plan;
  }

  std::string key_on_disk(const sketch& s, const wishes& w) const {
    constexpr int format = 2;
    return cat("dnn.cudnn", format, version_, gpu_, s.drawn.description(), static_cast<int>(w.exact),
               static_cast<int>(w.repeatable), static_cast<int>(w.measured), w.workspace);
  }

  error broken_or(const char* call, cudnnStatus_t s, lane& on, CUstream stream) {
    bool is_broken = false;
    error e = failed(call, s, stream, is_broken);
    if (is_broken) on = {};
    return e;
  }

  std::mutex lock_;  // guards the handle for planning, and its stream
  handle planning_;
  cuda::stream stream_;
  const std::string gpu_;
  const std::uint64_t most_workspace_;
  bool is_final_ = true;  // of what is being found
  plan::remarks remarks_;
  stored_plans disk_{remarks_};
  std::vector<lane> lanes_;  // one thread at a time uses a lane
  std::string version_;
};

result<void> cudnn_kernel_on_lanes::enqueue(std::span<void* const> addresses, void* workspace, const call& c) const {
  return of_.with_handle(c, [&](cudnnHandle_t h) {
    const descriptor& d = packs_[c.lane].find(pack(), plan(), addresses, workspace);
    return d.status() != CUDNN_STATUS_SUCCESS ? d.status() : calls().execute(h, plan().plan.get(), d.get());
  });
}

}  // namespace

result<std::unique_ptr<vendor>> vendor::open(const engine_context& context) {
  TROUPE_TRY(load());
  // Older ones give wrong results, and end the process, for some small images.
  constexpr std::size_t oldest = 91900;
  if (calls().version() < oldest)
    return error(reaction::unsupported, "dnn",
                 cat("cuDNN is not used: ", version_text(), " is older than 9.19, the first that was checked"));
  auto planning = TROUPE_TRY(make_handle());
  CUstream made = nullptr;
  TROUPE_TRY(cuda::done_on(nullptr, "dnn", "cuStreamCreate", ::cuStreamCreate(&made, CU_STREAM_NON_BLOCKING)));
  cuda::stream stream(made);
  if (const cudnnStatus_t s = calls().set_stream(planning.get(), made); s != CUDNN_STATUS_SUCCESS)
    return failed("cudnnSetStream", s);
  auto gpu = TROUPE_TRY(cuda::gpu_identity(static_cast<CUdevice>(context.device), "dnn"));
  std::size_t free = 0, all = 0;
  TROUPE_TRY(cuda::done_on(nullptr, "dnn", "cuMemGetInfo", ::cuMemGetInfo(&free, &all)));
  return std::unique_ptr<vendor>(
      std::make_unique<cudnn_vendor>(std::move(planning), std::move(stream), context, std::move(gpu), all / 8));
}

}  // namespace troupe::dnn::cudnn
