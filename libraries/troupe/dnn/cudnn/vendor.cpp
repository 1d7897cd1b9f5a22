// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <array>
#include <mutex>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cudnn/convolutions.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/status.hpp>
#include <troupe/dnn/cudnn/vendor.hpp>

namespace troupe::dnn::cudnn {
namespace {

// A plan of cuDNN, with the names of its tensors and the numbers that are in it.
class planned_part final : public part {
 public:
  planned_part(sketch s, execution_plan plan)
      : part(std::move(s.what)), plan_(std::move(plan)), names_(s.drawn.arguments()), numbers_(s.drawn.numbers()) {
    names_.insert(names_.end(), s.drawn.names_of_numbers().begin(), s.drawn.names_of_numbers().end());
  }
  cudnnStatus_t enqueue(cudnnHandle_t handle, std::span<void* const> addresses, void* workspace) const {
    std::array<void*, 32> all{};
    std::size_t n = 0;
    for (void* const a : addresses) all[n++] = a;
    for (const float& number : numbers_) all[n++] = const_cast<float*>(&number);
    descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set_all<CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS>(std::span<const std::int64_t>(names_))
        .set_all<CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS>(std::span<void* const>(all.data(), n))
        .set<CUDNN_ATTR_VARIANT_PACK_WORKSPACE>(workspace)
        .finalize();
    return pack.status() != CUDNN_STATUS_SUCCESS ? pack.status()
                                                 : calls().execute(handle, plan_.plan.get(), pack.get());
  }
  /// The most tensors and numbers that it may have.
  static constexpr std::size_t most_arguments = 32;

 private:
  execution_plan plan_;
  std::vector<std::int64_t> names_;
  std::vector<float> numbers_;
};

struct handle_traits {
  using type = cudnnHandle_t;
  static constexpr type null{};
  static void close(type h) noexcept { (void)calls().destroy(h); }
};
using handle = unique_handle<handle_traits>;

result<handle> make_handle() {
  cudnnHandle_t made = nullptr;
  if (const cudnnStatus_t s = calls().create(&made); s != CUDNN_STATUS_SUCCESS) return failed("cudnnCreate", s);
  return handle(made);
}

class cudnn_vendor final : public vendor {
 public:
  cudnn_vendor(handle planning, std::uint32_t lanes) : planning_(std::move(planning)), lanes_(lanes) {
    const std::size_t v = calls().version();
    version_ = cat("cuDNN ", v / 10000, ".", v / 100 % 100, ".", v % 100);
  }
  const std::string& version() const noexcept override { return version_; }

  std::vector<std::unique_ptr<part>> find(const seen_graph& g, const std::vector<bool>& aligned,
                                          const wishes& w) override {
    const std::scoped_lock guard(lock_);
    const links l(g);
    std::vector<std::unique_ptr<part>> out;
    for (std::size_t i = 0; i < g.nodes().size(); ++i)
      if (auto found = find_at(g, l, i, aligned, w)) out.push_back(std::move(found));
    return out;
  }

  result<void> enqueue(const part& p, std::span<void* const> addresses, void* workspace, const call& c) override {
    if (c.lane >= lanes_.size()) return error(reaction::fatal, "dnn", cat("lane ", c.lane, " is none of the worker's"));
    lane& on = lanes_[c.lane];
    const auto stream = static_cast<CUstream>(c.stream);
    if (on.library.get() == nullptr) on.library = TROUPE_TRY(make_handle());
    if (!on.has_stream || on.stream != stream) {
      if (const cudnnStatus_t s = calls().set_stream(on.library.get(), stream); s != CUDNN_STATUS_SUCCESS)
        return broken_or("cudnnSetStream", s, on, stream);
      on.stream = stream, on.has_stream = true;
    }
    const cudnnStatus_t s = static_cast<const planned_part&>(p).enqueue(on.library.get(), addresses, workspace);
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

  std::unique_ptr<part> find_at(const seen_graph& g, const links& l, std::size_t node, const std::vector<bool>& aligned,
                                const wishes& w) {
    const op what = g.nodes()[node].what;
    if (what != op::convolution && what != op::convolution_data_gradient && what != op::convolution_weight_gradient)
      return nullptr;
    const bool is_float = g.tensors()[g.nodes()[node].inputs[0]].type == dtype::f32;
    const engine_wishes how{.workspace = w.workspace, .deterministic = w.repeatable, .exact = is_float && w.exact};
    for (sketch& s : sketches_of_convolution(g, l, node, aligned)) {
      if (s.drawn.arguments().size() + s.drawn.numbers().size() > planned_part::most_arguments) continue;
      auto plan = s.drawn.plan({.handle = planning_.get()}, how);
      if (!plan) continue;
      s.what.workspace = plan->workspace;
      return std::make_unique<planned_part>(std::move(s), std::move(*plan));
    }
    return nullptr;
  }

  error broken_or(const char* call, cudnnStatus_t s, lane& on, CUstream stream) {
    bool is_broken = false;
    error e = failed(call, s, stream, is_broken);
    if (is_broken) on = {};
    return e;
  }

  std::mutex lock_;  // guards the handle for planning
  handle planning_;
  std::vector<lane> lanes_;  // one thread at a time uses a lane
  std::string version_;
};

}  // namespace

result<std::unique_ptr<vendor>> vendor::open(const engine_context& context) {
  TROUPE_TRY(load());
  auto first = TROUPE_TRY(make_handle());
  return std::unique_ptr<vendor>(std::make_unique<cudnn_vendor>(std::move(first), context.lanes));
}

}  // namespace troupe::dnn::cudnn
