// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of jit: the system's compiler, and the kernels it makes, on the worker's threads.
#include <dlfcn.h>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <troupe/base/clock.hpp>
#include <troupe/jit/host/builder.hpp>
#include <troupe/jit/host/notes.hpp>
#include <troupe/jit/requests.hpp>
#include <troupe/kernel/engine/programs.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::jit {
namespace {

std::filesystem::path engine_file() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&engine_file), &self) == 0) return "/";
  return std::filesystem::absolute(self.dli_fname);
}

// What belongs to the engine lies in the folder above its own.
installation find_installation() {
  const std::filesystem::path folder = engine_file().parent_path().parent_path();
  return {.keeper = (folder / "troupe-keeper").string(), .cuda_folder = (folder / "cuda").string()};
}

// Another build of the engine may translate differently.
std::string engine_identity() {
  std::error_code failed;
  const std::filesystem::path file = engine_file();
  kernel::byte_writer identity;
  identity.value(static_cast<std::uint64_t>(std::filesystem::file_size(file, failed)));
  identity.value(static_cast<std::int64_t>(std::filesystem::last_write_time(file, failed).time_since_epoch().count()));
  return std::move(identity).bytes();
}

const kernel::program_root& root_at(const std::byte* operand) noexcept {
  return *reinterpret_cast<const kernel::program_root*>(operand);
}

class host_jit {
 public:
  static result<std::unique_ptr<host_jit>> make(const engine_context&) {
    return std::unique_ptr<host_jit>(new host_jit);
  }
  const char* version() const { return "system compiler"; }
  std::string notes() const { return notes_of(installation_, disk_); }

  result<void> run(const compile_recipe& r, call&) { return programs_.make(root_at(r.root.data())); }
  result<void> run(const launch& r, call&) {
    return programs_.run(r.kernel.of().root(), {.request = "jit.launch",
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
  result<std::uint64_t> run(const read_image& r, call&) {
    auto program = programs_.find(root_at(r.root.data()), name_of<read_image>());
    if (!program) return program.error();
    const std::string& bytes = (*program)->bytes();
    std::memcpy(r.target.data(), bytes.data(), std::min<std::size_t>(bytes.size(), r.target.size()));
    return std::uint64_t{bytes.size()};
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
  host_jit()
      : installation_(find_installation()),
        disk_(disk_cache::default_folder()),
        builder_({.find = [this](const recipe& r, disk_cache* cache) -> result<compiler> {
                    auto path = find_compiler(r);
                    if (!path) return path.error();
                    return compilers_.identify(installation_.keeper, *path, cache);
                  },
                  .compile = [this](const recipe& r, const compiler& with,
                                    std::int64_t deadline_ns) { return compile(installation_, with, r, deadline_ns); },
                  .engine = engine_identity(),
                  .disk = disk_.folder().empty() ? nullptr : &disk_}),
        programs_([this](const kernel::program_root& root) { return make_program(root); }) {}

  kernel::programs::made make_program(const kernel::program_root& root) {
    const std::int64_t begin = now_ns();
    const auto recipe = decode(kernel::recipe_of(root));
    if (!recipe) return {error(reaction::fatal, "jit", "jit.compile: the recipe is damaged"), {}, {}};
    build b = builder_.make(*recipe);
    result<kernel::program_ref> made = load(*recipe, b);
    kernel::build_summary s{.source = b.source};
    if (made) {
      s.image_bytes = b.image->size();
      s.kernels = static_cast<std::uint32_t>((*made)->image().kernels().size());
      s.globals = static_cast<std::uint32_t>((*made)->image().globals().size());
    }
    s.duration_ns = now_ns() - begin;
    return {std::move(made), s, std::move(b.log)};
  }

  static result<kernel::program_ref> load(const decoded_recipe& recipe, const build& b) {
    if (b.failed) return *b.failed;
    auto image = kernel::loaded_image::load(std::as_bytes(std::span(*b.image)), recipe.full.name);
    if (!image) return image.error();
    return std::make_shared<const kernel::loaded_program>(recipe.full.name, std::move(*image), b.image,
                                                          recipe.full.flush_to_zero || recipe.full.fast_math);
  }

  installation installation_;
  disk_cache disk_;
  known_compilers compilers_;
  builder builder_;
  kernel::programs programs_;
};

}  // namespace
}  // namespace troupe::jit

using namespace troupe::jit;
TROUPE_ENGINE(host_jit, "jit", "host", troupe::slow<compile_recipe>, launch, write_global, read_global, read_summary,
              read_image, read_attributes, unload)
