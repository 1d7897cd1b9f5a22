// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/core/device_access.hpp>
#include <troupe/device/peers.hpp>

namespace troupe {

pending<void> detail::copy_between(const device& to_device, const memory_range& to, const device& from_device,
                                   const memory_range& from, const call_options& o) {
  if (from_device == to_device) return copy(to_device, to, from, o);
  const auto &core = device_access::core(to_device), &other = device_access::core(from_device);
  for (const auto& c : {core, other})
    if (c->admission.left()) return make_ready<void>(c->admission.refusal());
  auto answer = ref<peer_answer>::adopt(new peer_answer(core));
  answer->source.core = other;
  core->peers.copy(other->shared(other->peers), to, from, o, device_access::scope(to_device), answer);
  return pending<void>(std::move(answer));
}

result<peer_info> peer(const device& gpu, const device& other) {
  const auto &core = detail::device_access::core(gpu), &there = detail::device_access::core(other);
  for (const auto& c : {core, there})
    if (c->admission.left()) return c->admission.refusal();
  return core->peers.seen(there->peers);
}

result<void> enable_peer(const device& gpu, const device& other) {
  const auto &core = detail::device_access::core(gpu), &there = detail::device_access::core(other);
  for (const auto& c : {core, there})
    if (c->admission.left()) return c->admission.refusal();
  return core->peers.enable(there->shared(there->peers));
}

result<std::vector<std::vector<device>>> islands(const list<device>& devices) {
  std::vector<std::vector<device>> out;
  const auto access = [](const device& from, const device& to) -> result<bool> {
    if (from == to) return true;
    return peer(from, to).transform([](const peer_info& seen) { return seen.access; });
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
