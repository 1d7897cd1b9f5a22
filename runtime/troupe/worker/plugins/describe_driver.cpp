// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/plugins/describe_driver.hpp>

namespace troupe {
namespace {

// Of cuda.h, which is not there where Troupe is built without the toolkit; as it has been since CUDA 6.
constexpr int compute_mode = 20, capability_major = 75, capability_minor = 76;  // CU_DEVICE_ATTRIBUTE_*
struct driver_calls {
  int (*version)(int*);
  int (*init)(unsigned);
  int (*count)(int*);
  int (*device)(int*, int);
  int (*name)(char*, int, int);
  int (*attribute)(int*, int, int);
  int (*bytes)(std::size_t*, int);
  int (*error_name)(int, const char**);
  int (*error_text)(int, const char**);
};

error unloadable(std::string why) { return error(reaction::unsupported, "worker", std::move(why)); }

std::string path_of(void* file) {
  link_map* where = nullptr;
  if (::dlinfo(file, RTLD_DI_LINKMAP, &where) != 0 || where == nullptr) return "libcuda.so.1";
  char* const real = ::realpath(where->l_name, nullptr);
  const std::string out = real != nullptr ? real : where->l_name;
  std::free(real);
  return out;
}

template <class F>
bool find(void* file, const char* name, F*& call, std::string& missing) {
  call = reinterpret_cast<F*>(::dlsym(file, name));
  if (call == nullptr) missing = name;
  return call != nullptr;
}

result<driver_calls> calls_of(void* file) {
  driver_calls d{};
  std::string missing;
  if (find(file, "cuDriverGetVersion", d.version, missing) && find(file, "cuInit", d.init, missing) &&
      find(file, "cuDeviceGetCount", d.count, missing) && find(file, "cuDeviceGet", d.device, missing) &&
      find(file, "cuDeviceGetName", d.name, missing) && find(file, "cuDeviceGetAttribute", d.attribute, missing) &&
      find(file, "cuDeviceTotalMem_v2", d.bytes, missing) && find(file, "cuGetErrorName", d.error_name, missing) &&
      find(file, "cuGetErrorString", d.error_text, missing))
    return d;
  return unloadable(path_of(file) + " has no " + missing + ", so it is no driver of NVIDIA's");
}

void refuse(const driver_calls& d, int code, std::FILE* out) {
  const char *name = nullptr, *text = nullptr;
  (void)d.error_name(code, &name);
  (void)d.error_text(code, &text);
  std::fprintf(out, "refused %d %s (%s)\n", code, name != nullptr ? name : "CUresult",
               text != nullptr ? text : "without a word");
}

result<bool> show(std::FILE* out) {
  void* const file = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // it stays: what it begins ends with the process
  if (file == nullptr) return unloadable(::dlerror());
  const auto calls = TROUPE_TRY(calls_of(file));
  const driver_calls& d = calls;
  std::fprintf(out, "library %s\n", path_of(file).c_str());
  if (int version = 0; d.version(&version) == 0) std::fprintf(out, "version %d\n", version);
  std::fflush(out);  // whatever comes next
  int count = 0, code = d.init(0);
  if (code == 0) code = d.count(&count);
  if (code != 0) refuse(d, code, out);
  for (int i = 0; i < count; ++i) {
    int device = 0, major = 0, minor = 0, mode = 0;
    std::size_t bytes = 0;
    char name[256] = "";
    (void)d.device(&device, i);
    (void)d.attribute(&major, capability_major, device);
    (void)d.attribute(&minor, capability_minor, device);
    (void)d.attribute(&mode, compute_mode, device);
    (void)d.bytes(&bytes, device);
    (void)d.name(name, sizeof name, device);
    std::fprintf(out, "device %d.%d %zu %d %s\n", major, minor, bytes, mode, name);
  }
  return count > 0;
}

}  // namespace

bool describe_driver(std::FILE* out) {
  const auto shown = show(out);
  if (!shown) std::fprintf(out, "unloadable %s\n", shown.error().text().c_str());
  std::fputs("end\n", out);
  return std::fflush(out) == 0 && shown && *shown;
}

}  // namespace troupe
