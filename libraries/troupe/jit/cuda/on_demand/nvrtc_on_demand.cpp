// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Defines NVRTC's functions, which load the library on first use. Some engines also work without NVRTC and must load
// where it is not installed: linked with these functions, they do not depend on libnvrtc.
#include <nvrtc.h>

#include <string>
#include <troupe/base/shared_libraries/library_functions.hpp>
#include <troupe/jit/cuda/on_demand/nvrtc_on_demand.hpp>

namespace troupe::jit {
namespace {

// Used by one thread at a time: first by the thread that opens the engine, then by the thread that compiles.
library_functions& library() {
  static library_functions one({TROUPE_NVRTC});
  return one;
}

template <class F>
F* function(const char* name) {
  F* out = nullptr;
  library().find(out, name);
  return out;
}

}  // namespace

result<void> load_nvrtc(std::string_view domain) {
  const std::string& missing = library().missing();
  if (missing.empty()) return {};
  return error(reaction::unsupported, std::string(domain),
               "NVRTC cannot be loaded: " + missing +
                   "; install the CUDA toolkit's libnvrtc in a folder that the dynamic linker searches (" +
                   "ldconfig or LD_LIBRARY_PATH)");
}

}  // namespace troupe::jit

#define TROUPE_FORWARD(NAME, PARAMETERS, ...)                              \
  nvrtcResult NAME PARAMETERS {                                            \
    static auto* const f = troupe::jit::function<decltype(::NAME)>(#NAME); \
    return f != nullptr ? f(__VA_ARGS__) : NVRTC_ERROR_INTERNAL_ERROR;     \
  }

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult r) {
  static auto* const f = troupe::jit::function<decltype(::nvrtcGetErrorString)>("nvrtcGetErrorString");
  return f != nullptr ? f(r) : "NVRTC cannot be loaded";
}
TROUPE_FORWARD(nvrtcVersion, (int* major, int* minor), major, minor)
TROUPE_FORWARD(nvrtcGetNumSupportedArchs, (int* count), count)
TROUPE_FORWARD(nvrtcGetSupportedArchs, (int* all), all)
TROUPE_FORWARD(nvrtcCreateProgram,
               (nvrtcProgram * p, const char* source, const char* name, int count, const char* const* texts,
                const char* const* names),
               p, source, name, count, texts, names)
TROUPE_FORWARD(nvrtcDestroyProgram, (nvrtcProgram * p), p)
TROUPE_FORWARD(nvrtcCompileProgram, (nvrtcProgram p, int count, const char* const* options), p, count, options)
TROUPE_FORWARD(nvrtcAddNameExpression, (nvrtcProgram p, const char* name), p, name)
TROUPE_FORWARD(nvrtcGetLoweredName, (nvrtcProgram p, const char* name, const char** lowered), p, name, lowered)
TROUPE_FORWARD(nvrtcGetProgramLogSize, (nvrtcProgram p, std::size_t* bytes), p, bytes)
TROUPE_FORWARD(nvrtcGetProgramLog, (nvrtcProgram p, char* to), p, to)
TROUPE_FORWARD(nvrtcGetCUBINSize, (nvrtcProgram p, std::size_t* bytes), p, bytes)
TROUPE_FORWARD(nvrtcGetCUBIN, (nvrtcProgram p, char* to), p, to)
TROUPE_FORWARD(nvrtcGetPTXSize, (nvrtcProgram p, std::size_t* bytes), p, bytes)
TROUPE_FORWARD(nvrtcGetPTX, (nvrtcProgram p, char* to), p, to)
TROUPE_FORWARD(nvrtcGetLTOIRSize, (nvrtcProgram p, std::size_t* bytes), p, bytes)
TROUPE_FORWARD(nvrtcGetLTOIR, (nvrtcProgram p, char* to), p, to)
TROUPE_FORWARD(nvrtcSetPCHHeapSize, (std::size_t bytes), bytes)
TROUPE_FORWARD(nvrtcGetPCHCreateStatus, (nvrtcProgram p), p)
TROUPE_FORWARD(nvrtcGetPCHHeapSizeRequired, (nvrtcProgram p, std::size_t* bytes), p, bytes)
TROUPE_FORWARD(nvrtcSetFlowCallback, (nvrtcProgram p, int (*ask)(void*, void*), void* with), p, ask, with)

}  // extern "C"
