// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/dnn/generated/headers.hpp>
#include <troupe/dnn/generated/kernel_compiler.hpp>
#include <troupe/jit/cuda/on_demand/nvrtc_on_demand.hpp>
#include <troupe/jit/recipe_codec.hpp>

namespace troupe::dnn::generated {

result<std::unique_ptr<kernel_compiler>> kernel_compiler::open(const engine_context& context,
                                                               const cuda::gpu_properties& gpu) {
  TROUPE_TRY(jit::load_nvrtc("dnn"));
  auto with = TROUPE_TRY(jit::nvrtc::find());
  TROUPE_TRY(jit::target_for("", gpu.capability, with.known));
  return std::unique_ptr<kernel_compiler>(new kernel_compiler(context, std::move(with), gpu.capability));
}

kernel_compiler::kernel_compiler(const engine_context& context, jit::nvrtc with, jit::capability gpu)
    : context_(context),
      builder_(std::move(with), gpu, context.forbids_compiling == 0),
      remarks_([context](const std::string& text) { remark(context, "dnn: " + text); }) {}

kernel_compiler::~kernel_compiler() {
  {
    const std::scoped_lock guard(lock_);
    ends_ = true;
  }
  requested_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const generated_kernels> kernel_compiler::request_compilation(const source& s) {
  constexpr std::size_t most = 512;
  if (s.kernels.empty()) return nullptr;
  const std::scoped_lock guard(lock_);
  if (const auto known = all_.find(s.text); known != all_.end()) return known->second;
  if (all_.size() == most) {
    remarks_.once(
        cat("kernels were generated for ", most, " plans; elementwise kernels of further plans are interpreted"));
    return nullptr;
  }
  auto made = std::make_shared<generated_kernels>();
  jobs_.push_back({made, s.text, s.kernels});
  all_.emplace(s.text, made);
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  requested_.notify_one();
  return made;
}

void kernel_compiler::wait_for(const generated_kernels& p) {
  std::unique_lock guard(lock_);
  // Compile these kernels first: a caller waits for them.
  const auto mine = std::find_if(jobs_.begin(), jobs_.end(), [&](const job& j) { return j.to.get() == &p; });
  if (mine != jobs_.end()) std::rotate(jobs_.begin(), mine, mine + 1);
  done_.wait(guard, [&] { return p.state_ != generated_kernels::state::compiling; });
}

std::string kernel_compiler::notes() const {
  const std::scoped_lock guard(lock_);
  std::size_t ready = 0;
  for (const auto& [text, p] : all_) ready += p->kernels() != nullptr ? 1 : 0;
  return cat("generated kernels: of ", ready, " plans");
}

void kernel_compiler::serve() {
  if (context_.native_context != nullptr) (void)::cuCtxSetCurrent(static_cast<CUcontext>(context_.native_context));
  std::unique_lock guard(lock_);
  while (true) {
    requested_.wait(guard, [this] { return ends_ || !jobs_.empty(); });
    if (ends_) break;
    const job next = std::move(jobs_.front());
    jobs_.pop_front();
    guard.unlock();
    const result<void> made = make(next);
    if (!made && !ends_) remarks_.once(cat("elementwise kernels are interpreted, because ", made.error().text()));
    guard.lock();
    next.to->state_.store(made ? generated_kernels::state::ready : generated_kernels::state::failed,
                          std::memory_order_release);
    done_.notify_all();
  }
  for (const job& j : jobs_) j.to->state_ = generated_kernels::state::failed;
  done_.notify_all();
}

result<void> kernel_compiler::make(const job& j) {
  const std::string encoded = jit::encode(recipe_of(j.text));
  const auto recipe = jit::decode(encoded);
  if (!recipe) return damaged("dnn", "the recipe of generated kernels");
  const jit::build built = builder_.images().make(*recipe, [this] { return ends_.load(); });
  if (built.failed) return *built.failed;
  CUlibrary library = nullptr;
  TROUPE_TRY(cuda::done(::cuLibraryLoadData(&library, built.image->data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                        "cuLibraryLoadData of generated kernels"));
  j.to->library_.reset(library);
  for (const source::kernel& k : j.kernels) {
    CUkernel kernel = nullptr;
    CUfunction loaded = nullptr;
    TROUPE_TRY(cuda::done(::cuLibraryGetKernel(&kernel, library, k.name.c_str()), "cuLibraryGetKernel"));
    // Load the kernel now; otherwise its first launch would.
    TROUPE_TRY(cuda::done(::cuKernelGetFunction(&loaded, kernel), "cuKernelGetFunction"));
    j.to->kernels_.push_back(kernel);
  }
  return {};
}

}  // namespace troupe::dnn::generated
