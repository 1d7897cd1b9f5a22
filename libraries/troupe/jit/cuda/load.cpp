// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/cuda/architecture.hpp>
#include <troupe/jit/cuda/load.hpp>

namespace troupe::jit {
namespace {

error refusal(const recipe& r, const std::string& text) {
  return error(reaction::caller_bug, "jit", "jit.compile: " + r.name + ": " + text);
}

// Returns the options that the driver applies when it compiles the PTX that NVRTC has made.
kernel::ptx_options ptx_options_of(const recipe& r) {
  return {.optimisation = static_cast<std::uint32_t>(r.optimisation),
          .max_registers = static_cast<std::uint32_t>(r.max_registers),
          .line_information = r.debug_information,
          .debug_information = std::find(r.options.begin(), r.options.end(), "--device-debug") != r.options.end()};
}

}  // namespace

result<std::shared_ptr<const gpu_program>> load(const recipe& r, std::shared_ptr<const std::string> bytes,
                                                const kernel::gpu_limits& limits) {
  const auto image_alone = [&](const std::string& why) {
    return std::make_shared<const gpu_program>(r.name + ", which " + why + ",", kernel::gpu_image::none(), bytes);
  };
  if (r.relocatable) return image_alone("is relocatable and must be linked");
  const capability gpu = limits.major * 10 + limits.minor;
  if (!r.architecture.empty() && !runs_on(r.architecture, gpu))
    return image_alone(
        cat("is compiled for ", r.architecture, " (this GPU is sm_", gpu, "; leave architecture empty)"));
  auto image = TROUPE_TRY(kernel::gpu_image::load(*bytes, r.name, limits, ptx_options_of(r)));
  for (const std::string& name : r.kernels)
    if (image.find_kernel(name) == nullptr)
      return refusal(r, name + " is not a kernel; expected a __global__ function");
  for (const std::string& name : r.globals)
    if (image.find_global(name) == nullptr)
      return refusal(r, name + " is not a variable on the GPU; expected a __device__ or __constant__ variable");
  return std::make_shared<const gpu_program>(r.name, std::move(image), std::move(bytes));
}

}  // namespace troupe::jit
