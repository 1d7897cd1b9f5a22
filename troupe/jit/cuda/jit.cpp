// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of jit: NVRTC, and the kernels it makes, on the streams of the lanes.
#include <dlfcn.h>

#include <filesystem>
#include <troupe/base/try.hpp>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/jit/cuda/load.hpp>
#include <troupe/jit/internal/engine.hpp>
#include <troupe/kernel/engine/cuda/programs.hpp>

namespace troupe::jit {
namespace {

using kernel::gpu_programs;

// Another build of the engine may compile differently.
std::string engine_identity() {
  Dl_info self{};
  kernel::byte_writer identity;
  identity.text("cuda");
  if (::dladdr(reinterpret_cast<const void*>(&engine_identity), &self) == 0) return std::move(identity).bytes();
  const auto file = glance_at(std::filesystem::absolute(self.dli_fname).string());
  identity.value(file ? file->bytes : 0);
  identity.value(file ? file->changed_ns : 0);
  return std::move(identity).bytes();
}

class gpu_jit : public engine_with<gpu_programs> {
 public:
  static constexpr bool recordable = true;
  static result<std::unique_ptr<gpu_jit>> make(const engine_context& context) {
    const auto limits = TROUPE_TRY(kernel::gpu_limits::of(context.device));
    auto with = TROUPE_TRY(nvrtc::find());
    return std::unique_ptr<gpu_jit>(new gpu_jit(limits, std::move(with)));
  }
  const char* version() const { return version_.c_str(); }
  std::string notes() const {
    return "headers: " + with_.own_headers + "\nCUDA's headers: " + with_.include_folder +
           "\nlinker: " + with_.links->description() + "\n" + notes_of(disk_);
  }

 private:
  gpu_jit(const kernel::gpu_limits& limits, nvrtc with)
      : engine_with(limits,
                    [this](const kernel::program_root& root) {
                      return make_program(builder_, root, [this](const recipe& r, const build& b) {
                        return load(r, b.image, limits_);
                      });
                    }),
        limits_(limits),
        with_(std::move(with)),
        version_("NVRTC " + with_.version),
        disk_(disk_cache::default_folder()),
        builder_({.find = [this](const recipe& r,
                                 disk_cache*) { return compiler_for(with_, r, limits_.major * 10 + limits_.minor); },
                  .compile = [this](const recipe& r, const compiler& c,
                                    const patience& how_long) { return compile(with_, c, r, how_long); },
                  .engine = engine_identity(),
                  .disk = disk_.folder().empty() ? nullptr : &disk_}) {}

  const kernel::gpu_limits limits_;
  const nvrtc with_;
  const std::string version_;
  disk_cache disk_;
  builder builder_;
};

}  // namespace
}  // namespace troupe::jit

// What waits for the GPU does so on a helper's thread: unloading, until what was launched before has run.
using namespace troupe::jit;
TROUPE_ENGINE(gpu_jit, "jit", "cuda", troupe::with_slow<requests, compile_recipe, read_image, read_attributes, unload>)
