// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <apps/troupe/gpu_report.hpp>
#include <filesystem>
#include <fstream>

namespace troupe::apps {
namespace {

namespace fs = std::filesystem;
using grade = finding::grade;
constexpr exit_status ended_well{exit_status::ending::exited, 0}, failed{exit_status::ending::exited, 1};

const std::string not_found =
    "unloadable libcuda.so.1: cannot open shared object file: No such file or directory\nend\n";
const std::string found = "library /lib/libcuda.so.570.26\nversion 12080\n";

driver_answer driver(const std::string& says, exit_status end = failed) {
  return read_driver({.not_asked = {}, .description = says, .complaints = "", .end = end});
}
// Returns a machine without any problem.
gpu_machine healthy() {
  return {.on_bus = 1,
          .kernel_driver = "NVIDIA UNIX Open Kernel Module 580.82.07",
          .models = {"NVIDIA H200"},
          .nodes = {"nvidia-uvm", "nvidia0", "nvidiactl"},
          .forbidden = {},
          .container = false,
          .visible = {}};
}
// Returns the only finding, as "grade: what -> remedy".
std::string said(const gpu_machine& m, const driver_answer& d, bool built = true) {
  const auto all = findings_of({.machine = m, .driver = d, .built = built, .findings = {}});
  std::string out;
  for (const finding& f : all)
    out += std::string(out.empty() ? "" : "\n") + std::string(to_string(f.is)) + ": " + f.what +
           (f.remedy.empty() ? "" : " -> " + f.remedy);
  return out;
}

TEST(gpu_report, reads_the_workers_description_of_the_driver) {
  const auto d =
      driver("library /lib/libcuda.so.1\nversion 13000\ndevice 9.0 150754820096 3 NVIDIA H200\nend\n", ended_well);
  EXPECT_EQ(d.library, "/lib/libcuda.so.1");
  EXPECT_EQ(d.version, 13000);
  ASSERT_EQ(d.gpus.size(), 1u);
  EXPECT_EQ(d.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(d.gpus[0].capability, "9.0");
  EXPECT_EQ(d.gpus[0].bytes, 150754820096u);
  EXPECT_EQ(d.gpus[0].mode, 3);
  EXPECT_EQ(d.died, "");
  const auto r = driver(found + "refused 100 CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)\nend\n");
  EXPECT_EQ(r.code, 100);
  EXPECT_EQ(r.refused, "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)");
}

TEST(gpu_report, reports_how_the_process_that_asked_the_driver_died) {
  EXPECT_EQ(driver(found, {exit_status::ending::signalled, 11}).died,
            "killed by signal 11 (SIGSEGV) while it asked the driver");
  EXPECT_EQ(driver(found, {}).died, "hangs while it asked the driver");
  EXPECT_TRUE(said(healthy(), driver(found, {})).starts_with("bad: the driver could not be queried; "));
  EXPECT_NE(read_driver({.not_asked = "no such worker", .description = "", .complaints = "", .end = {}}).died, "");
}

TEST(gpu_findings, contain_no_complaint_on_a_machine_without_a_gpu) {
  EXPECT_EQ(said({}, driver(not_found)), "fact: no NVIDIA GPU and no driver; the host engine computes");
}

TEST(gpu_findings, name_the_missing_driver_of_a_gpu) {
  gpu_machine m;
  m.on_bus = 2;
  EXPECT_EQ(said(m, driver(not_found)), "bad: 2 NVIDIA GPUs, but no driver -> install NVIDIA driver 570 or newer");
  m.container = true;
  EXPECT_NE(said(m, driver(not_found)).find("on the host, and start the container with its GPUs"), std::string::npos);
}

TEST(gpu_findings, name_the_missing_library_if_the_driver_is_loaded) {
  gpu_machine m = healthy();
  EXPECT_EQ(said(m, driver(not_found)),
            "bad: the driver is loaded, but its library libcuda.so.1 is missing -> install the rest of the same "
            "driver (libcuda1 on Debian, libnvidia-compute on Ubuntu)");
  m.container = true;
  EXPECT_NE(said(m, driver(not_found)).find("NVIDIA_DRIVER_CAPABILITIES"), std::string::npos);
}

TEST(gpu_findings, report_a_driver_library_that_cannot_be_loaded) {
  EXPECT_EQ(said(healthy(), driver("unloadable /opt/libcuda.so.1: file too short\nend\n")),
            "bad: libcuda.so.1 was found but cannot be used: /opt/libcuda.so.1: file too short -> make sure that the "
            "driver's own library is found first: check LD_LIBRARY_PATH and ldconfig -p");
}

TEST(gpu_findings, recognize_the_toolkits_stub_library) {
  const std::string text =
      said({}, driver("library /cuda/stubs/libcuda.so\nrefused 34 CUDA_ERROR_STUB_LIBRARY (x)\nend\n"));
  EXPECT_TRUE(text.starts_with("bad: /cuda/stubs/libcuda.so is the toolkit's stub")) << text;
}

TEST(gpu_findings, report_a_driver_that_is_too_old_even_if_it_starts) {
  const std::string expected =
      "bad: the driver is for CUDA 12.2; expected 12.8 or newer -> install NVIDIA driver 570 or newer";
  EXPECT_EQ(said(healthy(), driver("library l\nversion 12020\ndevice 8.0 1 0 NVIDIA A100\nend\n", ended_well)),
            expected);
  EXPECT_EQ(said(healthy(), driver("library l\nversion 12020\nrefused 999 CUDA_ERROR_UNKNOWN (x)\nend\n")), expected);
  EXPECT_EQ(said(healthy(), driver("library l\nversion 12080\ndevice 8.0 1073741824 0 A\nend\n", ended_well)),
            "good: cuda:0 is A, capability 8.0, 1.00 GiB");
}

TEST(gpu_findings, explain_why_the_driver_shows_no_gpu) {
  const driver_answer d = driver(found + "refused 100 CUDA_ERROR_NO_DEVICE (none)\nend\n");
  gpu_machine m = healthy();
  EXPECT_NE(said(m, d).find("MIG"), std::string::npos) << said(m, d);
  m.visible = "7";
  EXPECT_NE(said(m, d).find("CUDA_VISIBLE_DEVICES is \"7\""), std::string::npos) << said(m, d);
  m.forbidden = {"nvidia0", "nvidiactl"};
  EXPECT_NE(said(m, d).find("may not open /dev/nvidia0, /dev/nvidiactl"), std::string::npos) << said(m, d);
  m = healthy();
  m.nodes = {"nvidiactl"};
  EXPECT_NE(said(m, d).find("no /dev/nvidia0"), std::string::npos) << said(m, d);
  EXPECT_NE(said({}, d).find("the driver is not loaded"), std::string::npos) << said({}, d);
  m = {};
  m.container = true;
  EXPECT_NE(said(m, d).find("docker run --gpus all"), std::string::npos) << said(m, d);
  EXPECT_NE(said(healthy(), driver(found + "end\n")).find("shows no GPU"), std::string::npos)
      << "a driver that reports no GPUs is treated in the same way";
}

TEST(gpu_findings, explain_other_failures_of_the_driver_to_start) {
  const auto with = [](int code, gpu_machine m = healthy()) {
    return said(m, driver(found + "refused " + std::to_string(code) + " CUDA_ERROR_X (x)\nend\n"));
  };
  EXPECT_NE(with(802).find("nvidia-fabricmanager"), std::string::npos);
  EXPECT_NE(with(803).find("the kernel has NVIDIA UNIX Open Kernel Module 580.82.07, and the library is "
                           "/lib/libcuda.so.570.26 -> restart"),
            std::string::npos)
      << with(803);
  EXPECT_NE(with(804).find("compat folder"), std::string::npos);
  EXPECT_NE(with(805).find("nvidia-cuda-mps-control"), std::string::npos);
  EXPECT_NE(with(999).find("dmesg"), std::string::npos);
  gpu_machine m = healthy();
  m.nodes = {"nvidia0", "nvidiactl"};
  EXPECT_NE(with(999, m).find("no /dev/nvidia-uvm"), std::string::npos);
}

TEST(gpu_findings, warn_of_compute_modes_that_exclude_standbys_or_all_workers) {
  const std::string text = said(healthy(), driver(found + "device 9.0 1 3 A\ndevice 9.0 1 2 B\nend\n", ended_well));
  EXPECT_NE(text.find("warning: cuda:0 is A"), std::string::npos) << text;
  EXPECT_NE(text.find("standbys = 0"), std::string::npos) << text;
  EXPECT_NE(text.find("bad: cuda:1 is B"), std::string::npos) << text;
}

TEST(gpu_findings, warn_if_faults_are_detected_only_when_the_driver_reports_them) {
  const std::string text =
      said(healthy(), driver(found + "device 9.0 1 0 A\nunheard cannot load NVML\nend\n", ended_well));
  EXPECT_NE(text.find("detected only after 0.5 to 1 s: cannot load NVML -> install libnvidia-ml.so.1"),
            std::string::npos)
      << text;
  EXPECT_EQ(said(healthy(), driver(found + "device 9.0 1 0 A\nend\n", ended_well)).find("noticed"), std::string::npos);
}

TEST(gpu_findings, say_what_reading_the_kernels_log_would_improve) {
  const std::string text =
      said(healthy(), driver(found + "device 9.0 1 0 A\nunnamed cannot read the kernel's log\nend\n", ended_well));
  EXPECT_NE(text.find("within 0.1 s"), std::string::npos) << text;
  EXPECT_NE(text.find("whose fault it is: cannot read the kernel's log"), std::string::npos) << text;
}

TEST(gpu_findings, report_a_gpu_below_the_oldest_supported_capability) {
  const std::string text = said(healthy(), driver(found + "device 7.5 1 0 A\ndevice 10.0 1 0 B\nend\n", ended_well));
  EXPECT_NE(text.find("good: cuda:0 is A"), std::string::npos) << text;
  EXPECT_NE(
      text.find("warning: the kernels of blas and graph need capability 8.0 or newer, which cuda:0 does not have"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("cuda:1 does not have"), std::string::npos) << text;
}

TEST(gpu_findings, report_a_gpu_without_engines_in_this_installation) {
  EXPECT_NE(said(healthy(), driver(found + "device 9.0 1 0 A\nend\n", ended_well), false).find("build Troupe again"),
            std::string::npos);
  EXPECT_EQ(said({}, driver(not_found), false).find("build Troupe again"), std::string::npos)
      << "engines for GPUs are useless without a GPU";
}

TEST(gpu_report, is_usable_with_engines_a_recent_driver_and_a_gpu) {
  gpu_report g{.machine = healthy(),
               .driver = driver(found + "device 9.0 1 0 A\nend\n", ended_well),
               .built = true,
               .findings = {}};
  EXPECT_TRUE(g.usable());
  g.built = false;
  EXPECT_FALSE(g.usable());
  g.built = true;
  g.driver.gpus[0].mode = 2;
  EXPECT_FALSE(g.usable());
  g.driver.gpus[0].mode = 0;
  g.driver.version = 12020;
  EXPECT_FALSE(g.usable());
}

TEST(gpu_machine, is_read_from_the_files_of_linux) {
  const fs::path root = fs::temp_directory_path() / ("troupe-gpus-" + std::to_string(::getpid()));
  const auto write = [&](const std::string& file, const std::string& text) {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  };
  write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  write("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  write("sys/bus/pci/devices/0000:02:00.0/vendor", "0x10de\n");
  write("sys/bus/pci/devices/0000:02:00.0/class", "0x068000\n");  // a bridge, not a GPU
  write("sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
  write("sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n");
  write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.26\nGCC version:  gcc\n");
  write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ:   1\n");
  for (const char* node : {"dev/nvidia0", "dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-caps", "dev/nvme0"})
    write(node, "");
  write(".dockerenv", "");
  const gpu_machine m = look_at_gpus(root);
  fs::remove_all(root);
  EXPECT_EQ(m.on_bus, 1u);
  EXPECT_EQ(m.kernel_driver, "NVIDIA UNIX x86_64 Kernel Module  570.26");
  EXPECT_EQ(m.models, std::vector<std::string>{"NVIDIA H200"});
  EXPECT_EQ(m.nodes, (std::vector<std::string>{"nvidia-uvm", "nvidia0", "nvidiactl"}));
  EXPECT_TRUE(m.forbidden.empty());
  EXPECT_TRUE(m.container);
}

}  // namespace
}  // namespace troupe::apps
