// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of module: images loaded into the worker, and their kernels on its threads.
#include <cstring>
#include <troupe/base/clock.hpp>
#include <troupe/kernel/engine/programs.hpp>
#include <troupe/module/internal/recipe.hpp>
#include <troupe/module/requests.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::module {
namespace {

result<kernel::program_ref> load(const kernel::program_root& root, kernel::build_summary& s) {
  const auto recipe = decode(kernel::recipe_of(root));
  if (!recipe) return error(reaction::fatal, "module", "module.load: the recipe is damaged");
  auto image = kernel::loaded_image::load(recipe->bytes, recipe->options.name);
  if (!image) return image.error();
  s.image_bytes = recipe->bytes.size();
  s.kernels = static_cast<std::uint32_t>(image->kernels().size());
  s.globals = static_cast<std::uint32_t>(image->globals().size());
  // The bytes stay where they are, in the application's memory: nobody asks for them here.
  return std::make_shared<const kernel::loaded_program>(recipe->options.name, std::move(*image), nullptr,
                                                        recipe->options.flush_to_zero);
}

kernel::programs::made make_program(const kernel::program_root& root) {
  const std::int64_t begin = now_ns();
  kernel::build_summary s{.source = kernel::image_source::given};
  auto program = load(root, s);
  s.duration_ns = now_ns() - begin;
  return {std::move(program), s, {}};
}

const kernel::program_root& root_at(const std::byte* operand) noexcept {
  return *reinterpret_cast<const kernel::program_root*>(operand);
}

class host_module {
 public:
  static result<std::unique_ptr<host_module>> make(const engine_context&) { return std::make_unique<host_module>(); }
  const char* version() const { return "ELF"; }

  result<void> run(const load_image& r, call&) { return programs_.make(root_at(r.root.data())); }
  result<void> run(const launch& r, call&) {
    return programs_.run(r.kernel.of().root(), {.request = "module.launch",
                                                .kernel = r.kernel.name(),
                                                .grid = r.grid,
                                                .block = r.block,
                                                .shared_bytes = r.shared_bytes,
                                                .values = r.arguments,
                                                .cooperative = r.cooperative});
  }
  result<void> run(const write_global& r, call&) {
    return programs_.write(r.global.of().root(), r.global.name(), r.offset_bytes, r.source.data(), r.source.size(),
                           name_of<write_global>());
  }
  result<void> run(const read_global& r, call&) {
    return programs_.read(r.global.of().root(), r.global.name(), r.offset_bytes, r.target.data(), r.target.size(),
                          name_of<read_global>());
  }
  result<kernel::build_summary> run(const read_summary& r, call&) {
    return programs_.summary(*reinterpret_cast<const kernel::program_root*>(static_cast<std::uintptr_t>(r.root)),
                             name_of<read_summary>());
  }
  result<kernel::attributes_head> run(const read_attributes& r, call&) {
    return programs_.attributes(root_at(r.root.data()), r.kernel, r.listing.data(), r.listing.size(),
                                name_of<read_attributes>());
  }
  result<void> run(const unload& r, call&) {
    programs_.unload(root_at(r.root.data()));
    return {};
  }

 private:
  kernel::programs programs_{make_program};
};

}  // namespace
}  // namespace troupe::module

using namespace troupe::module;
TROUPE_ENGINE(host_module, "module", "host", troupe::slow<load_image>, launch, write_global, read_global, read_summary,
              read_attributes, unload)
