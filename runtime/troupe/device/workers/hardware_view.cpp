// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/workers/hardware.hpp>
#include <troupe/device/workers/hardware_view.hpp>
#include <troupe/device/workers/worker_pool.hpp>
#include <troupe/protocol/descriptions/gpu_description.hpp>

namespace troupe {

static constexpr std::int64_t fresh_ns = 10'000'000, look_timeout_ns = 2'000'000, slice_ns = 200'000;

hardware_view::hardware_view(device_board& board, worker_pool& workers) noexcept
    : board_(board), workers_(workers), cores_(usable_cores()) {}

void hardware_view::note(const std::string& said) {
  protocol::worker_description worker = protocol::parse_worker_description(said);
  // The default limit is all of the GPU's memory.
  const std::uint64_t bytes = protocol::parse_gpu_description(worker.gpu).memory_bytes;
  {
    const std::scoped_lock guard(description_lock_);
    description_ = std::move(worker);
  }
  if (board_.gpu && board_.options.memory_limit == 0 && bytes != 0) board_.memory.set_device_limit(bytes / 256 * 256);
}

std::string hardware_view::gpu_text() const {
  const std::scoped_lock guard(description_lock_);
  return description_.gpu;
}

std::vector<engine_info> hardware_view::engines() const {
  const std::scoped_lock guard(description_lock_);
  return description_.engines;
}

// The worker queries the memory on the thread that also maps memory, and the driver may block that thread for 0.3 s
// while it is busy with the end of another process. A busy or dying worker need not answer, and is not asked again
// until it has.
std::uint64_t hardware_view::ask_for_free_bytes(std::int64_t now) {
  const protocol::free_memory& seen = board_.channel->page().free;
  const std::uint32_t before = seen.looks.load();
  const auto asked = board_.worker.id();
  if (asked_worker_ == asked && before == answered_before_) return seen.free_bytes.load();
  {
    const auto guard = workers_.lock();
    worker_link* const link = workers_.find(asked);
    if (link == nullptr || !link->send_look()) return seen.free_bytes.load();
  }
  asked_worker_ = asked;
  answered_before_ = before;
  // Sleeps in slices, because no wake comes if the worker ends meanwhile.
  for (std::int64_t until = now; until < now + look_timeout_ns && seen.looks.load() == before; until += slice_ns) {
    if (board_.events.state() != device_state::ready || board_.worker.id() != asked) break;
    (void)futex_wait(seen.looks, before, futex_scope::shared, until + slice_ns);
  }
  return seen.free_bytes.load();
}

device_hardware hardware_view::hardware() {
  const std::scoped_lock guard(lock_);
  if (!board_.gpu && hardware_.processors == 0) {
    const std::size_t chosen = board_.options.worker_cores.size();
    hardware_ = host_hardware(chosen != 0 ? static_cast<std::uint32_t>(chosen) : static_cast<std::uint32_t>(cores_));
  }
  if (board_.gpu)
    if (std::string said = gpu_text(); said != parsed_text_) {
      parsed_text_ = std::move(said);
      hardware_ = hardware_of(protocol::parse_gpu_description(parsed_text_));
      for (hardware_peer& p : hardware_.peers)
        if (p.seen.link == peer_link::unknown) p.seen.link = link_between(hardware_.pci, p.pci);
      refresh_at_ns_ = 0;
    }
  const std::int64_t now = now_ns();
  if (now < refresh_at_ns_) return hardware_;
  if (board_.gpu) hardware_.link = troupe::link_of(hardware_.pci);
  if (!board_.channel.exists()) return hardware_;
  refresh_at_ns_ = now + fresh_ns;
  hardware_.free_bytes = std::min(board_.gpu ? ask_for_free_bytes(now) : free_host_bytes(), hardware_.total_bytes);
  return hardware_;
}

std::vector<lane_statistics> hardware_view::lanes() const {
  std::vector<lane_statistics> out;
  if (!board_.channel.exists() || board_.worker.id() == 0) return out;
  for (const protocol::lane_counters& l : board_.channel->page().lanes) {
    const lane_purpose what = l.purpose.load();
    if (what == lane_purpose::none || what > lane_purpose::helper) continue;
    const std::uint64_t done = l.done.load();
    out.push_back({.purpose = what,
                   .priority = l.priority.load(),
                   .completed = done != checked_count::damaged ? done : 0,
                   .together = l.together.load(std::memory_order_relaxed)});
  }
  return out;
}

}  // namespace troupe
