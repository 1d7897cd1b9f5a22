// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of module: images loaded into the worker, and their kernels on its threads.
#include <troupe/base/clock.hpp>
#include <troupe/base/try.hpp>
#include <troupe/kernel/engine/host/programs.hpp>
#include <troupe/module/internal/engine.hpp>
#include <troupe/module/internal/recipe.hpp>

namespace troupe::module {
namespace {

using kernel::host_programs;

result<host_programs::program_ref> load(const kernel::program_root& root, kernel::build_summary& s) {
  const auto recipe = decode(kernel::recipe_of(root));
  if (!recipe) return error(reaction::fatal, "module", "module.load: the recipe is damaged");
  auto image = TROUPE_TRY(kernel::loaded_image::load(recipe->bytes, recipe->options.name));
  s.image_bytes = recipe->bytes.size();
  s.kernels = static_cast<std::uint32_t>(image.kernels().size());
  s.globals = static_cast<std::uint32_t>(image.globals().size());
  // The bytes stay where they are, in the application's memory: nobody asks for them here.
  return std::make_shared<const kernel::loaded_program<kernel::host_image>>(
      recipe->options.name, kernel::host_image(std::move(image), recipe->options.flush_to_zero), nullptr);
}

host_programs::made make_program(const kernel::program_root& root) {
  const std::int64_t begin = now_ns();
  kernel::build_summary s{.source = kernel::image_source::given};
  auto program = load(root, s);
  s.duration_ns = now_ns() - begin;
  return {std::move(program), s, {}};
}

class host_module : public engine_with<host_programs> {
 public:
  host_module() : program_engine(make_program) {}
  static result<std::unique_ptr<host_module>> make(const engine_context&) { return std::make_unique<host_module>(); }
  const char* version() const { return "ELF"; }
};

}  // namespace
}  // namespace troupe::module

using namespace troupe::module;
TROUPE_ENGINE(host_module, "module", "host", troupe::slow<load_image>, launch, write_global, read_global, read_summary,
              read_attributes, read_occupancy, unload)
