// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/peer_info.hpp>

namespace troupe {

std::string_view to_string(peer_link l) noexcept {
  switch (l) {
    case peer_link::unknown:
      break;
    case peer_link::none:
      return "none";
    case peer_link::system:
      return "system";
    case peer_link::node:
      return "node";
    case peer_link::host_bridge:
      return "host bridge";
    case peer_link::pci_switch:
      return "PCIe switch";
    case peer_link::nvlink:
      return "NVLink";
    case peer_link::same_device:
      return "same device";
    case peer_link::memory:
      return "memory";
  }
  return "unknown";
}

}  // namespace troupe
