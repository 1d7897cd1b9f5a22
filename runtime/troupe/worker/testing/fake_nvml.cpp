// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A library with the functions of NVML that Troupe calls, for one GPU, whose errors the test raises.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>

namespace {

struct event {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
struct {
  std::mutex lock;
  std::condition_variable changed;
  std::deque<unsigned> raised;
  bool registered = false;
} gpu;
char a_device, a_set;
constexpr int not_found = 6, timed_out = 10, not_supported = 3;

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void fake_nvml_raise(unsigned xid) {
  const std::scoped_lock guard(gpu.lock);
  gpu.raised.push_back(xid);
  gpu.changed.notify_all();
}
EXPORTED int nvmlInit_v2() { return 0; }
EXPORTED const char* nvmlErrorString(int r) { return r == not_found ? "Not Found" : "Something Else"; }
EXPORTED int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** out) {
  *out = &a_device;
  return std::strcmp(address, "0000:17:00.0") == 0 ? 0 : not_found;
}
EXPORTED int nvmlEventSetCreate(void** out) {
  *out = &a_set;
  return 0;
}
EXPORTED int nvmlEventSetFree(void*) {
  const std::scoped_lock guard(gpu.lock);
  gpu.registered = false;
  return 0;
}
EXPORTED int nvmlDeviceRegisterEvents(void* device, unsigned long long types, void* set) {
  const std::scoped_lock guard(gpu.lock);
  gpu.registered = device == &a_device && types == 8 && set == &a_set;
  return gpu.registered ? 0 : not_supported;
}
EXPORTED int nvmlEventSetWait_v2(void* set, event* out, unsigned milliseconds) {
  std::unique_lock guard(gpu.lock);
  if (!gpu.registered || set != &a_set) return not_supported;
  if (!gpu.changed.wait_for(guard, std::chrono::milliseconds(milliseconds), [] { return !gpu.raised.empty(); }))
    return timed_out;
  *out = {&a_device, 8, gpu.raised.front(), 0, 0};
  gpu.raised.pop_front();
  return 0;
}
