// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of module: loads images onto the GPU, and launches their kernels on the streams of the lanes.
#include <troupe/base/try.hpp>
#include <troupe/kernel/engine/cuda/programs.hpp>
#include <troupe/module/internal/engine.hpp>

namespace troupe::module {
namespace {

using kernel::gpu_programs;

result<gpu_programs::program_ref> load(const recipe& r, const kernel::gpu_limits& limits) {
  const load_options& o = r.options;
  if (o.flush_to_zero)
    return error(reaction::unsupported, "module",
                 "module.load: flush_to_zero is true, but on a GPU this was decided when image '" + o.name +
                     "' was compiled: leave it false");
  // A copy, because the driver requires a zero after the text of PTX.
  const std::string bytes(reinterpret_cast<const char*>(r.bytes.data()), r.bytes.size());
  auto image = TROUPE_TRY(kernel::gpu_image::load(bytes, o.name, limits));
  return std::make_shared<const kernel::loaded_program<kernel::gpu_image>>(o.name, std::move(image), nullptr);
}

class gpu_module : public engine_with<gpu_programs> {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<gpu_module>> make(const engine_context& context) {
    const auto limits = TROUPE_TRY(kernel::gpu_limits::of(context.device));
    return std::unique_ptr<gpu_module>(new gpu_module(limits, context.lanes));
  }
  const char* version() const { return "cubin, fatbin, PTX"; }

 private:
  gpu_module(const kernel::gpu_limits& limits, std::uint32_t lanes)
      : engine_with(limits, lanes, [limits](const kernel::program_root& root) {
          return make_program(root, [&limits](const recipe& r) { return load(r, limits); });
        }) {}
};

}  // namespace
}  // namespace troupe::module

// Requests that wait for the GPU run on a helper thread. Unloading is one: it waits for all earlier launches.
using namespace troupe::module;
TROUPE_ENGINE(
    gpu_module, "module", "cuda",
    troupe::marked<troupe::anywhere, troupe::with_slow<requests, load_image, read_attributes, unload>, launch>)
