// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/core.hpp>
#include <troupe/device/device.hpp>

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

pending<void> device::copy_from_device(const device& other, const memory_range& to, const memory_range& from,
                                       const call_options& o) const {
  if (other == *this) return copy_bytes(way::across, to, from, o);
  auto answer = ref<peer_answer>::adopt(new peer_answer(core_));
  answer->source.core = other.core_;
  core_->peers.copy(other.core_->shared(other.core_->peers), to, from, o, scope_, answer);
  return pending<void>(std::move(answer));
}

result<peer_info> device::peer(const device& other) const { return core_->peers.seen(other.core_->peers); }
result<void> device::enable_peer(const device& other) const {
  return core_->peers.enable(other.core_->shared(other.core_->peers));
}

result<std::vector<std::vector<device>>> islands(const list<device>& devices) {
  std::vector<std::vector<device>> out;
  const auto access = [](const device& from, const device& to) -> result<bool> {
    if (from == to) return true;
    return from.peer(to).transform([](const peer_info& seen) { return seen.access; });
  };
  for (const device& d : devices) {
    std::vector<device>* home = nullptr;
    for (std::vector<device>& group : out) {
      bool all = true;
      for (const device& member : group)
        for (const auto& there : {access(d, member), access(member, d)}) {
          if (!there) return there.error();
          all &= *there;
        }
      if (all && home == nullptr) home = &group;
    }
    if (home == nullptr) home = &out.emplace_back();
    home->push_back(d);
  }
  return out;
}

}  // namespace troupe
