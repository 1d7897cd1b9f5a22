// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// The connection between two devices, from the farthest to the nearest.
enum class peer_link : std::uint8_t {
  unknown,      ///< the system does not say
  none,         ///< they have no memory in common: one is a GPU, the other of the host engine
  system,       ///< PCIe and the connection between two sockets or other groups of processors
  node,         ///< several PCIe host bridges of one such group
  host_bridge,  ///< one PCIe host bridge
  pci_switch,   ///< PCIe switches only
  nvlink,       ///< NVLink, or another link that carries every atomic operation
  same_device,  ///< two devices that use the same GPU
  memory,       ///< two devices of the host engine
};
std::string_view to_string(peer_link l) noexcept;

/// The access of one device to another.
struct peer_info {
  bool access = false;  ///< its workers read the other's memory directly; otherwise copies go through host memory
  peer_link link = peer_link::unknown;
  bool native_atomics = false;        ///< every atomic operation of CUDA works across the link
  std::int32_t performance_rank = 0;  ///< of the link, as the driver counts: lower is faster; 0 without a ranking
};

/// Another GPU of the machine, as the driver describes it.
struct hardware_peer {
  std::string pci;  ///< its PCI address
  peer_info seen;
};

/// The copies to a device from one other device.
struct peer_statistics {
  std::string from;                ///< name of the other device
  bool direct = false;             ///< true if copies read its memory directly, false if they go through host memory
  std::uint64_t copies = 0;        ///< number of copies that succeeded
  std::uint64_t bytes = 0;         ///< bytes that these copied
  std::uint64_t seen_bytes = 0;    ///< bytes of the other's memory that this device's workers have mapped
  std::uint64_t shared_bytes = 0;  ///< bytes of host memory that both have mapped, for copies; count against no limit
};

}  // namespace troupe
