// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <string>
#include <troupe/base/result.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/protocol/descriptions/description.hpp>
#include <troupe/worker/plugins/describe.hpp>
#include <troupe/worker/plugins/kernel_log.hpp>

namespace troupe {
namespace {

using protocol::driver_description;

// Values from cuda.h, which may be missing because Troupe can be built without the toolkit. Unchanged since CUDA 6.
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
  int (*address)(char*, int, int);
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
      find(file, "cuGetErrorString", d.error_text, missing) && find(file, "cuDeviceGetPCIBusId", d.address, missing))
    return d;
  return unloadable(path_of(file) + " has no " + missing + ", so it is not NVIDIA's driver");
}

std::string words_for(const driver_calls& d, int code) {
  const char *name = nullptr, *text = nullptr;
  (void)d.error_name(code, &name);
  (void)d.error_text(code, &text);
  return cat(name != nullptr ? name : "CUresult", " (", text != nullptr ? text : "no description", ")");
}

// Writes and flushes, because the next step may end the process.
bool write(std::FILE* out, const driver_description& part) {
  return std::fputs(protocol::text_of(part).c_str(), out) >= 0 && std::fflush(out) == 0;
}

driver_description::gpu describe_gpu(const driver_calls& d, int number) {
  int device = 0, major = 0, minor = 0, mode = 0;
  std::size_t bytes = 0;
  char name[256] = "";
  (void)d.device(&device, number);
  (void)d.attribute(&major, capability_major, device);
  (void)d.attribute(&minor, capability_minor, device);
  (void)d.attribute(&mode, compute_mode, device);
  (void)d.bytes(&bytes, device);
  (void)d.name(name, sizeof name, device);
  return {.name = name, .capability = cat(major, ".", minor), .bytes = bytes, .mode = mode};
}

// Describes the source of alarms that report faults of this GPU before the driver does.
driver_description describe_alarms(const driver_calls& d, int number) {
  int device = 0;
  char pci[32] = "";
  (void)d.device(&device, number);
  (void)d.address(pci, sizeof pci, device);
  const auto named = read_kernel_log(pci);
  if (named) return {};
  const auto heard = listen_by_nvml(pci);
  return {.unheard = heard ? "" : heard.error().text(), .unnamed = named.error().text()};
}

result<bool> show(std::FILE* out) {
  void* const file =
      ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // never closed: what the driver starts ends with the process
  if (file == nullptr) return unloadable(::dlerror());
  const auto calls = TROUPE_TRY(calls_of(file));
  const driver_calls& d = calls;
  driver_description driver{.library = path_of(file)};
  if (d.version(&driver.version) != 0) driver.version = 0;
  write(out, driver);
  driver_description gpus;
  int count = 0;
  gpus.code = d.init(0);
  if (gpus.code == 0) gpus.code = d.count(&count);
  if (gpus.code != 0) gpus.refused = words_for(d, gpus.code);
  for (int i = 0; i < count; ++i) gpus.gpus.push_back(describe_gpu(d, i));
  write(out, gpus);
  if (count > 0) write(out, describe_alarms(d, 0));
  return count > 0;
}

}  // namespace

bool describe_driver(std::FILE* out) {
  const auto shown = show(out);
  driver_description rest{.complete = true};
  if (!shown) rest.unloadable = shown.error().text();
  return write(out, rest) && shown && *shown;
}

}  // namespace troupe
