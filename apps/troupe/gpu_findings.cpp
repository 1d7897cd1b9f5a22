// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Explains why no GPU can be used, from what Linux and the driver report.
#include <algorithm>
#include <apps/cli/terminal.hpp>
#include <apps/troupe/gpu_report.hpp>
#include <cstdlib>
#include <troupe/base/text/cat.hpp>

namespace troupe::apps {
namespace {

using enum finding::grade;

// Values of CUresult.
constexpr int stub_library = 34, no_device = 100, system_not_ready = 802, driver_mismatch = 803,
              compat_not_supported = 804, first_of_mps = 805, last_of_mps = 810;

constexpr int oldest_capability = 8;  // the major number; cmake/troupe_cuda.cmake says what kernels are compiled for

const std::string newer_driver = std::string("install NVIDIA driver ") + oldest_driver + " or newer";
const std::string in_the_container =
    "start the container with its GPUs: docker run --gpus all, with the NVIDIA Container Toolkit on the host";

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "/dev/" : ", /dev/") + name;
  return out;
}

bool has_gpu_node(const gpu_machine& m) {
  return std::any_of(m.nodes.begin(), m.nodes.end(), [](const std::string& name) {
    return name == "dxg" || (name.starts_with("nvidia") && name != "nvidiactl" && name != "nvidia-uvm");
  });
}

finding without_library(const gpu_report& g) {
  const gpu_machine& m = g.machine;
  if (g.driver.unloadable.find("cannot open shared object file: No such file") == std::string::npos)
    return {bad, "libcuda.so.1 was found but cannot be used: " + g.driver.unloadable,
            "make sure that the driver's own library is found first: check LD_LIBRARY_PATH and ldconfig -p"};
  if (!m.kernel_driver.empty() || has_gpu_node(m))
    return {bad, "the driver is loaded, but its library libcuda.so.1 is missing",
            m.container ? in_the_container + ", and compute among NVIDIA_DRIVER_CAPABILITIES"
                        : "install the rest of the same driver (libcuda1 on Debian, libnvidia-compute on Ubuntu)"};
  if (m.on_bus != 0)
    return {bad, cat(m.on_bus, m.on_bus == 1 ? " NVIDIA GPU" : " NVIDIA GPUs", ", but no driver"),
            m.container ? newer_driver + " on the host, and " + in_the_container : newer_driver};
  return {fact, "no NVIDIA GPU and no driver; the host engine computes", ""};
}

finding without_device(const gpu_report& g) {
  const gpu_machine& m = g.machine;
  const std::string said = g.driver.refused.empty() ? "" : ": " + g.driver.refused;
  if (!m.forbidden.empty())
    return {bad, "this user may not open " + listed(m.forbidden) + said,
            "give access to them; on many systems by the group video or render"};
  if (m.kernel_driver.empty() && !has_gpu_node(m))
    return {
        bad, "the driver's library is installed, but the driver is not loaded" + said,
        m.container ? in_the_container : "load it (modprobe nvidia); dmesg says why it was not loaded automatically"};
  if (!has_gpu_node(m))
    return {bad, "the driver is loaded, but there is no /dev/nvidia0" + said,
            m.container ? in_the_container : "create it: nvidia-modprobe -u -c 0, as root"};
  if (m.visible)
    return {bad, "the driver shows no GPU, and CUDA_VISIBLE_DEVICES is \"" + *m.visible + "\"" + said,
            "unset CUDA_VISIBLE_DEVICES, or name GPUs that nvidia-smi -L lists"};
  return {bad, "the driver shows no GPU" + said,
          "check nvidia-smi -L; a GPU in MIG mode is not shown until it has instances: nvidia-smi mig -cgi ... -C"};
}

