// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "simulated_worker.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include <troupe/memory/requests.hpp>
#include <troupe/protocol/report.hpp>

#include "simulated_engine.hpp"

namespace troupe::simulation {

void scene::place(std::uint64_t address, const memory_file& memory, bool read_only) {
  struct ::stat s;
  if (::fstat(memory.fd(), &s) != 0) violated("a memory file that is none");
  if (const auto old = placed_.find(address); old != placed_.end()) {
    if (old->second.file == s.st_ino) return;
    placed_.erase(old);
  }
  auto made = mapping::map(memory, read_only ? map_access::read_only : map_access::read_write, address);
  if (!made) violated("memory cannot be placed: " + made.error().text());
  placed_.emplace(address, placed{s.st_ino, std::move(*made)});
}

simulated_worker::simulated_worker(scene& s, std::uint32_t i, enum isolation how, memory_file file)
    : id(i), isolation(how), channel(std::make_shared<const memory_file>(std::move(file))), scene_(s) {}

simulated_worker::~simulated_worker() = default;

bool simulated_worker::readable(int fd) const noexcept {
  if (fd == socket_fd()) return !send_queue.empty() || socket_closed;
  return fd == exit_fd() && exit_shows;
}

void simulated_worker::greeted(const protocol::worker_settings& s, const memory_file& mailbox) {
  settings_ = s;
  auto seen = mapping::map(mailbox, map_access::read_only);
  if (!seen) scene_.violated("the mailbox cannot be mapped: " + seen.error().text());
  mailbox_memory_ = std::move(*seen);
}

bool simulated_worker::knows(std::uint64_t address, std::uint64_t bytes) const noexcept {
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
  // What it is in the middle of goes on until it notices; nobody sees that any more.
  if (inside() && channel_memory_.data() != nullptr)
    ::mmap(channel_memory_.data(), channel_memory_.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
           channel->fd(), 0);
}

void simulated_worker::die_with_a_note(int signal, random_bits& r, std::uint64_t ticket) {
  if (begun_) {
    protocol::crash_note& note = view_.page().last_words;
    const std::uint64_t guessed = serving && commands_->peek() ? commands_->peek()->ticket - r.below(4) : r.below(20);
    note.ticket = ticket != 0 ? ticket : guessed;
    note.accessed = static_cast<protocol::fault_address>(r.below(3));
    note.address = r.next();
    note.from_outside = ticket == 0 && r.percent(10);
    note.signal.store(static_cast<std::uint32_t>(signal));
  }
  die({exit_status::ending::signalled, signal});
}

// As worker_session::begin.
void simulated_worker::begin() {
  auto seen = mapping::map(*channel, map_access::read_write);
  if (!seen) scene_.violated("the channel cannot be mapped: " + seen.error().text());
  channel_memory_ = std::move(*seen);
  view_ = {protocol::layout::for_capacity(settings_.capacity), channel_memory_.data(), mailbox_memory_.data()};
  auto reports = ring_region::open(view_.reports());
  if (!reports) scene_.violated("the report ring is none: " + reports.error().text());
  commands_.emplace(view_.queue(), view_.pump());
  report_ring_.emplace(*reports);
  reports_.emplace(view_, *report_ring_);
  engines_.emplace(
      "simulated", std::vector<std::string>(),
      engine_context{.abi = troupe_engine_abi, .device = 0, .native_context = nullptr, .lanes = max_lanes});
  if (auto ok = engines_->add("simulated", make_engine(*this)); !ok) scene_.violated(ok.error().text());
  pump_.emplace(pump::parts{.channel = view_,
                            .commands = *commands_,
                            .reports = *reports_,
                            .engines = *engines_,
                            .wait = static_cast<wait_policy>(settings_.wait),
                            .lanes = lane_chooser(settings_.lanes, settings_.pool, settings_.helpers),
                            .inline_bytes = settings_.inline_bytes,
                            .coalesce = settings_.coalesce,
                            .memory_begin = settings_.reserve_begin,
                            .memory_end = settings_.reserve_begin + settings_.reserve_bytes,
                            .threads = false});
  begun_ = true;
  scene_.record.note("worker begins", id);
  if (!never_ready) send_queue.push_back({worker_link::news::kind::ready, "simulated simulated 1", reaction::fatal});
}

// As worker_session::listen.
void simulated_worker::listen() {
  const message m = inbox.front();
  inbox.pop_front();
  scene_.record.note("worker hears", id, static_cast<std::uint64_t>(m.kind));
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
      send_queue.push_back({worker_link::news::kind::alive, {}, {}});
      return;
    case protocol::message::stop:
      told_to_stop = true;
      return;
    default:
      return;
  }
  pump_->segments_changed(segments_ = m.place.number);
}

// A real pump would sleep until the memory has come.
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
  if (how == pump::stepped::corrupt) scene_.violated("the worker could not read the mailbox");
  if (how == pump::stepped::nothing) reports_->announce_idle();
}

