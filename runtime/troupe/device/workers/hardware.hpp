// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/device/statistics.hpp>
#include <troupe/protocol/gpu_description.hpp>
#include <vector>

namespace troupe {

/// What a worker says of its device. Without what changes: `link` and `free_bytes`.
device_hardware hardware_of(const protocol::gpu_description& gpu);

/// How a device is linked to the host now: "32.0 GT/s PCIe x16". Empty when the system does not say. `devices` is where
/// Linux shows PCI devices.
std::string link_of(const std::string& pci, const std::string& devices = "/sys/bus/pci/devices");

/// What lies between two PCI devices, as far as the system says.
peer_link link_between(const std::string& pci, const std::string& other,
                       const std::string& devices = "/sys/bus/pci/devices");

/// Of the machine itself, without what changes. `proc` is where Linux shows it.
device_hardware host_hardware(std::uint32_t cores, const std::string& proc = "/proc");
std::uint64_t machine_bytes() noexcept;
std::uint64_t free_host_bytes(const std::string& proc = "/proc");

}  // namespace troupe