finding refused(const gpu_report& g) {
  const driver_answer& d = g.driver;
  const std::string what = "the driver does not start: " + d.refused;
  if (d.code == no_device) return without_device(g);
  if (d.code == system_not_ready)
    return {bad, what, "start the fabric manager: systemctl start nvidia-fabricmanager, of the driver's own version"};
  if (d.code == driver_mismatch)
    return {bad, what + "; the kernel has " + g.machine.kernel_driver + ", and the library is " + d.library,
            "restart the machine after a driver update; in a container, restart the container"};
  if (d.code == compat_not_supported)
    return {bad, what, "remove CUDA's compat folder from LD_LIBRARY_PATH, and " + newer_driver};
  if (d.code >= first_of_mps && d.code <= last_of_mps)
    return {bad, what, "restart nvidia-cuda-mps-control -d, or stop it: echo quit | nvidia-cuda-mps-control"};
  if (!g.machine.has_node("nvidia-uvm") && !g.machine.has_node("dxg"))
    return {bad, what + "; there is no /dev/nvidia-uvm",
            g.machine.container ? in_the_container : "create it: nvidia-modprobe -u -c 0, as root"};
  return {bad, what, "check nvidia-smi, and dmesg for Xid"};
}

void add_gpus(const gpu_report& g, std::vector<finding>& out) {
  for (std::size_t i = 0; i < g.driver.gpus.size(); ++i) {
    const driver_answer::gpu& one = g.driver.gpus[i];
    const std::string what = cat("cuda:", i, " is ", one.name, ", capability ", one.capability, ", ",
                                 bytes_text(static_cast<double>(one.bytes)));
    if (one.mode == driver_answer::nobody)
      out.push_back({bad, what + "; its compute mode forbids any use", "nvidia-smi -c DEFAULT, as root"});
    else if (one.mode == driver_answer::one_process)
      out.push_back({warning, what + "; its compute mode allows one process, so no standby can run",
                     "nvidia-smi -c DEFAULT, as root; or open devices with standbys = 0"});
    else
      out.push_back({good, what, ""});
    if (std::atoi(one.capability.c_str()) < oldest_capability)
      out.push_back({warning,
                     cat("the kernels of blas and graph need capability ", oldest_capability,
                         ".0 or newer, which cuda:", i, " does not have"),
                     "use them on another GPU, or on the host engine"});
  }
  if (!g.driver.unheard.empty())
    out.push_back({warning,
                   "a trap or a failed assertion in a kernel is detected only after 0.5 to 1 s: " + g.driver.unheard,
                   "install libnvidia-ml.so.1, a part of the driver"});
  else if (!g.driver.unnamed.empty())
    out.push_back({good,
                   "faults of a GPU are detected within 0.1 s; within 0.01 s if workers may read the kernel's log, "
                   "which says whose fault it is: " +
                       g.driver.unnamed,
                   ""});
}

}  // namespace

std::vector<finding> findings_of(const gpu_report& g) {
  const driver_answer& d = g.driver;
  std::vector<finding> out;
  if (!d.died.empty())
    out.push_back({bad, "the driver could not be queried; the process that asked it: " + d.died,
                   "check nvidia-smi, and dmesg for Xid; a GPU that does not answer may need a reset"});
  else if (!d.unloadable.empty())
    out.push_back(without_library(g));
  else if (d.code == stub_library)
    out.push_back({bad, d.library + " is the toolkit's stub, which is only for linking",
                   "remove the folder stubs from LD_LIBRARY_PATH, and " + newer_driver + " if none is installed"});
  else if (d.version != 0 && d.version < oldest_cuda)
    out.push_back(
        {bad,
         "the driver is for CUDA " + cuda_version(d.version) + "; expected " + cuda_version(oldest_cuda) + " or newer",
         newer_driver + (g.machine.container ? " on the host" : "")});
  else if (d.code != 0)
    out.push_back(refused(g));
  else if (d.gpus.empty())
    out.push_back(without_device(g));
  else
    add_gpus(g, out);
  if (!g.built && (!d.gpus.empty() || g.machine.on_bus != 0))
    out.push_back({warning, "this installation has no engines for GPUs: it was built without the CUDA toolkit",
                   "install the CUDA toolkit, " + cuda_version(oldest_cuda) + " or newer, and build Troupe again"});
  return out;
}

}  // namespace troupe::apps
