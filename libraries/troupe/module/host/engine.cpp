// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of module: loads images into the worker, and runs their kernels on its threads.
#include <troupe/base/try.hpp>
#include <troupe/kernel/engine/host/programs.hpp>
#include <troupe/module/internal/engine.hpp>

namespace troupe::module {
namespace {

using kernel::host_programs;

result<host_programs::program_ref> load(const recipe& r) {
  auto image = TROUPE_TRY(cuda_on_host::loaded_image::load(r.bytes, r.options.name));
  // Leaves the bytes in the application's memory: no request of module reads them here.
  return std::make_shared<const kernel::loaded_program<kernel::host_image>>(
      r.options.name, kernel::host_image(std::move(image), r.options.flush_to_zero), nullptr);
}

class host_module : public engine_with<host_programs> {
 public:
  host_module() : engine_with([](const kernel::program_root& root) { return make_program(root, load); }) {}
  static result<std::unique_ptr<host_module>> make(const engine_context&) { return std::make_unique<host_module>(); }
  const char* version() const { return "ELF"; }
};

}  // namespace
}  // namespace troupe::module

using namespace troupe::module;
TROUPE_ENGINE(host_module, "module", "host",
              troupe::marked<troupe::anywhere, troupe::with_slow<requests, load_image>, launch>)
