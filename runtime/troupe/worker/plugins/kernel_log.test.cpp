// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <troupe/worker/plugins/kernel_log.hpp>

namespace troupe {
namespace {

using namespace std::chrono_literals;

const std::string pci = "0000:17:00.0";
const std::string fault =
    "4,981,115981517,-;NVRM: Xid (PCI:0000:17:00): 31, pid=1065, name=troupe-worker, channel 0x00000032, intr "
    "00000000. "
    "MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_8 faulted @ 0x0_00000000";

TEST(alarms_in_the_kernels_log, name_the_error_and_the_process) {
  const auto found = alarm_in(fault, pci);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->xid, 31u);
  EXPECT_EQ(found->process, 1065u);
  EXPECT_EQ(found->details.rfind("pid=1065, name=troupe-worker, channel 0x00000032", 0), 0u) << found->details;
}

TEST(alarms_in_the_kernels_log, need_not_name_a_process) {
  const auto found =
      alarm_in("NVRM: Xid (PCI:0000:17:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off", pci);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->xid, 79u);
  EXPECT_EQ(found->process, 0u);
  EXPECT_TRUE(alarm_in("NVRM: Xid (PCI:0000:17:00): 48, pid='<unknown>'", "00000000:17:00.0"));
}

// These are the lines with which an H200 reported a kernel of process 755, while another process happened to run on the
// processor. As long as the GPU serves no process, no probe could show that this other process is not at fault.
TEST(alarms_in_the_kernels_log, are_not_earlier_lines_that_name_the_interrupted_process) {
  const std::string begin = "4,370,33718193,c;NVRM: Xid (PCI:0000:17:00): 13, ";
  for (const char* line : {"Graphics SM Warp Exception on (GPC 1): Misaligned Address",
                           "pid=798, name=troupe-worker, Graphics SM Warp Exception on (GPC 1, TPC 2, SM 0): Out Of "
                           "Range Address",
                           "pid=798, name=troupe-worker, Graphics Exception: ESR 0x517730=0x301000e 0x517734=0x0"})
    EXPECT_FALSE(alarm_in(begin + line, pci)) << line;
  for (const char* line : {"pid=755, name=troupe-worker, Graphics Exception: channel 0x00000075, Class 0000cbc0",
                           "pid=755, name=troupe-worker, Graphics Exception: ChID 0008, Class 0000c7c0"}) {
    const auto found = alarm_in(begin + line, pci);
    ASSERT_TRUE(found) << line;
    EXPECT_EQ(found->process, 755u) << line;
  }
}

TEST(alarms_in_the_kernels_log, name_a_process_only_with_its_channel) {
  const std::string begin = "NVRM: Xid (PCI:0000:17:00): ";
  EXPECT_EQ(alarm_in(begin + "43, pid=755, name=troupe-worker, channel 0x0000000a", pci)->process, 755u);
  EXPECT_EQ(alarm_in(begin + "43, pid=755, name=troupe-worker, Ch 00000010", pci)->process, 755u);
  const auto memory = alarm_in(begin + "95, pid=798, name=python3, Uncontained: memory error", pci);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->process, 0u) << "it concerns everyone";
  for (const char* line :
       {"79, GPU has fallen off the bus.", "95, Uncontained: memory error", "43, channel 0x0000000a"}) {
    const auto found = alarm_in(begin + line, pci);
    ASSERT_TRUE(found) << line;
    EXPECT_EQ(found->process, 0u) << line;
  }
}

TEST(alarms_in_the_kernels_log, are_of_one_gpu_and_other_lines_are_ignored) {
  for (const char* line : {"NVRM: Xid (PCI:0000:18:00): 31, pid=1, name=a", "NVRM: Xid (PCI:0001:17:00): 31, pid=1",
                           "NVRM: Xid (PCI:0000:17:00): x, pid=1", "NVRM: Xid (PCI:0000:17:00): 31",
                           "NVRM: Xid (PCI:", "usb 1-1: new device", ""})
    EXPECT_FALSE(alarm_in(line, pci)) << line;
}

