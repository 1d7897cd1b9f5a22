// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of jit: compiles with NVRTC, and runs the kernels on the streams of the lanes.
#include <troupe/base/try.hpp>
#include <troupe/jit/cuda/load.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc_builder.hpp>
#include <troupe/jit/engine.hpp>
#include <troupe/kernel/engine/cuda/programs.hpp>

namespace troupe::jit {
namespace {

using kernel::gpu_programs;

class gpu_jit : public engine_with<gpu_programs> {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<gpu_jit>> make(const engine_context& context) {
    const auto limits = TROUPE_TRY(kernel::gpu_limits::of(context.device));
    auto with = TROUPE_TRY(nvrtc::find());
    return std::unique_ptr<gpu_jit>(
        new gpu_jit(limits, context.lanes, std::move(with), context.forbids_compiling == 0));
  }
  const char* version() const { return version_.c_str(); }
  std::string notes() const { return builder_.notes(); }

 private:
  gpu_jit(const kernel::gpu_limits& limits, std::uint32_t lanes, nvrtc with, bool may_compile)
      : engine_with(limits, lanes,
                    [this](const kernel::program_root& root) {
                      return make_program<gpu_programs>(
                          builder_.images(), root, kernel::recipe_of(root),
                          [this](const recipe& r, const build& b) { return load(r, b.image, limits_); });
                    }),
        limits_(limits),
        version_("NVRTC " + with.version),
        builder_(std::move(with), limits.major * 10 + limits.minor, may_compile) {}

  const kernel::gpu_limits limits_;
  const std::string version_;
  nvrtc_builder builder_;
};

}  // namespace
}  // namespace troupe::jit

// Requests that wait for the GPU run on a helper thread. Unloading is one: it waits for all earlier launches.
using namespace troupe::jit;
TROUPE_ENGINE(gpu_jit, "jit", "cuda",
              troupe::marked<troupe::anywhere,
                             troupe::with_slow<requests, compile_recipe, read_image, read_attributes, unload>, launch>)
