// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The engine computes everything without NVRTC, so that it must load where that is not installed. The linker takes
// these functions instead of those of libnvrtc, which is then none of the libraries that the engine needs.
#include <dlfcn.h>
#include <nvrtc.h>

#include <string>
#include <troupe/dnn/generated/nvrtc_library.hpp>

namespace troupe::dnn::generated {
namespace {

struct loaded_library {
  void* handle;
  std::string why_not;
};
const loaded_library& library() {
  // Stays until the process ends: threads of NVRTC may still be in its code.
  static const loaded_library one = [] {
    loaded_library l{::dlopen(TROUPE_NVRTC, RTLD_NOW | RTLD_LOCAL), {}};
    const char* const why = l.handle == nullptr ? ::dlerror() : nullptr;
    if (why != nullptr) l.why_not = why;
    return l;
  }();
  return one;
}

template <class F>
F* function(const char* name) {
  return library().handle == nullptr ? nullptr : reinterpret_cast<F*>(::dlsym(library().handle, name));
}

}  // namespace

result<void> load_nvrtc() {
  if (library().handle != nullptr) return {};
  return error(reaction::unsupported, "dnn", "NVRTC is not there: " + library().why_not);
}

}  // namespace troupe::dnn::generated

#define TROUPE_FORWARD(NAME, PARAMETERS, ...)                                         \
  nvrtcResult NAME PARAMETERS {                                                       \
    static auto* const f = troupe::dnn::generated::function<decltype(::NAME)>(#NAME); \
    return f != nullptr ? f(__VA_ARGS__) : NVRTC_ERROR_INTERNAL_ERROR;                \
  }

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult r) {
  static auto* const f = troupe::dnn::generated::function<decltype(::nvrtcGetErrorString)>("nvrtcGetErrorString");
  return f != nullptr ? f(r) : "NVRTC is not there";
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
