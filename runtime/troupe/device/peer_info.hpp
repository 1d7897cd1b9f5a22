// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// The connection between two devices, from far to near.
enum class peer_link : std::uint8_t {
  unknown,      ///< the system does not say
  none,         ///< they have no memory in common: a GPU and the host engine
  system,       ///< PCIe, and the connection of two sockets or other groups of processors
  node,         ///< several PCIe host bridges of one such group
  host_bridge,  ///< one PCIe host bridge
  pci_switch,   ///< PCIe switches only
  nvlink,       ///< NVLink, or what else carries every atomic operation
  same_device,  ///< two devices on one GPU
  memory,       ///< two devices of the host engine
};
std::string_view to_string(peer_link l) noexcept;

/// The access that one device has to another.
struct peer_info {
  bool access = false;  ///< its workers read the other's memory directly; else copies go through host memory
  peer_link link = peer_link::unknown;
  bool native_atomics = false;        ///< every atomic operation of CUDA works across the link
  std::int32_t performance_rank = 0;  ///< of the link, as the driver counts: less is faster. 0 where nothing is ranked
};

/// The driver's description of another GPU of the machine.
struct hardware_peer {
  std::string pci;  ///< which one it is
  peer_info seen;
};

/// Copies to a device from one other.
struct peer_statistics {
  std::string from;                ///< the other's name
  bool direct = false;             ///< they read its memory; else they go through host memory
  std::uint64_t copies = 0;        ///< that have gone well
  std::uint64_t bytes = 0;         ///< of those
  std::uint64_t seen_bytes = 0;    ///< of the other's memory, which the workers of this one see
  std::uint64_t shared_bytes = 0;  ///< host memory that workers of both see, for copies; counts against no limit
};

}  // namespace troupe
