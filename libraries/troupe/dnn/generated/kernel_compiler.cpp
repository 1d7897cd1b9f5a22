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
  for (std::thread& t : threads_) t.join();
}

generated_kernels kernel_compiler::request_compilation(const source& s) {
  constexpr std::size_t most = 8192;
  // Other threads of the worker compute, or wait for its GPU.
  static const std::size_t most_threads = std::clamp(std::thread::hardware_concurrency() / 2, 1u, 4u);
  generated_kernels out;
  const std::scoped_lock guard(lock_);
  for (const source::kernel& k : s.kernels) {
    if (const auto known = all_.find(k.alone); known != all_.end()) {
      out.push_back(known->second);
    } else if (all_.size() == most) {
      remarks_.once(cat("there are ", most, " generated kernels; the operations of further ones are interpreted"));
      out.push_back(nullptr);
    } else {
      auto made = std::make_shared<generated_kernel>();
      jobs_.push_back({made, k.alone});
      all_.emplace(k.alone, made);
      out.push_back(std::move(made));
      if (threads_.size() < most_threads) threads_.emplace_back([this] { serve(); });
      requested_.notify_one();
    }
  }
  return out;
}

void kernel_compiler::wait_for(const generated_kernels& all) {
  const auto is_mine = [&](const job& j) { return std::ranges::find(all, j.to) != all.end(); };
  std::unique_lock guard(lock_);
  // Compile these kernels first: a caller waits for them.
  std::ranges::stable_partition(jobs_, is_mine);
  done_.wait(guard, [&] {
    return std::ranges::none_of(
        all, [](const auto& k) { return k != nullptr && k->state_ == generated_kernel::state::compiling; });
  });
}

std::string kernel_compiler::notes() const {
  const std::scoped_lock guard(lock_);
  const auto ready = std::ranges::count_if(all_, [](const auto& k) { return k.second->get() != nullptr; });
  return cat("generated kernels: ", ready);
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
    next.to->state_.store(made ? generated_kernel::state::ready : generated_kernel::state::failed,
                          std::memory_order_release);
    done_.notify_all();
  }
  for (const job& j : jobs_) j.to->state_ = generated_kernel::state::failed;
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
  CUfunction loaded = nullptr;
  TROUPE_TRY(cuda::done(::cuLibraryGetKernel(&j.to->kernel_, library, source::name_alone), "cuLibraryGetKernel"));
  // Load the kernel now; otherwise its first launch would.
  return cuda::done(::cuKernelGetFunction(&loaded, j.to->kernel_), "cuKernelGetFunction");
}

}  // namespace troupe::dnn::generated
