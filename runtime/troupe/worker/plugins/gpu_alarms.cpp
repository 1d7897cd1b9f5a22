// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <troupe/base/shared_libraries/library_functions.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/plugins/gpu_alarms.hpp>
#include <troupe/worker/plugins/kernel_log.hpp>

namespace troupe {
namespace {

// Values from nvml.h, which may be missing because Troupe can be built without the toolkit. Unchanged since CUDA 11.
constexpr int no_error = 0, timed_out = 10;  // NVML_SUCCESS, NVML_ERROR_TIMEOUT
constexpr unsigned long long critical = 8;   // nvmlEventTypeXidCriticalError
struct nvml_event {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
struct nvml_calls {
  int (*init)();
  const char* (*words)(int);
  int (*by_address)(const char*, void**);
  int (*make_set)(void**);
  int (*register_events)(void*, unsigned long long, void*);
  int (*wait)(void*, nvml_event*, unsigned);
  int (*free_set)(void*);
};

error unavailable(std::string why) { return error(reaction::unsupported, "worker", std::move(why)); }

result<nvml_calls> load() {
  const char* const chosen = ::secure_getenv("TROUPE_NVML");
  const std::string name = chosen != nullptr && *chosen != '\0' ? chosen : "libnvidia-ml.so.1";
  library_functions library({name});
  if (!library.missing().empty()) return unavailable(cat("cannot load NVML: ", library.missing()));
  nvml_calls c{};
  library.find(c.init, "nvmlInit_v2");
  library.find(c.words, "nvmlErrorString");
  library.find(c.by_address, "nvmlDeviceGetHandleByPciBusId_v2");
  library.find(c.make_set, "nvmlEventSetCreate");
  library.find(c.register_events, "nvmlDeviceRegisterEvents");
  library.find(c.wait, "nvmlEventSetWait_v2");
  library.find(c.free_set, "nvmlEventSetFree");
  if (library.missing().empty()) return c;
  return unavailable(cat(name, " lacks functions of NVML that report errors: it is too old, or not NVML"));
}

class nvml_alarms final : public alarm_source {
 public:
  explicit nvml_alarms(const nvml_calls& calls) noexcept : calls_(calls) {}
  ~nvml_alarms() override {
    if (set_ != nullptr) (void)calls_.free_set(set_);
  }
  result<void> begin(const std::string& pci) {
    void* device = nullptr;
    TROUPE_TRY(done(calls_.init(), "nvmlInit_v2"));
    TROUPE_TRY(done(calls_.by_address(pci.c_str(), &device), "nvmlDeviceGetHandleByPciBusId_v2"));
    TROUPE_TRY(done(calls_.make_set(&set_), "nvmlEventSetCreate"));
    return done(calls_.register_events(device, critical, set_), "nvmlDeviceRegisterEvents");
  }
  result<std::optional<gpu_alarm>> wait(std::chrono::milliseconds at_most) override {
    nvml_event e{};
    const int r = calls_.wait(set_, &e, static_cast<unsigned>(std::max<std::int64_t>(at_most.count(), 0)));
    if (r == timed_out) return std::optional<gpu_alarm>();
    TROUPE_TRY(done(r, "nvmlEventSetWait_v2"));
    return std::optional(gpu_alarm{.xid = static_cast<std::uint32_t>(e.data), .details = {}});
  }

 private:
  result<void> done(int r, const char* call) const {
    if (r == no_error) return {};
    const char* const words = calls_.words(r);
    return unavailable(cat(call, ": ", words != nullptr ? words : "an unknown error"));
  }
  const nvml_calls calls_;
  void* set_ = nullptr;
};

}  // namespace

result<std::unique_ptr<alarm_source>> listen_to_gpu(const std::string& pci) {
  if (auto log = read_kernel_log(pci)) return log;
  return listen_by_nvml(pci);
}

result<std::unique_ptr<alarm_source>> listen_by_nvml(const std::string& pci) {
  const auto calls = TROUPE_TRY(load());
  auto out = std::make_unique<nvml_alarms>(calls);
  TROUPE_TRY(out->begin(pci));
  return std::unique_ptr<alarm_source>(std::move(out));
}

}  // namespace troupe
