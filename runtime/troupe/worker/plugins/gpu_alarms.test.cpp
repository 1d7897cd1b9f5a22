// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <troupe/protocol/xid.hpp>
#include <troupe/worker/plugins/gpu_alarms.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;

class alarms_of_a_gpu : public testing::Test {
 protected:
  alarms_of_a_gpu() { use(TROUPE_FAKE_NVML); }
  ~alarms_of_a_gpu() override { ::unsetenv("TROUPE_NVML"); }
  static void use(const char* library) { ::setenv("TROUPE_NVML", library, 1); }
  static void raise(unsigned xid) {
    void* const file = ::dlopen(TROUPE_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(file, nullptr) << ::dlerror();
    reinterpret_cast<void (*)(unsigned)>(::dlsym(file, "fake_nvml_raise"))(xid);
  }
  static std::string why_not(const std::string& pci) {
    const auto source = listen_by_nvml(pci);
    if (source) return "";
    EXPECT_EQ(source.error().reaction(), reaction::unsupported);
    return source.error().text();
  }
};

TEST_F(alarms_of_a_gpu, are_received_in_order) {
  const auto source = listen_by_nvml("0000:17:00.0");
  ASSERT_TRUE(source) << source.error().text();
  raise(13);
  raise(43);
  for (const std::uint32_t expected : {13u, 43u}) {
    const auto heard = (*source)->wait(10s);
    ASSERT_TRUE(heard && *heard);
    EXPECT_EQ((*heard)->xid, expected);
  }
}

TEST_F(alarms_of_a_gpu, are_awaited_for_a_limited_time) {
  const auto source = listen_by_nvml("0000:17:00.0");
  ASSERT_TRUE(source) << source.error().text();
  const auto heard = (*source)->wait(5ms);
  ASSERT_TRUE(heard);
  EXPECT_FALSE(*heard);
}

TEST_F(alarms_of_a_gpu, are_described_in_words) {
  EXPECT_EQ(protocol::xid_text(43), "Xid 43 (a kernel trapped, or an assertion in it failed)");
  EXPECT_EQ(protocol::xid_text(999), "Xid 999 (see NVIDIA's list of Xid errors)");
}

TEST_F(alarms_of_a_gpu, fail_with_the_reason_without_the_library_or_the_gpu) {
  EXPECT_EQ(why_not("0000:18:00.0"), "nvmlDeviceGetHandleByPciBusId_v2: Not Found");
  use("/nowhere/libnvidia-ml.so.1");
  EXPECT_NE(why_not("0000:17:00.0").find("cannot load NVML: /nowhere/libnvidia-ml.so.1"), std::string::npos);
  use("libc.so.6");
  EXPECT_EQ(why_not("0000:17:00.0"),
            "libc.so.6 lacks functions of NVML that report errors: it is too old, or not NVML");
}

}  // namespace
}  // namespace troupe