class kernels_log : public testing::Test {
 protected:
  kernels_log() {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    ::setenv("TROUPE_KERNEL_LOG", path_.c_str(), 1);
    writer_.open(path_, std::ios::in | std::ios::out);  // so that opening does not block, and the pipe does not end
  }
  ~kernels_log() override {
    ::unsetenv("TROUPE_KERNEL_LOG");
    std::remove(path_.c_str());
  }
  void log(const std::string& text) { writer_ << text << std::flush; }

  const std::string path_ = testing::TempDir() + "kernel-log-" + std::to_string(::getpid());
  std::fstream writer_;
};

TEST_F(kernels_log, is_read_line_by_line_however_it_is_split) {
  auto source = read_kernel_log(pci);
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_FALSE((*source)->wait(1ms).value());
  log("6,1,2,-;eth0: link is up\n" + fault + "\n" + fault.substr(0, 40));
  const auto first = (*source)->wait(10s);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->xid, 31u);
  EXPECT_FALSE((*source)->wait(1ms).value());
  log(fault.substr(40) + "\n");
  const auto second = (*source)->wait(10s);
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->process, 1065u);
}

TEST_F(kernels_log, names_the_error_from_an_earlier_line) {
  const std::string begin = "NVRM: Xid (PCI:0000:17:00): 13, ";
  auto source = read_kernel_log(pci);
  ASSERT_TRUE(source) << source.error().text();
  log(begin + "pid=798, name=other, Graphics SM Warp Exception on (GPC 1, TPC 2, SM 0): Out Of Range Address\n" +
      begin + "pid=798, name=other, Graphics Exception: ESR 0x517730=0x301000e\n" + begin +
      "pid=755, name=troupe-worker, Graphics Exception: channel 0x00000075, Class 0000cbc0\n" +
      "NVRM: Xid (PCI:0000:18:00): 13, Graphics SM Warp Exception on (GPC 1): Out Of Range Address\n" + fault + "\n");
  const auto first = (*source)->wait(10s);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->process, 755u);
  EXPECT_NE((*first)->details.find("(Out Of Range Address)"), std::string::npos) << (*first)->details;
  const auto second = (*source)->wait(10s);
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->details.find("Out Of Range"), std::string::npos) << (*second)->details;
}

TEST_F(kernels_log, is_preferred_to_nvml_if_it_can_be_read) {
  ::setenv("TROUPE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  auto source = listen_to_gpu(pci);
  ::unsetenv("TROUPE_NVML");
  ASSERT_TRUE(source) << source.error().text();
  log(fault + "\n");
  const auto heard = (*source)->wait(10s);
  ASSERT_TRUE(heard && *heard);
  EXPECT_EQ((*heard)->process, 1065u);
}

TEST_F(kernels_log, fails_with_the_reason_if_it_cannot_be_read) {
  ::setenv("TROUPE_KERNEL_LOG", "/nowhere/kmsg", 1);
  const auto source = read_kernel_log(pci);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().reaction(), reaction::unsupported);
  EXPECT_EQ(source.error().text(), "cannot read the kernel's log /nowhere/kmsg: No such file or directory");
}

TEST_F(kernels_log, fails_with_an_error_when_it_ends) {
  const std::string file = path_ + ".txt";
  std::ofstream(file) << fault << "\n";
  ::setenv("TROUPE_KERNEL_LOG", file.c_str(), 1);
  auto source = read_kernel_log(pci);
  ASSERT_TRUE(source) << source.error().text();
  const auto heard = (*source)->wait(10s);  // the earlier content does not count
  ASSERT_FALSE(heard);
  EXPECT_NE(heard.error().text().find("it has ended"), std::string::npos) << heard.error().text();
  std::remove(file.c_str());
}

}  // namespace
}  // namespace troupe
