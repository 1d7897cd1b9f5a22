// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "simulated_worker.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <csignal>

#include "simulated_engine.hpp"

namespace troupe::simulation {

simulated_worker::simulated_worker(scene& s, std::uint32_t i, enum isolation how, memory_file file)
    : id(i), isolation(how), channel(std::make_shared<const memory_file>(std::move(file))), scene_(s) {}

simulated_worker::~simulated_worker() = default;

bool simulated_worker::readable(int fd) const noexcept {
  if (fd == socket_fd()) return !send_queue.empty() || socket_closed;
  return fd == exit_fd() && exit_shows;
}

void simulated_worker::receive_greeting(const protocol::worker_settings& s, const memory_file& mailbox) {
  settings_ = s;
  auto seen = mapping::map(mailbox, map_access::read_only);
  if (!seen) scene_.record.fail("the mailbox cannot be mapped: " + seen.error().text());
  mailbox_memory_ = std::move(*seen);
}

bool simulated_worker::has_mapped(std::uint64_t address, std::uint64_t bytes) const noexcept {
  auto at = known_.upper_bound(address);
  if (at == known_.begin()) return false;
  --at;
  return address + bytes <= at->first + at->second;
}

bool simulated_worker::can_write(std::uint64_t address, std::uint64_t bytes) const noexcept {
  return std::none_of(read_only_.begin(), read_only_.end(), [&](const auto& place) {
    return place.first < address + bytes && address < place.first + place.second;
  });
}

void simulated_worker::protect(std::uint64_t address, std::uint64_t bytes, bool read_only) {
  if (read_only)
    read_only_.insert_or_assign(address, bytes);
  else
    read_only_.erase(address);
}

void simulated_worker::die(exit_status how) {
  if (dead) return;
  scene_.record.note("worker dies", id, static_cast<std::uint64_t>(how.value));
  dead = true;
  status = how;
  socket_closed = true;
  // The request that it is running continues until it notices; its writes are no longer visible.
  if (inside() && channel_memory_.data() != nullptr)
    ::mmap(channel_memory_.data(), channel_memory_.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
           channel->fd(), 0);
}

void simulated_worker::die_with_crash_note(int signal, random_bits& r, std::uint64_t ticket) {
  if (begun_) {
    const std::uint64_t guessed = serving && commands_->peek() ? commands_->peek()->ticket - r.below(4) : r.below(20);
    protocol::last_words said{.signal = static_cast<std::uint32_t>(signal)};
    said.ticket = ticket != 0 ? ticket : guessed;
    said.accessed = static_cast<protocol::fault_address>(r.below(3));
    said.address = r.next();
    said.from_outside = ticket == 0 && r.percent(10);
    view_.page().note.write(said);
  }
  die({exit_status::ending::signalled, signal});
}

// Like worker_session::begin.
void simulated_worker::begin() {
  auto seen = mapping::map(*channel, map_access::read_write);
  if (!seen) scene_.record.fail("the channel cannot be mapped: " + seen.error().text());
  channel_memory_ = std::move(*seen);
  view_ = {protocol::layout::for_capacity(settings_.capacity), channel_memory_.data(), mailbox_memory_.data()};
  auto reports = ring_region::open(view_.reports());
  if (!reports) scene_.record.fail("the report ring is invalid: " + reports.error().text());
  commands_.emplace(view_.queue(), view_.pump());
  report_ring_.emplace(*reports);
  reports_.emplace(view_, *report_ring_);
  engines_.emplace(
      "simulated", std::vector<std::string>(),
      engine_context{.abi = troupe_engine_abi, .device = 0, .native_context = nullptr, .lanes = max_lanes});
  if (auto ok = engines_->add("simulated", make_engine(*this)); !ok) scene_.record.fail(ok.error().text());
  pump_.emplace(pump::parts{.channel = view_,
                            .commands = *commands_,
                            .reports = *reports_,
                            .engines = *engines_,
                            .wait = static_cast<wait_policy>(settings_.wait),
                            .lanes = lane_chooser(settings_.lanes, settings_.pool_lanes, settings_.helpers),
                            .inline_bytes = settings_.inline_bytes,
                            .coalesce = settings_.coalesce,
                            .lanes_have_cores = id % 2 == 0,
                            .most_in_order = 3,  // so that sequences are cut
                            .memory_begin = settings_.reserve_begin,
                            .memory_end = settings_.reserve_begin + settings_.reserve_bytes,
                            .threads = false});
  begun_ = true;
  scene_.record.note("worker begins", id);
  if (!never_ready) send_queue.push_back({worker_link::message::kind::ready, "simulated simulated 1", reaction::fatal});
}

// Like worker_session::listen.
void simulated_worker::listen() {
  const message m = inbox.front();
  inbox.pop_front();
  scene_.record.note("worker receives", id, static_cast<std::uint64_t>(m.kind));
  switch (m.kind) {
    case protocol::message::map:
      known_[m.place.address] = m.place.bytes;
      break;
    case protocol::message::protect:
      if (m.place.bytes != 0) protect(m.place.address, m.place.bytes, m.place.read_only != 0);
      for (const protocol::protected_place& p : m.places) protect(p.address, p.bytes, true);
      break;
    case protocol::message::unmap:
      known_.erase(m.place.address);
      break;
    case protocol::message::serve:
      if (serving) return;
      commands_->take_over(m.service.kept, m.service.next_ticket);
      reports_->continue_after(m.service.last_report);
      pump_->begin_generation(m.service.generation);
      pump_->segments_changed(segments_ = m.service.segments);
      serving = true;
      return;
    case protocol::message::ping:
      send_queue.push_back({worker_link::message::kind::pong, {}, {}});
      return;
    case protocol::message::stop:
      told_to_stop = true;
      return;
    default:
      return;
  }
  pump_->segments_changed(segments_ = m.place.number);
}

// A real pump would sleep until the memory is mapped.
bool simulated_worker::can_take() const noexcept {
  if (!serving || in_pump_) return false;
  const auto sent = commands_->peek();
  if (!sent) return true;  // a group may be waiting
  return static_cast<std::int32_t>(segments_ - protocol::header_of(sent->record).segments) >= 0;
}

void simulated_worker::take() {
  in_pump_ = true;
  ++on_stack_;
  const pump::stepped how = pump_->step();
  --on_stack_;
  in_pump_ = false;
  if (dead) return;
  if (how == pump::stepped::corrupt) scene_.record.fail("the worker could not read the mailbox");
  if (how == pump::stepped::nothing) reports_->announce_idle();
}

// Like the end of worker_session::run.
void simulated_worker::end_if_done() {
  if (!told_to_stop || dead || inside()) return;
  if (serving && (!commands_->empty() || !pump_->idle())) return;
  die({exit_status::ending::exited, 0});
}

bool simulated_worker::can_step() const noexcept { return launched && !dead && !hung && !frozen; }

void simulated_worker::step(random_bits& r) {
  if (cannot_start && !begun_) {
    if (r.percent(50)) {
      lacks = r.percent(50);
      send_queue.push_back({worker_link::message::kind::failed, "the simulated worker cannot start",
                            lacks ? reaction::retry_later : reaction::unsupported});
    }
    return die({exit_status::ending::exited, 1});
  }
  if (!begun_) return begin();
  const std::uint32_t first = r.below(4);
  if (first == 0 && !inbox.empty()) return listen();
  if (first == 1 && can_take()) return take();
  if (serving) {
    const std::uint32_t from = r.below(max_lanes);
    for (std::uint32_t i = 0; i < max_lanes; ++i) {
      const std::uint32_t lane = (from + i) % max_lanes;
      if ((in_lanes_ >> lane & 1) != 0) continue;
      in_lanes_ |= 1u << lane;
      ++on_stack_;
      const bool ran = pump_->step_lane(lane);
      --on_stack_;
      in_lanes_ &= ~(1u << lane);
      if (ran || dead) return;
    }
  }
  if (!inbox.empty()) return listen();
  if (can_take()) take();
  end_if_done();
}

}  // namespace troupe::simulation
