// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A fake NVIDIA driver with one GPU. FAKE_CUDA_VERSION sets the version that it reports; FAKE_CUDA_INIT, the result
// of cuInit: an error number, or "crash", which aborts the process. For engines, which cannot be loaded without the
// driver's other functions, the test adds these.
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

int number(const char* name, int otherwise) {
  const char* const said = std::getenv(name);
  return said != nullptr ? std::atoi(said) : otherwise;
}

}  // namespace

extern "C" {
int cuDriverGetVersion(int* version) { return *version = number("FAKE_CUDA_VERSION", 13000), 0; }
int cuInit(unsigned) {
  if (const char* const said = std::getenv("FAKE_CUDA_INIT"); said != nullptr && std::strcmp(said, "crash") == 0)
    std::abort();
  return number("FAKE_CUDA_INIT", 0);
}
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int bytes, int) {
  return std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes)), 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int compute_mode = 20, capability_major = 75, capability_minor = 76;
  *value = attribute == capability_major ? 9 : attribute == compute_mode || attribute == capability_minor ? 0 : 1;
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = std::size_t{80} << 30, 0; }
int cuMemGetAllocationGranularity(std::size_t* bytes, const void*, int) { return *bytes = std::size_t{2} << 20, 0; }
int cuDeviceGetPCIBusId(char* pci, int bytes, int) {
  return std::strncpy(pci, "0000:01:00.0", static_cast<std::size_t>(bytes)), 0;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return *memory = std::calloc(1, bytes), *memory == nullptr ? 2 : 0;
}
int cuMemFreeHost(void* memory) { return std::free(memory), 0; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR_OF_THE_FAKE", 0; }
int cuGetErrorString(int, const char** text) { return *text = "as it was told", 0; }
}
