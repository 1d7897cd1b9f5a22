// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cutlass/cuda/plans/variant_store.hpp>
#include <troupe/cutlass/prebuilt/bundle.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/recipe.hpp>
#include <troupe/jit/cuda/on_demand/nvrtc_on_demand.hpp>
#include <troupe/jit/recipe_codec.hpp>

namespace troupe::cutlass {
namespace {

// Returns the error of a missing kernel. Caches do not store it: a later caller may compile the kernel.
error missing(const variant_source& t, std::string_view why) {
  return error::retry_later("cutlass", missing_kernel, cat("there is no kernel ", t.name, ", and ", why));
}
constexpr std::string_view request_forbids = "the request forbids compiling it; send prepare first";
constexpr std::string_view device_forbids =
    "device_options::compile is false; build it into the engine, or prepare it on a device that may compile";

result<std::unique_ptr<jit::nvrtc_builder>> find_compiler(const engine_context& context,
                                                          const cuda::gpu_properties& gpu) {
  TROUPE_TRY(jit::load_nvrtc("cutlass"));
  auto with = TROUPE_TRY(jit::nvrtc::find());
  TROUPE_TRY(jit::target_for("", gpu.capability, with.known));
  return std::make_unique<jit::nvrtc_builder>(std::move(with), gpu.capability, context.forbids_compiling == 0);
}

}  // namespace

result<std::unique_ptr<variant_store>> variant_store::open(const engine_context& context,
                                                           const cuda::gpu_properties& gpu) {
  std::unique_ptr<variant_store> out(new variant_store(context, gpu));
  const std::string architecture = cat("sm_", gpu.capability, gpu.capability >= 90 ? "a" : "");
  for (const prebuilt::kernel& k : prebuilt::decode(prebuilt::bundle_of_engine())) {
    if (k.architecture != architecture) continue;
    out->prebuilt_.emplace(k.source, k.image);
    out->prebuilt_names_ += cat("\nprebuilt: ", k.name);
  }
  if (auto found = find_compiler(context, gpu))
    out->builder_ = std::move(*found);
  else
    out->why_no_compiler_ = found.error().text();
  return out;
}

std::string variant_store::notes() {
  return cat(builder_ != nullptr ? builder_->notes() : "compiler: none, because " + why_no_compiler_, prebuilt_names_,
             "\n", library_.notes());
}

// Marks a source while its kernel is being compiled.
class variant_store::being_compiled {
 public:
  being_compiled(variant_store& in, const std::string& source) : in_(in), source_(source) {
    const std::scoped_lock guard(in_.lock_);
    in_.compiled_now_.insert(source_);
  }
  ~being_compiled() {
    const std::scoped_lock guard(in_.lock_);
    in_.compiled_now_.erase(source_);
  }
  being_compiled(const being_compiled&) = delete;

