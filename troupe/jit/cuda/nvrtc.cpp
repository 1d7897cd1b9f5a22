// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstdlib>

#include <troupe/jit/cache/manifest.hpp>
#include <troupe/jit/cuda/nvrtc.hpp>

namespace troupe::jit {
namespace {

error call_failed(const char* call, nvrtcResult r) {
  return error(error::details{.reaction = reaction::fatal,
                              .domain = "jit",
                              .code = static_cast<std::int64_t>(r),
                              .text = "jit.compile: " + std::string(call) + ": " + ::nvrtcGetErrorString(r)});
}

// Size and time of a file: another one has others.
void identify(kernel::byte_writer& to, const std::string& path) {
  const auto s = glance_at(path);
  to.text(path);
  to.value(s ? s->bytes : 0);
  to.value(s ? s->changed_ns : 0);
}

}  // namespace

result<nvrtc> nvrtc::find() {
  nvrtc out;
  int major = 0, minor = 0, count = 0;
  if (const nvrtcResult r = ::nvrtcVersion(&major, &minor); r != NVRTC_SUCCESS) return call_failed("nvrtcVersion", r);
  out.version = std::to_string(major) + "." + std::to_string(minor);
  if (const nvrtcResult r = ::nvrtcGetNumSupportedArchs(&count); r != NVRTC_SUCCESS)
    return call_failed("nvrtcGetNumSupportedArchs", r);
  out.known.resize(static_cast<std::size_t>(count));
  if (const nvrtcResult r = ::nvrtcGetSupportedArchs(out.known.data()); r != NVRTC_SUCCESS)
    return call_failed("nvrtcGetSupportedArchs", r);
  std::sort(out.known.begin(), out.known.end());
  const char* const named = std::getenv("TROUPE_CUDA_INCLUDE");
  out.include_folder = named != nullptr && *named != '\0' ? named : TROUPE_CUDA_INCLUDE_FOLDER;
  kernel::byte_writer identity;
  identity.text("NVRTC " + out.version);
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&::nvrtcVersion), &library) != 0 && library.dli_fname != nullptr)
    identify(identity, library.dli_fname);
  identify(identity, out.include_folder + "/cuda.h");
  out.identity = std::move(identity).bytes();
  out.links = std::make_shared<linker>(out.version);
  out.headers = std::make_shared<precompiled>();
  return out;
}

}  // namespace troupe::jit
