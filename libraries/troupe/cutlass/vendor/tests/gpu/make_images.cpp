// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// make_images PLUG-IN ARCHITECTURE FOLDER: compiles the kernels that have a source for an architecture, with NVRTC,
// into FOLDER/<kernel>.<architecture>.cubin, for tests on a machine without CUTLASS's headers. Needs no GPU.
#include <nvrtc.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

using namespace troupe::cutlass::vendor;

namespace {

bool make_image(const run_time_source& s, const std::string& file) {
  nvrtcProgram p = nullptr;
  const char *const header = s.header.c_str(), *const name = s.header_name.c_str();
  if (nvrtcCreateProgram(&p, s.text.c_str(), "variant.cu", 1, &header, &name) != NVRTC_SUCCESS) return false;
  std::vector<const char*> options;
  for (const std::string& o : s.options) options.push_back(o.c_str());
  const bool done = nvrtcCompileProgram(p, static_cast<int>(options.size()), options.data()) == NVRTC_SUCCESS;
  std::size_t bytes = 0;
  if (done)
    nvrtcGetCUBINSize(p, &bytes);
  else
    nvrtcGetProgramLogSize(p, &bytes);
  std::string out(bytes, '\0');
  if (done)
    nvrtcGetCUBIN(p, out.data());
  else
    nvrtcGetProgramLog(p, out.data());
  nvrtcDestroyProgram(&p);
  if (!done) return std::fprintf(stderr, "%s\n", out.c_str()), false;
  return static_cast<bool>(std::ofstream(file, std::ios::binary) << out);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return std::fprintf(stderr, "make_images PLUG-IN ARCHITECTURE FOLDER\n"), 2;
  const auto loaded = kernel_variants::load(words[1]);
  if (!loaded) return std::fprintf(stderr, "%s\n", loaded.error().text().c_str()), 1;
  std::filesystem::create_directories(words[3]);
  for (const kernel_variant* c : loaded->all()) {
    if (c->source == nullptr) continue;
    const auto s = source_for_nvrtc(*loaded, *c, words[2], loaded->contents().headers, TROUPE_CUDA_HEADERS);
    if (!s) return std::fprintf(stderr, "%s\n", s.error().text().c_str()), 1;
    if (!make_image(*s, troupe::cat(words[3], "/", c->name, ".", words[2], ".cubin")))
      return std::fprintf(stderr, "%s failed\n", c->name), 1;
  }
}
