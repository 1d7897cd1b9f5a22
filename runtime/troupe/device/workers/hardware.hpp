// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/device/statistics.hpp>
#include <troupe/protocol/descriptions/gpu_description.hpp>
#include <vector>

namespace troupe {

/// Returns the hardware that a worker describes, without `link` and `free_bytes`, which change over time.
device_hardware hardware_of(const protocol::gpu_description& gpu);

/// Returns the device's current link to the host, "32.0 GT/s PCIe x16"; empty if the system does not report it.
/// `devices` is the folder in which Linux lists PCI devices.
std::string link_of(const std::string& pci, const std::string& devices = "/sys/bus/pci/devices");

/// Returns the connection between two PCI devices, as far as the system reports it.
peer_link link_between(const std::string& pci, const std::string& other,
                       const std::string& devices = "/sys/bus/pci/devices");

/// Returns the machine's own hardware, without `link` and `free_bytes`, which change over time. `proc` is the folder of
/// the proc file system.
device_hardware host_hardware(std::uint32_t cores, const std::string& proc = "/proc");
std::uint64_t machine_bytes() noexcept;
std::uint64_t free_host_bytes(const std::string& proc = "/proc");

}  // namespace troupe