 private:
  variant_store& in_;
  const std::string& source_;
};

bool variant_store::compiles_now(const std::string& source) {
  const std::scoped_lock guard(lock_);
  return compiled_now_.contains(source);
}

result<std::shared_ptr<kernel_variant>> variant_store::get(const variant_source& t, compiling how) {
  // A caller that forbids compiling does not wait while another caller compiles the kernel, either.
  if (how == compiling::forbidden && compiles_now(t.source)) return missing(t, request_forbids);
  return variants_.get(t.source, [&] { return make(t, how); });
}

result<std::shared_ptr<kernel_variant>> variant_store::make(const variant_source& t, compiling how) {
  if (const auto found = prebuilt_.find(t.source); found != prebuilt_.end()) {
    auto out = std::make_shared<kernel_variant>();
    out->source = kernel_source::prebuilt;
    TROUPE_TRY(load(found->second, t, *out));
    return out;
  }
  if (builder_ == nullptr)
    return missing(t, cat("no compiler: ", why_no_compiler_, "; install NVRTC, or build the engine with this kernel"));
  const std::string encoded = jit::encode(recipe_of(t.source, t.name));
  const auto recipe = jit::decode(encoded);
  if (!recipe) return damaged("cutlass", cat("the recipe of kernel ", t.name));
  const auto begun = std::chrono::steady_clock::now();
  jit::build built = builder_->images().find(*recipe);
  if (built.failed) {
    if (how == compiling::forbidden) return missing(t, request_forbids);
    if (!builder_->images().may_compile()) return missing(t, device_forbids);
    const being_compiled mark(*this, t.source);
    built = builder_->images().make(*recipe);
    if (built.failed) return *built.failed;
  }
  auto out = std::make_shared<kernel_variant>();
  out->compile_seconds = std::chrono::duration<float>(std::chrono::steady_clock::now() - begun).count();
  out->source = built.source == kernel::image_source::disk ? kernel_source::disk : kernel_source::compiled;
  TROUPE_TRY(load(*built.image, t, *out));
  return out;
}

result<void> variant_store::load(std::string_view image, const variant_source& t, kernel_variant& to) const {
  using cuda::done;
  CUlibrary library = nullptr;
  TROUPE_TRY(done(::cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                  "cuLibraryLoadData of a kernel of cutlass"));
  to.library.reset(library);
  CUdeviceptr layout_at = 0;
  std::size_t layout_bytes = 0;
  unsigned layout[6] = {};
  TROUPE_TRY(done(::cuLibraryGetGlobal(&layout_at, &layout_bytes, library, "troupe_layout"), "cuLibraryGetGlobal"));
  if (layout_bytes == sizeof layout) TROUPE_TRY(done(::cuMemcpyDtoH(layout, layout_at, sizeof layout), "cuMemcpyDtoH"));
  if (layout[0] != t.argument_bytes || layout[1] != t.fixed_bytes)
    return error(reaction::unsupported, "cutlass",
                 cat(t.name, ": the kernel's parameters have ", layout[0], " bytes in device code (fixed part ",
                     layout[1], "), but ", t.argument_bytes, " (", t.fixed_bytes,
                     ") in the engine: rebuild Troupe with a matching NVRTC and host compiler"));
  to.overlaps = t.overlaps, to.threads = t.threads, to.cluster = t.cluster, to.shared_bytes = layout[3],
  to.argument_bytes = t.argument_bytes;
  to.part_rows = layout[4], to.part_columns = layout[5];
  TROUPE_TRY(done(::cuLibraryGetKernel(&to.kernel, library, variant_kernel), "cuLibraryGetKernel"));
  if (has_reductions(t.source))
    TROUPE_TRY(done(::cuLibraryGetKernel(&to.combine, library, combining_kernel), "cuLibraryGetKernel"));
  CUfunction loaded = nullptr;
  TROUPE_TRY(done(::cuKernelGetFunction(&loaded, to.kernel), "cuKernelGetFunction"));
  const auto device = static_cast<CUdevice>(context_.device);
  TROUPE_TRY(done(::cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(to.shared_bytes), to.kernel, device),
                  "cuKernelSetAttribute"));
  int each = 0;
  TROUPE_TRY(
      done(::cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, loaded, static_cast<int>(t.threads), to.shared_bytes),
           "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
  to.blocks = each * gpu_.multiprocessors;
  if (t.cluster > 1) {
    CUlaunchConfig launch{};
    launch.gridDimX = static_cast<unsigned>(gpu_.multiprocessors) / t.cluster * t.cluster;
    launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
    launch.blockDimX = t.threads, launch.sharedMemBytes = to.shared_bytes;
    CUlaunchAttribute shape{};
    shape.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    shape.value.clusterDim = {t.cluster, 1, 1};
    launch.attrs = &shape, launch.numAttrs = 1;
    int clusters = 0;
    TROUPE_TRY(done(::cuOccupancyMaxActiveClusters(&clusters, loaded, &launch), "cuOccupancyMaxActiveClusters"));
    to.blocks = clusters * static_cast<int>(t.cluster);
  }
  if (to.blocks == 0) return error(reaction::unsupported, "cutlass", cat("the GPU cannot hold a block of ", t.name));
  return {};
}

}  // namespace troupe::cutlass