// As worker_session::run at its end.
void simulated_worker::end_if_done() {
  if (!told_to_stop || dead || inside()) return;
  if (serving && (!commands_->empty() || !pump_->idle())) return;
  die({exit_status::ending::exited, 0});
}

bool simulated_worker::can_step() const noexcept { return launched && !dead && !hung && !frozen; }

void simulated_worker::step(random_bits& r) {
  if (cannot_start && !begun_) {
    if (r.percent(50))
      send_queue.push_back(
          {worker_link::news::kind::failed, "the simulated worker cannot start", reaction::unsupported});
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

void simulated_worker::write_wildly(random_bits& r) {
  const auto [address, bytes] = scene_.somewhere(r);
  if (!serving || dead || bytes == 0) return;
  scene_.record.note("worker writes wildly", id);
  if (!can_write(address, bytes)) return die({exit_status::ending::signalled, SIGSEGV});
  dishonest = true;
  for (std::uint64_t i = 0; i < bytes; ++i) reinterpret_cast<std::uint8_t*>(address)[i] = r.next() & 0xff;
  scene_.written_wildly();
}

// Of the next transfer in parts, which it has not begun.
bool simulated_worker::claim_progress(random_bits& r) {
  const auto next = commands_->peek();
  if (!next) return false;
  const protocol::command_header head = protocol::header_of(next->record);
  const std::byte* const payload = protocol::payload_of(next->record).data();
  if (head.opcode == opcode_of<memory::stream_out>) {
    const auto t = decode<memory::stream_out>(payload);
    if (!knows(t.staging, sizeof(staging_header))) return false;
    auto& h = *reinterpret_cast<staging_header*>(t.staging);
    h.filled.store(r.between(1, static_cast<std::uint32_t>(t.chunks.value())));
  } else if (head.opcode == opcode_of<memory::stream_in>) {
    const memory_range progress = decode<memory::stream_in>(payload).progress.range();
    if (!knows(progress.address, progress.bytes)) return false;
    reinterpret_cast<staging_header*>(progress.address)->emptied.store(r.between(1, 4));
  } else {
    return false;
  }
  dishonest = true;
  scene_.record.note("worker claims progress", id);
  return true;
}

void simulated_worker::write_garbage(random_bits& r) {
  if (!begun_ || dead) return;
  if (serving && r.percent(80) && claim_progress(r)) return;
  dishonest = true;
  scene_.record.note("worker writes garbage", id);
  ++scene_.record.garbage;
  const std::uint32_t slot = r.below(settings_.capacity), lane = r.below(max_lanes);
  const auto near = [&r](std::uint64_t v) { return r.percent(50) ? v + r.below(5) - 2 : r.next() >> r.below(64); };
  auto& done = view_.page().lanes[lane].done;
  const std::uint32_t kind = r.below(transfers.empty() ? 7 : 10);
  if (kind > 2) frozen = true;  // its own lanes rely on these
  switch (kind) {
    case 0:
      view_.slot(slot).store(near(view_.slot(slot).load()));
      break;
    case 1:
      for (std::byte& b : view_.cell(slot).bytes) b = static_cast<std::byte>(r.next());
      break;
    case 2:
      view_.page().epoch.store(static_cast<std::uint32_t>(r.next()));
      view_.page().idle_epoch.store(static_cast<std::uint32_t>(r.next()));
      view_.page().pump_sleeps.store(static_cast<std::uint32_t>(r.next()));
      break;
    case 3:
      done.store(near(done.load() + 1));
      break;
    case 4:  // a log that fits a slot, and a count that covers it
      view_.log(lane, done.load() + 1)
          .store(protocol::log_word(near(commands_->empty() ? 1 : commands_->peek()->ticket), slot));
      done.fetch_add(1);
      break;
    case 5: {
      const auto ring = view_.reports();
      for (std::uint32_t n = r.between(1, 40); n > 0; --n)
        ring[r.below(r.percent(50) ? 512 : ring.size())] = static_cast<std::byte>(r.next());
      break;
    }
    case 7:
    case 8:
    case 9: {
      staging_header& h = *transfers[r.below(transfers.size())];
      auto& count = r.percent(50) ? h.filled : h.emptied;
      count.store(near(count.load()));
      break;
    }
    case 6: {  // a report that looks like one
      std::array<std::byte, sizeof(protocol::report_header) + 16> bytes{};
      const std::uint64_t ticket = near(commands_->empty() ? 1 : commands_->peek()->ticket);
      const protocol::report_header head{.number = near(1),
                                         .ticket = ticket,
                                         .cause_ticket = ticket,
                                         .code = 0,
                                         .slot = slot,
                                         .reaction = static_cast<std::uint8_t>(r.below(8)),
                                         .chain = static_cast<std::uint8_t>(r.below(3)),
                                         .reserved = 0};
      std::memcpy(bytes.data(), &head, sizeof head);
      if (const ring_claim c = report_ring_->claim(bytes.size())) {
        std::memcpy(c.data, bytes.data(), bytes.size());
        report_ring_->publish(c);
      }
      break;
    }
  }
}

simulated_link::simulated_link(std::shared_ptr<simulated_worker> w) : worker_(std::move(w)) {
  ++alive;
  worker_->held = true;
}

simulated_link::~simulated_link() {
  --alive;
  worker_->held = false;
  worker_->socket_closed = true;
  if (worker_->isolation == isolation::thread || !worker_->launched) worker_->die({exit_status::ending::exited, 0});
}

result<void> simulated_link::greet(const protocol::greeting& hello, const memory_file& mailbox) {
  worker_->greeted(hello.settings, mailbox);
  return {};
}

result<void> simulated_link::launch(const std::string&, const std::vector<std::string>&) {
  if (worker_->cannot_launch) return error(reaction::retry_later, "simulation", "no process can be started");
  worker_->launched = true;
  worker_->where().record.note("worker launched", worker_->id);
  return {};
}

result<void> simulated_link::send_map(std::uint64_t address, const std::shared_ptr<const memory_file>& memory,
                                      std::uint32_t number, bool read_only) {
  worker_->missed_memory |= worker_->deaf;
  if (worker_->deaf) return error(reaction::retry_later, "simulation", "the worker does not read its messages");
  worker_->where().place(address, *memory, read_only);
  worker_->inbox.push_back({protocol::message::map, {address, memory->size(), number}, {}});
  return {};
}

// What may only be read in one worker is written by another: all are in this process, so each remembers it for itself.
result<void> simulated_link::send_protect(const protocol::protected_place& place, std::uint32_t number,
                                          bool read_only) {
  worker_->missed_memory |= worker_->deaf;
  if (worker_->deaf) return error(reaction::retry_later, "simulation", "the worker does not read its messages");
  worker_->inbox.push_back({protocol::message::protect, {place.address, place.bytes, number, read_only}, {}});
  return {};
}

result<void> simulated_link::send_protected(std::span<const protocol::protected_place> all, std::uint32_t number) {
  worker_->inbox.push_back({protocol::message::protect, {0, 0, number}, {}, {all.begin(), all.end()}});
  return {};
}

result<void> simulated_link::send_unmap(std::uint64_t address, std::uint32_t number) {
  if (worker_->deaf) return error(reaction::retry_later, "simulation", "the worker does not read its messages");
  worker_->inbox.push_back({protocol::message::unmap, {address, 0, number}, {}});
  return {};
}

result<void> simulated_link::send_serve(const protocol::service& s) {
  if (worker_->mute || worker_->dead) return error(reaction::context_lost, "simulation", "the socket is closed");
  worker_->inbox.push_back({protocol::message::serve, {}, s});
  return {};
}

void simulated_link::send_stop() noexcept {
  worker_->asked_to_stop = true;
  if (!worker_->mute) worker_->inbox.push_back({protocol::message::stop, {}, {}});
}

void simulated_link::send_ping() noexcept {
  if (worker_->asked_for_a_sign == 0) worker_->asked_for_a_sign = worker_->where().now();
  if (worker_->deaf) {
    worker_->ping_dropped = worker_->where().now();
  } else if (!worker_->mute) {
    worker_->pinged = true;
    worker_->inbox.push_back({protocol::message::ping, {}, {}});
  }
}

result<void> simulated_link::send_load(const std::string&) { return {}; }

void simulated_link::kill() noexcept {
  if (worker_->isolation == isolation::thread) return;
  worker_->where().killed(*worker_);
  worker_->kill_wanted = true;
  if (!worker_->unkillable) worker_->die({exit_status::ending::signalled, SIGKILL});
}

worker_link::news simulated_link::receive() {
  if (worker_->send_queue.empty()) return {worker_->socket_closed ? news::kind::gone : news::kind::none, {}, {}};
  news n = std::move(worker_->send_queue.front());
  worker_->send_queue.pop_front();
  if (n.kind == news::kind::alive) worker_->asked_for_a_sign = 0, worker_->pinged = false;
  return n;
}

// Looked at twice: to prepare it, and when it is to serve.
const std::shared_ptr<const memory_file>& simulated_link::channel() const noexcept {
  if (worker_->launched) worker_->where().shows_channel(*worker_);
  return worker_->channel;
}

std::optional<exit_status> simulated_link::ended() noexcept {
  if (worker_->isolation == isolation::thread || !worker_->exit_shows) return {};
  return worker_->status;
}

// Nothing here blocks, so the device need not keep a thread for what does not end.
bool simulated_link::has_ended(std::int64_t) noexcept {
  kill();
  return true;
}

}  // namespace troupe::simulation
