// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <troupe/base/files/bytes.hpp>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda_on_host/compiler_flags.hpp>
#include <troupe/jit/host/host_builder.hpp>
#include <troupe/jit/host/notes.hpp>

namespace troupe::jit {
namespace {

std::filesystem::path engine_file() { return file_of_code(reinterpret_cast<const void*>(&engine_file)); }

// The engine's files are in the parent folder of its own folder.
installation find_installation() {
  const std::filesystem::path folder = engine_file().parent_path().parent_path();
  return {.compiler_guard = (folder / "troupe-compiler-guard").string(), .cuda_folder = (folder / "cuda").string()};
}

// Part of every key, because another build of the engine may translate differently, and because code is compiled for
// this processor.
std::string engine_identity() {
  std::error_code failed;
  const std::filesystem::path file = engine_file();
  byte_writer identity;
  identity.value(static_cast<std::uint64_t>(std::filesystem::file_size(file, failed)));
  identity.value(static_cast<std::int64_t>(std::filesystem::last_write_time(file, failed).time_since_epoch().count()));
  identity.value(cuda_on_host::compiler_interface_version);
  identity.text(processor_identity());
  return std::move(identity).bytes();
}

}  // namespace

host_builder::host_builder(bool may_compile)
    : installation_(find_installation()),
      disk_(plan::disk_cache::default_folder()),
      builder_(
          {.find = [this](const recipe& r, plan::disk_cache* cache) -> result<compiler> {
             TROUPE_TRY(check_for_host(r));
             auto path = TROUPE_TRY(find_compiler(r));
             return compilers_.identify(installation_.compiler_guard, path, cache);
           },
           .compile = [this](const recipe& r, const compiler& with,
                             const compile_deadline& how_long) { return compile(installation_, with, r, how_long); },
           .engine = engine_identity(),
           .disk = disk_.folder().empty() ? nullptr : &disk_,
           .may_compile = may_compile}) {}

std::string host_builder::notes() const { return notes_of(installation_, disk_); }

result<kernel::host_programs::program_ref> host_builder::load(const recipe& r, const build& b) {
  auto image = TROUPE_TRY(cuda_on_host::loaded_image::load(std::as_bytes(std::span(*b.image)), r.name));
  return std::make_shared<const kernel::loaded_program<kernel::host_image>>(
      r.name, kernel::host_image(std::move(image), r.flush_to_zero || r.fast_math), b.image);
}

}  // namespace troupe::jit
