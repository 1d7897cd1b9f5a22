// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <filesystem>
#include <troupe/base/files/bytes.hpp>
#include <troupe/jit/cuda/compile.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc_builder.hpp>

namespace troupe::jit {
namespace {

// Part of every key, because another build of the engine may compile differently.
std::string engine_identity() {
  Dl_info self{};
  byte_writer identity;
  identity.text("cuda");
  if (::dladdr(reinterpret_cast<const void*>(&engine_identity), &self) == 0) return std::move(identity).bytes();
  const auto file = plan::stamp_without_content(std::filesystem::absolute(self.dli_fname).string());
  identity.value(file ? file->bytes : 0);
  identity.value(file ? file->changed_ns : 0);
  return std::move(identity).bytes();
}

}  // namespace

nvrtc_builder::nvrtc_builder(nvrtc with, capability gpu, bool may_compile)
    : with_(std::move(with)),
      disk_(plan::disk_cache::default_folder()),
      builder_({.find = [this, gpu](const recipe& r, plan::disk_cache*) { return compiler_for(with_, r, gpu); },
                .compile = [this](const recipe& r, const compiler& c,
                                  const compile_deadline& how_long) { return compile(with_, c, r, how_long); },
                .engine = engine_identity(),
                .disk = disk_.folder().empty() ? nullptr : &disk_,
                .may_compile = may_compile}) {}

std::string nvrtc_builder::notes() const {
  return "headers: " + with_.own_headers + "\nCUDA's headers: " + with_.include_folder +
         "\nlinker: " + with_.links->description() + "\n" + notes_of(disk_);
}

}  // namespace troupe::jit
