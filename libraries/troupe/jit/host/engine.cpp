// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of jit: compiles with the system's compiler, and runs the kernels on the worker's threads.
#include <troupe/jit/engine.hpp>
#include <troupe/jit/host/host_builder.hpp>

namespace troupe::jit {
namespace {

using kernel::host_programs;

class host_jit : public engine_with<host_programs> {
 public:
  static result<std::unique_ptr<host_jit>> make(const engine_context& context) {
    return std::unique_ptr<host_jit>(new host_jit(context.forbids_compiling == 0));
  }
  const char* version() const { return "system compiler"; }
  std::string notes() const { return builder_.notes(); }

 private:
  explicit host_jit(bool may_compile)
      : engine_with([this](const kernel::program_root& root) {
          return make_program<host_programs>(builder_.images(), root, kernel::recipe_of(root), host_builder::load);
        }),
        builder_(may_compile) {}

  host_builder builder_;
};

}  // namespace
}  // namespace troupe::jit

using namespace troupe::jit;
TROUPE_ENGINE(host_jit, "jit", "host",
              troupe::marked<troupe::anywhere, troupe::with_slow<requests, compile_recipe>, launch>)
