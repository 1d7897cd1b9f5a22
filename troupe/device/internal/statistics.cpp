// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What statistics say of the hardware and of the worker's lanes.
#include <algorithm>
#include <troupe/base/clock.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/hardware.hpp>

namespace troupe {

static constexpr std::int64_t fresh_ns = 10'000'000, patience_ns = 10'000'000, slice_ns = 200'000;

// The worker looks, on the thread that maps its memory. One that is busy, or dying, need not answer.
std::uint64_t device_core::ask_for_free_bytes(std::int64_t now) {
  const protocol::device_room& room = channel_.page().room;
  const std::uint32_t before = room.looks.load();
  const worker_id asked = serving_.load();
  {
    const std::scoped_lock guard(link_lock_);
    worker_link* const link = link_of(asked);
    if (link == nullptr || !link->send_look()) return room.free_bytes.load();
  }
  // Nobody wakes who waits for a worker that has gone meanwhile.
  for (std::int64_t until = now; until < now + patience_ns && room.looks.load() == before; until += slice_ns) {
    if (state() != device_state::ready || serving_.load() != asked) break;
    (void)futex_wait(room.looks, before, futex_scope::shared, until + slice_ns);
  }
  return room.free_bytes.load();
}

device_hardware device_core::hardware() {
  const std::scoped_lock guard(hardware_lock_);
  if (!workers_allocate_ && hardware_.processors == 0) {
    const std::size_t chosen = options_.worker_cores.size();
    hardware_ = host_hardware(chosen != 0 ? static_cast<std::uint32_t>(chosen) : static_cast<std::uint32_t>(cores_));
  }
  if (workers_allocate_)
    if (std::string said = description(); said != described_) {
      described_ = std::move(said);
      hardware_ = hardware_of(protocol::parse_gpu_description(described_));
      for (hardware_peer& p : hardware_.peers)
        if (p.seen.link == peer_link::unknown) p.seen.link = link_between(hardware_.pci, p.pci);
      look_again_ns_ = 0;
    }
  const std::int64_t now = now_ns();
  if (now < look_again_ns_) return hardware_;
  if (workers_allocate_) hardware_.link = troupe::link_of(hardware_.pci);
  if (channel_.base == nullptr) return hardware_;
  look_again_ns_ = now + fresh_ns;
  hardware_.free_bytes =
      std::min(workers_allocate_ ? ask_for_free_bytes(now) : free_host_bytes(), hardware_.total_bytes);
  return hardware_;
}

std::vector<lane_statistics> device_core::lanes() const {
  std::vector<lane_statistics> out;
  if (channel_.base == nullptr || serving_.load() == 0) return out;
  for (const protocol::lane_counters& l : channel_.page().lanes) {
    const lane_purpose what = l.purpose.load();
    if (what == lane_purpose::none || what > lane_purpose::helper) continue;
    out.push_back({.purpose = what, .priority = l.priority.load(), .completed = l.done.load()});
  }
  return out;
}

}  // namespace troupe
