// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/jit/cuda/nvrtc/nvrtc.hpp>
#include <troupe/plan/manifest.hpp>

namespace troupe::jit {
namespace {

error call_failed(const char* call, nvrtcResult r) {
  return error(error::details{.reaction = reaction::fatal,
                              .domain = "jit",
                              .code = static_cast<std::int64_t>(r),
                              .text = "jit.compile: " + std::string(call) + ": " + ::nvrtcGetErrorString(r)});
}

// Adds a file's size and time, which identify its content.
void identify(byte_writer& to, const std::string& path) {
  const auto s = plan::stamp_without_content(path);
  to.text(path);
  to.value(s ? s->bytes : 0);
  to.value(s ? s->changed_ns : 0);
}

// Returns the folder of the shared object or program that contains this code: an engine or a test.
std::filesystem::path own_folder() {
  return std::filesystem::path(file_of_code(reinterpret_cast<const void*>(&own_folder))).parent_path();
}

// Finds our headers: they are beside the folder of engines, or, for a program in bin, further down.
result<std::string> find_headers() {
  const std::filesystem::path above = own_folder().parent_path();
  const std::filesystem::path places[] = {above / "nvrtc", above / TROUPE_RUNTIME_SUBDIR / "nvrtc"};
  std::error_code unknown;
  for (const std::filesystem::path& p : places)
    if (std::filesystem::is_directory(p, unknown)) return p.string();
  return error(reaction::unsupported, "jit",
               "jit: Troupe's headers of C and C++ for GPUs are not in " + places[0].string() +
                   ", where they are installed with the engines: install Troupe again");
}

// Adds the sizes and times of all files in a folder.
void identify_folder(byte_writer& to, const std::string& folder) {
  std::vector<std::string> files;
  std::error_code unknown;
  for (auto at = std::filesystem::recursive_directory_iterator(folder, unknown); at != decltype(at)();
       at.increment(unknown))
    if (at->is_regular_file(unknown)) files.push_back(at->path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) identify(to, file);
}

}  // namespace

result<nvrtc> nvrtc::find() {
  nvrtc out;
  int major = 0, minor = 0, count = 0;
  if (const nvrtcResult r = ::nvrtcVersion(&major, &minor); r != NVRTC_SUCCESS) return call_failed("nvrtcVersion", r);
  out.version = cat(major, ".", minor);
  out.cuda_version = std::to_string(1000 * major + 10 * minor);
  if (const nvrtcResult r = ::nvrtcGetNumSupportedArchs(&count); r != NVRTC_SUCCESS)
    return call_failed("nvrtcGetNumSupportedArchs", r);
  out.known.resize(static_cast<std::size_t>(count));
  if (const nvrtcResult r = ::nvrtcGetSupportedArchs(out.known.data()); r != NVRTC_SUCCESS)
    return call_failed("nvrtcGetSupportedArchs", r);
  std::sort(out.known.begin(), out.known.end());
  auto headers = TROUPE_TRY(find_headers());
  out.own_headers = std::move(headers);
  const char* const named = ::secure_getenv("TROUPE_CUDA_INCLUDE");
  out.include_folder = named != nullptr && *named != '\0' ? named : TROUPE_CUDA_INCLUDE_FOLDER;
  byte_writer identity;
  identity.text("NVRTC " + out.version);
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&::nvrtcVersion), &library) != 0 && library.dli_fname != nullptr)
    identify(identity, library.dli_fname);
  identify(identity, out.include_folder + "/cuda.h");
  identify_folder(identity, out.own_headers);
  out.identity = std::move(identity).bytes();
  out.links = std::make_shared<linker>(out.version);
  out.headers = std::make_shared<precompiled>();
  return out;
}

}  // namespace troupe::jit
