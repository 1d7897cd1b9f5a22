// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/sysinfo.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <troupe/base/text/key_values.hpp>
#include <troupe/device/workers/hardware.hpp>

namespace troupe {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

device_hardware hardware_of(const protocol::gpu_description& gpu) {
  device_hardware out;
  out.model = gpu.name;
  out.capability_major = gpu.capability_major;
  out.capability_minor = gpu.capability_minor;
  out.processors = gpu.multiprocessors;
  out.pci = gpu.pci;
  out.driver = gpu.driver;
  out.total_bytes = gpu.memory_bytes;
  for (const protocol::gpu_description::peer& p : gpu.peers) {
    hardware_peer peer;
    peer.pci = p.pci;
    peer.seen.access = p.access;
    peer.seen.performance_rank = p.performance_rank;
    peer.seen.native_atomics = p.native_atomics;
    if (p.native_atomics) peer.seen.link = peer_link::nvlink;
    out.peers.push_back(std::move(peer));
  }
  return out;
}

static std::string system_name(std::string pci) {
  std::transform(pci.begin(), pci.end(), pci.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  return pci;
}

// The folder of a PCI device is a symbolic link into a tree of host bridges, ports and switches.
peer_link link_between(const std::string& pci, const std::string& other, const std::string& devices) {
  const auto folder = [&devices](const std::string& name) { return devices + "/" + system_name(name); };
  if (pci.empty() || other.empty() || (pci + other).find('/') != std::string::npos) return peer_link::unknown;
  std::error_code bad;
  const auto one = std::filesystem::canonical(folder(pci), bad);
  if (bad) return peer_link::unknown;
  const auto two = std::filesystem::canonical(folder(other), bad);
  if (bad) return peer_link::unknown;
  if (one == two) return peer_link::same_device;
  const auto [a, b] = std::mismatch(one.begin(), one.end(), two.begin(), two.end());
  const auto below_bridge = [](const std::filesystem::path& path, std::filesystem::path::const_iterator at) {
    const auto bridge =
        std::find_if(path.begin(), at, [](const auto& part) { return part.string().starts_with("pci"); });
    return bridge == at ? -1 : static_cast<int>(std::distance(bridge, at)) - 1;
  };
  const int shared = below_bridge(one, a);
  if (shared > 0) return peer_link::pci_switch;
  if (shared == 0) return peer_link::host_bridge;
  const std::string here = first_line(folder(pci) + "/numa_node"), there = first_line(folder(other) + "/numa_node");
  if (here.empty() || there.empty()) return peer_link::unknown;
  return here == there ? peer_link::node : peer_link::system;
}

std::string link_of(const std::string& pci, const std::string& devices) {
  if (pci.empty() || pci.find('/') != pci.npos) return {};
  const std::string folder = devices + "/" + system_name(pci) + "/", speed = first_line(folder + "current_link_speed"),
                    width = first_line(folder + "current_link_width");
  if (number_of(speed) == 0 || number_of(width) == 0) return {};
  return speed + " x" + width;
}

std::uint64_t machine_bytes() noexcept {
  struct ::sysinfo info;
  return ::sysinfo(&info) == 0 ? std::uint64_t{info.totalram} * info.mem_unit : std::uint64_t{4} << 30;
}

device_hardware host_hardware(std::uint32_t cores, const std::string& proc) {
  device_hardware out;
  std::ifstream processors(proc + "/cpuinfo");
  out.model = value_of(processors, "model name", key_values::colon_between);
  out.processors = cores;
  out.total_bytes = machine_bytes();
  return out;
}

std::uint64_t free_host_bytes(const std::string& proc) {
  std::ifstream memory(proc + "/meminfo");
  return number_of(value_of(memory, "MemAvailable", key_values::colon_between)) << 10;
}

}  // namespace troupe
