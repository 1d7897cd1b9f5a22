// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <troupe/device/workers/hardware.hpp>

namespace troupe {
namespace {

namespace fs = std::filesystem;

class files {
 public:
  files() {
    char name[] = "/tmp/troupe-hardware-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~files() { fs::remove_all(path); }
  files(const files&) = delete;
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(path + "/" + file).parent_path());
    std::ofstream(path + "/" + file) << text;
  }
  std::string path;
};

device_hardware parsed(const std::string& said) { return hardware_of(protocol::parse_gpu_description(said)); }

TEST(hardware, is_parsed_from_a_workers_description) {
  const device_hardware h = parsed(
      "name NVIDIA H200\ncapability 9.0\npci 0000:3B:00.0\nmemory 150110011392\nmultiprocessors 132\n"
      "driver 13.0\nsomething else\n");
  EXPECT_EQ(h.model, "NVIDIA H200");
  EXPECT_EQ(h.capability_major, 9u);
  EXPECT_EQ(h.capability_minor, 0u);
  EXPECT_EQ(h.pci, "0000:3B:00.0");
  EXPECT_EQ(h.total_bytes, 150110011392u);
  EXPECT_EQ(h.processors, 132u);
  EXPECT_EQ(h.driver, "13.0");
  EXPECT_EQ(parsed("capability 12.1\n").capability_minor, 1u);
}

TEST(hardware, is_unknown_if_a_workers_description_is_damaged) {
  for (const char* said : {"", "\n", "name", "capability x.y\nmemory much\n", "memory\nnames x\n", "capability 9"}) {
    const device_hardware h = parsed(said);
    EXPECT_EQ(h.model, "") << said;
    EXPECT_EQ(h.capability_minor, 0u) << said;
    EXPECT_EQ(h.total_bytes, 0u) << said;
  }
}

TEST(hardware, has_the_link_that_the_system_shows_for_its_pci_address) {
  const files sys;
  sys.write("0000:3b:00.0/current_link_speed", "32.0 GT/s PCIe\n");
  sys.write("0000:3b:00.0/current_link_width", "16\n");
  EXPECT_EQ(link_of("0000:3B:00.0", sys.path), "32.0 GT/s PCIe x16");
  sys.write("0000:3c:00.0/current_link_speed", "Unknown\n");
  sys.write("0000:3c:00.0/current_link_width", "0\n");
  EXPECT_EQ(link_of("0000:3c:00.0", sys.path), "");
  EXPECT_EQ(link_of("0000:3d:00.0", sys.path), "") << "there is no such device";
  EXPECT_EQ(link_of("", sys.path), "");
  EXPECT_EQ(link_of("../0000:3b:00.0", sys.path), "");
}

TEST(hardware, of_the_host_is_read_from_proc) {
  const files proc;
  proc.write("cpuinfo", "processor\t: 0\nmodel\t\t: 143\nmodel name\t: A Processor @ 2 GHz\n");
  proc.write("meminfo", "MemTotal:       100 kB\nMemFree:        10 kB\nMemAvailable:   50 kB\n");
  const device_hardware h = host_hardware(3, proc.path);
  EXPECT_EQ(h.model, "A Processor @ 2 GHz");
  EXPECT_EQ(h.processors, 3u);
  EXPECT_EQ(free_host_bytes(proc.path), 50u << 10);
  EXPECT_EQ(h.total_bytes, machine_bytes());
  EXPECT_EQ(h.pci + h.link + h.driver, "");
  EXPECT_EQ(host_hardware(1, proc.path + "/none").model, "");
}

TEST(hardware, includes_the_other_gpus_that_a_worker_reports) {
  const device_hardware h = parsed(
      "name NVIDIA H200\npeer 0000:3C:00.0 1 0 1\npeer 0000:5a:00.0 0 2 0\npeer 0000:00:00.0 x\npeers 1 2 3 4\npeer\n");
  ASSERT_EQ(h.peers.size(), 2u);
  EXPECT_EQ(h.peers[0].pci, "0000:3C:00.0");
  EXPECT_TRUE(h.peers[0].seen.access);
  EXPECT_TRUE(h.peers[0].seen.native_atomics);
  EXPECT_EQ(h.peers[0].seen.link, peer_link::nvlink) << "no other link carries all atomic operations";
  EXPECT_FALSE(h.peers[1].seen.access);
  EXPECT_FALSE(h.peers[1].seen.native_atomics);
  EXPECT_EQ(h.peers[1].seen.performance_rank, 2);
  EXPECT_EQ(h.peers[1].seen.link, peer_link::unknown);
}

TEST(hardware, has_the_peer_link_that_the_systems_device_tree_shows) {
  const files sys;
  const std::string devices = sys.path + "/bus";
  fs::create_directories(devices);
  const auto add = [&](const std::string& where, const std::string& name, const std::string& node) {
    sys.write("devices/" + where + "/" + name + "/numa_node", node);
    fs::create_directory_symlink(sys.path + "/devices/" + where + "/" + name, devices + "/" + name);
  };
  add("pci0000:3a/0000:3a:00.0/0000:3b:00.0/0000:3c:04.0", "0000:3d:00.0", "0\n");
  add("pci0000:3a/0000:3a:00.0/0000:3b:00.0/0000:3c:08.0", "0000:3e:00.0", "0\n");
  add("pci0000:3a/0000:3a:01.0", "0000:4b:00.0", "0\n");
  add("pci0000:5a/0000:5a:00.0", "0000:5b:00.0", "0\n");
  add("pci0000:8a/0000:8a:00.0", "0000:8b:00.0", "1\n");
  const auto link = [&](const char* one, const char* two) { return link_between(one, two, devices); };
  EXPECT_EQ(link("0000:3D:00.0", "0000:3e:00.0"), peer_link::pci_switch);
  EXPECT_EQ(link("0000:3d:00.0", "0000:4B:00.0"), peer_link::host_bridge);
  EXPECT_EQ(link("0000:3d:00.0", "0000:5b:00.0"), peer_link::node);
  EXPECT_EQ(link("0000:8b:00.0", "0000:3d:00.0"), peer_link::system);
  EXPECT_EQ(link("0000:8b:00.0", "0000:8B:00.0"), peer_link::same_device);
  EXPECT_EQ(link("0000:8b:00.0", "0000:99:00.0"), peer_link::unknown);
  EXPECT_EQ(link("0000:8b:00.0", ""), peer_link::unknown);
  EXPECT_EQ(link("0000:8b:00.0", "../bus/0000:8b:00.0"), peer_link::unknown);
}

}  // namespace
}  // namespace troupe
