// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Opening, watching and closing a device. Everything that decides runs on the control loop, which never runs anybody
// else's code: continuations go to the reactor.
#include <sys/sysinfo.h>
#include <unistd.h>
#include <troupe/async/kept_continuations.hpp>
#include <troupe/device/internal/core.hpp>

#include <algorithm>
#include <bit>
#include <system_error>

namespace troupe {
namespace {

constexpr std::uint64_t page_bytes = segment_alignment;
constexpr std::size_t most_warm = 64;

std::uint64_t machine_bytes() noexcept {
  struct ::sysinfo info;
  return ::sysinfo(&info) == 0 ? std::uint64_t{info.totalram} * info.mem_unit : std::uint64_t{4} << 30;
}

// What the engine can make read-only at a time. The host's: a page.
std::uint64_t seal_granule() noexcept { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

error bad_option(const char* field, const std::string& value, const char* expected) {
  return error(reaction::caller_bug, "device",
               std::string("device_options::") + field + " is " + value + "; expected " + expected);
}

constexpr std::uint64_t most_memory = std::uint64_t{16} << 40;  // so that the addresses for it stay in range

std::optional<error> check(const device_options& o) {
  if (o.mailbox_capacity < 1 || o.mailbox_capacity > 65536)
    return bad_option("mailbox_capacity", std::to_string(o.mailbox_capacity), "1 to 65536");
  if (o.lane_pool < 1 || o.lane_pool > 10) return bad_option("lane_pool", std::to_string(o.lane_pool), "1 to 10");
  for (const auto& [field, bytes] :
       {std::pair("memory_limit", o.memory_limit), {"host_memory_limit", o.host_memory_limit}})
    if (bytes > most_memory) return bad_option(field, std::to_string(bytes), "at most 2^44 bytes (16 TiB)");
  if (o.standbys > 8) return bad_option("standbys", std::to_string(o.standbys), "0 to 8");
  for (const int core : o.worker_cores)
    if (core < 0 || core >= 1024) return bad_option("worker_cores", std::to_string(core), "numbers from 0 to 1023");
  for (const auto& [field, span] : {std::pair("start_timeout", o.start_timeout),
                                    {"close_timeout", o.close_timeout},
                                    {"run_timeout", o.run_timeout},
                                    {"heartbeat_timeout", o.heartbeat_timeout},
                                    {"restart_window", o.restart_window}})
    if (span.nanoseconds <= 0) return bad_option(field, std::to_string(span.nanoseconds) + " ns", "more than 0");
  if (!o.black_box_folder.empty() && ::access(o.black_box_folder.c_str(), W_OK | X_OK) != 0)
    return bad_option("black_box_folder", '"' + o.black_box_folder + '"', "a folder that this process may write to");
  if (o.helpers < 1 || o.helpers > 4) return bad_option("helpers", std::to_string(o.helpers), "1 to 4");
  if (o.engine.empty() || o.engine.find_first_of("/\n") != std::string::npos)
    return bad_option("engine", '"' + o.engine + '"', "the name of a backend, such as host");
  for (const std::string& f : o.engine_folders)
    if (f.empty() || f.find('\n') != std::string::npos)
      return bad_option("engine_folders", '"' + f + '"', "paths of folders");
  for (const std::string& l : o.libraries)
    if (l.empty() || l.find_first_of("/\n") != std::string::npos)
      return bad_option("libraries", '"' + l + '"', "names of library actors, such as blas");
  return {};
}

// A thread cannot be killed, so nothing can take its place.
device_supervisor::limits limits_of(const device_options& o) noexcept {
  const bool process = o.isolation == isolation::process;
  return {.start = o.start_timeout,
          .stop = o.close_timeout,
          .standbys = process && o.restarts != 0 ? o.standbys : 0,
          .restarts = o.restarts,
          .window = o.restart_window,
          .restartable = process};
}

}  // namespace

std::shared_ptr<device_core> device_core::open(const device_options& o, std::uint32_t index,
                                               const result<device_surroundings>& surroundings) {
  device_options options = o;
  if (options.name.empty()) options.name = options.engine + ":" + std::to_string(index);
  std::shared_ptr<device_core> core(
      new device_core(options, index, surroundings ? *surroundings : device_surroundings()));
  if (surroundings)
    core->start();
  else
    core->give_up(surroundings.error());
  return core;
}

device_core::device_core(const device_options& o, std::uint32_t index, device_surroundings surroundings)
    : options_(o),
      environment_(current_environment()),  // here, not on the loop's thread, where it could race with a setenv
      index_(index),
      loop_(std::move(surroundings.loop)),
      make_worker_(std::move(surroundings.make_worker)),
      reacts_(surroundings.reacts),
      ledger_(check(o) ? 1 : std::bit_ceil(o.mailbox_capacity)),
      cores_(usable_cores()),
      supervisor_(limits_of(o)) {
  const std::uint64_t all = machine_bytes();
  const auto limit = [](std::uint64_t asked, std::uint64_t otherwise) {
    return (asked != 0 ? asked : otherwise) / 256 * 256;
  };
  memory_ = device_memory::make(*this, {.device_bytes = limit(o.memory_limit, all / 2),
                                        .host_bytes = limit(o.host_memory_limit, all / 4),
                                        .seal_granule = seal_granule()});
}

device_core::~device_core() {
  reactor_ends_.store(true);
  if (reactor_.joinable()) {
    if (channel_.base != nullptr) {
      wake_reactor();
      wake_waiters();
    }
    // The last handle may go on the reactor itself; then it ends by itself.
    if (reactor_.get_id() == std::this_thread::get_id())
      reactor_.detach();
    else
      reactor_.join();
  }
  memory_->abandon();
}

result<void> device_core::prepare() {
  if (auto bad = check(options_)) return *bad;
  const auto at = protocol::layout::for_capacity(ledger_.capacity());
  // What the first worker will share with us; until then, nobody.
  auto channel = memory_file::create("troupe-channel", at.total);
  if (!channel) return channel.error();
  auto seen = mapping::map(*channel, map_access::read_write);
  if (!seen) return seen.error();
  channel_memory_ = std::move(*seen);
  shown_channel_ = std::make_shared<const memory_file>(std::move(*channel));
  // Only this process writes the mailbox: whatever a worker does, what was sent stays as it was.
  auto mailbox = memory_file::create_for_readers("troupe-mailbox", at.mailbox_total);
  if (!mailbox) return mailbox.error();
  auto written = mapping::map(*mailbox, map_access::read_write);
  if (!written) return written.error();
  if (auto ended = mailbox->end_writing(); !ended) return ended;
  mailbox_memory_ = std::move(*written);
  mailbox_file_ = std::move(*mailbox);
  channel_ = {at, channel_memory_.data(), mailbox_memory_.data()};
  commands_.emplace(channel_.queue(), channel_.pump());
  auto reports = ring_region::format(channel_.reports(), at.report_bytes);
  if (!reports) return reports.error();
  reports_.emplace(*reports);

  const auto up = [](std::uint64_t v) { return (v + page_bytes - 1) / page_bytes * page_bytes; };
  const memory_statistics device = memory_->statistics(memory_kind::device),
                          host = memory_->statistics(memory_kind::host);
  // Segments come and go in different sizes, so leave room. Host memory has two kinds of them.
  const std::uint64_t device_bytes = 2 * up(device.total_bytes) + 64 * page_bytes,
                      host_bytes = 3 * up(host.total_bytes) + 64 * page_bytes;
  auto addresses = region::claim(options_.isolation, device_bytes + host_bytes);
  if (!addresses) return addresses.error();
  const std::uint64_t begin = addresses->begin();
  addresses_of(memory_kind::device) = {begin, device_bytes};
  device_begin_ = begin;
  device_end_ = begin + device_bytes;
  addresses_of(memory_kind::host) = {begin + device_bytes, host_bytes};

  region_ = std::make_shared<const region>(std::move(*addresses));

  greeting_ = options_.engine + "\n" + std::to_string(options_.engine_folders.size() + 1) + "\n";
  for (const std::string& f : options_.engine_folders) greeting_ += f + "\n";
  greeting_ += options_.runtime_folder + "/engines\n";
  for (const std::string& l : options_.libraries) greeting_ += l + "\n";
  settings_ = {.version = protocol::version,
               .capacity = ledger_.capacity(),
               .wait = static_cast<std::uint32_t>(options_.wait),
               .lanes = options_.lanes,
               .coalesce = options_.coalesce,
               .pool = options_.lane_pool,
               .helpers = options_.helpers,
               .device = static_cast<std::int32_t>(index_),
               .parent = options_.isolation == isolation::process ? static_cast<std::uint32_t>(::getpid()) : 0,
               .reserve_begin = begin,
               .reserve_bytes = device_bytes + host_bytes,
               .inline_bytes = options_.inline_bytes,
               .memory_limit = options_.worker_memory_limit,
               .core_dumps = options_.core_dumps,
               .cores = {}};
  for (const int core : options_.worker_cores) settings_.cores[core / 64] |= std::uint64_t{1} << core % 64;
  return {};
}

void device_core::start() {
  if (auto ok = prepare(); !ok) return give_up(ok.error());
  if (auto ok = start_reactor(); !ok) return give_up(ok.error());
  opened_ = true;
  opened_ns_ = loop_->now();
  post(*loop_, [self = shared_from_this()] { self->feed({device_supervisor::event_kind::opened}); });
}

result<void> device_core::start_reactor() {
  if (!reacts_) return {};
  if (reactor_.joinable()) reactor_.join();  // that of the time before a reset has nothing left to do
  reactor_ends_.store(false);
  reactor_gone_ = false;
  // The thread holds the device until it has stopped: what it answers may let go of every other handle.
  try {
    reactor_ = std::thread([self = shared_from_this()] { self->react(); });
  } catch (const std::system_error& e) {
    reactor_gone_ = true;
    return error::from_errno(reaction::retry_later, "device", "starting a thread", e.code().value());
  }
  return {};
}

// There never was a worker: the device is stopped from the start.
void device_core::give_up(const error& why) {
  {
    const std::scoped_lock guard(why_lock_);
    refusal_ = why;
  }
  refusing_.store(true);
  state_.store(device_state::stopped);
  ready_.outcome = stopped_.outcome = why;
}

error device_core::refusal() const {
  const std::scoped_lock guard(why_lock_);
  return refusal_ ? *refusal_ : error(reaction::stopped, "device", "the device has stopped");
}

void device_core::feed(device_supervisor::event e) {
  for (const device_supervisor::action& a : supervisor_.on(std::move(e), loop_->now())) carry_out(a);
  state_.store(supervisor_.state());
  if (const worker_id next = supervisor_.serving(); next != 0) serving_.store(next);
  if (const auto due = supervisor_.next_tick(); due != armed_tick_) {
    armed_tick_ = due;
    if (due) loop_->at(*due, shared_from_this(), timer::supervision);
  }
}

void device_core::carry_out(const device_supervisor::action& a) {
  switch (a.kind) {
    case device_supervisor::action_kind::launch:
      if (const auto ok = launch(a.worker); !ok)
        post(*loop_, [self = shared_from_this(), id = a.worker, why = ok.error()] {
          self->feed({device_supervisor::event_kind::worker_exited, id, why});
        });
      break;
    case device_supervisor::action_kind::serve: {
      worker_link& link = *link_of(a.worker);
      const device_state before = state_.exchange(supervisor_.state());  // first: an answer may come at once
      if (const auto ok = serve(link); !ok) {
        state_.store(before);
        // One that is just ending will tell so itself, which says more.
        if (!link.ends_by(loop_->now() + 100'000'000))
          post(*loop_, [self = shared_from_this(), id = a.worker, why = ok.error()] {
            self->feed({device_supervisor::event_kind::misbehaved, id, why});
          });
        break;
      }
      emit(event_kind::serving, {},
           time_span(std::chrono::nanoseconds(loop_->now() - std::max(fault_ns_, opened_ns_))));
      reach(ready_, {});  // last: who is told begins to watch from here
      break;
    }
    case device_supervisor::action_kind::sort_out:
      if (supervisor_.state() != device_state::closing) state_.store(device_state::recovering);
      sort_out(a);
      break;
    case device_supervisor::action_kind::lost_standby:
      emit(event_kind::standby_lost, a.why);
      break;
    case device_supervisor::action_kind::accept_new: {
      (void)start_reactor();  // without one, whoever brings an answer posts its continuations
      {
        const std::scoped_lock guard(why_lock_, watch_lock_);
        refusal_.reset();
        death_.reset();
        ready_.outcome.reset();
        stopped_.outcome.reset();
      }
      // All that was sent has been answered: nothing of it is for the next worker.
      kept_ = 0;
      next_ticket_ = commands_->newest_ticket() + 1;
      opened_ns_ = loop_->now();
      dead_.store(false, std::memory_order_seq_cst);
      refusing_.store(false, std::memory_order_seq_cst);
      break;
    }
    case device_supervisor::action_kind::forget_worker:
      forget(a.worker);
      break;
    case device_supervisor::action_kind::refuse_new: {
      const std::scoped_lock guard(why_lock_);
      refusal_ = a.why;
      refusing_.store(true, std::memory_order_seq_cst);
      if (supervisor_.state() == device_state::closing) {
        state_.store(device_state::closing);
        emit(event_kind::closing);
      }
      break;
    }
    case device_supervisor::action_kind::cancel_queued:
      for (std::uint32_t slot = 0; slot < ledger_.capacity(); ++slot)
        if (ledger_[slot].in_flight.load(std::memory_order_acquire))
          cancel(slot, ledger_[slot].ticket.load(std::memory_order_relaxed),
                 "the device was closed before this request started", reaction::stopped);
      break;
    case device_supervisor::action_kind::stop_worker:
      if (worker_link* link = link_of(a.worker)) link->send_stop();
      break;
    case device_supervisor::action_kind::kill_worker:
      if (worker_link* link = link_of(a.worker)) link->kill();
      break;
    case device_supervisor::action_kind::answer_all: {
      drive_surely();  // what has finished is answered as finished
      std::shared_ptr<fault_record> record;
      if (a.seen_ns != 0) {
        const drive_guard guard(*this);
        const open_requests open = open_up_to(commands_->newest_ticket());
        record = hold_inquest(a, open);
        for (const auto& [ticket, slot] : open) {
          if (ledger_[slot].answered) continue;
          ++record->lost;
          record->last.push_back({{std::string(ledger_[slot].info->label), ticket}, request_fate::lost});
        }
        complete(record);
      }
      {
        const std::scoped_lock guard(why_lock_);
        death_ = record ? record->cause : *a.why;
      }
      memory_->lose(salvage::strict, commands_->newest_ticket(), *death_);
      if (record) publish(record);  // first: whoever has an answer finds it
      dead_.store(true, std::memory_order_seq_cst);
      drive_surely();
      break;
    }
    case device_supervisor::action_kind::tell_stopped:
      while (!links_.empty()) forget(links_.back()->id());  // first: whoever is told may rely on its end
      state_.store(device_state::stopped);
      closing_.store(false);
      emit(event_kind::stopped, a.why);
      if (supervisor_.ended()) end_watches();
      reach(ready_, a.why ? *a.why : error(reaction::stopped, "device", "the device was closed"));
      reach(stopped_, a.why ? result<void>(*a.why) : result<void>());
      reactor_ends_.store(true, std::memory_order_seq_cst);
      wake_waiters();
      wake_reactor();
      break;
  }
}

worker_link* device_core::link_of(worker_id id) noexcept {
  const auto at = std::find_if(links_.begin(), links_.end(), [id](const auto& l) { return l->id() == id; });
  return at == links_.end() ? nullptr : at->get();
}

result<void> device_core::launch(worker_id id) {
  auto made = make_worker_(id, options_.isolation, region_, channel_.at.total);
  if (!made) return made.error();
  worker_link& link = **made;
  {
    auto seen = mapping::map(*link.channel(), map_access::read_write);
    if (!seen) return seen.error();
    const protocol::view fresh{channel_.at, seen->data(), nullptr};
    if (auto reports = ring_region::format(fresh.reports(), channel_.at.report_bytes); !reports) return reports.error();
  }
  if (auto ok = link.greet(settings_, greeting_, mailbox_file_); !ok) return ok;
  for (const std::string& library : warm_) (void)link.send_load(library);
  {
    const std::scoped_lock guard(link_lock_);
    const std::uint32_t number = segments_sent_.load(std::memory_order_relaxed);
    for (const held_segment& s : segments_)
      if (auto ok = link.send_map(s.address, *s.file, number, s.read_only); !ok) return ok;
    std::vector<protocol::protected_place> sealed;
    for (const auto& [address, bytes] : protected_) sealed.push_back({address, bytes});
    if (!sealed.empty())
      if (auto ok = link.send_protected(sealed, number); !ok) return ok;
    links_.push_back(std::move(*made));
  }
  // From here on `forget` sees to everything, also when the rest fails.
  if (auto ok = loop_->watch(link.socket_fd(), *this); !ok) return ok;
  if (auto ok = link.launch(options_.runtime_folder + "/troupe-worker", environment_); !ok) return ok;
  if (worker_pid_.load() == 0) worker_pid_.store(link.pid());
  return link.exit_fd() >= 0 ? loop_->watch(link.exit_fd(), *this) : result<void>();
}

// What one worker needed, the next one will need: it is there before.
void device_core::warm_up_standbys(const std::string& library) {
  if (std::find(warm_.begin(), warm_.end(), library) != warm_.end()) return;
  if (warm_.size() == most_warm) return;
  warm_.push_back(library);
  for (const auto& link : links_)
    if (link->id() != served_) (void)link->send_load(library);
}

std::vector<int> device_core::standby_pids() const {
  std::vector<int> out;
  const std::scoped_lock guard(link_lock_);
  for (const auto& link : links_)
    if (link->id() != serving_.load() && link->ready.load() && link->pid() != 0) out.push_back(link->pid());
  return out;
}

// Only the first outcome counts.
void device_core::reach(milestone& m, result<void> what) {
  std::vector<ref<pending_state<void>>> now;
  {
    const std::scoped_lock guard(watch_lock_);
    if (m.outcome) return;
    m.outcome = what;
    now.swap(m.waiters);
  }
  job* continuations;
  {
    kept_continuations kept;
    for (auto& w : now) w->complete(what);
    continuations = kept.take();
  }
  hand_over(continuations);
}

pending<void> device_core::watch_for(milestone& m) {
  const std::scoped_lock guard(watch_lock_);
  if (m.outcome) return make_ready<void>(*m.outcome);
  if (m.waiters.size() >= m.prune_at) {  // whoever polls makes one each time and drops it
    std::erase_if(m.waiters, [](const auto& w) { return w->unshared(); });
    m.prune_at = 2 * m.waiters.size() + 16;
  }
  // Whoever waits for it helps, as with any answer: the end of a device needs its requests answered.
  auto waiter = ref<detail::asked<void>>::adopt(new detail::asked<void>(shared_from_this()));
  m.waiters.push_back(waiter);
  return pending<void>(std::move(waiter));
}

pending<void> device_core::when_ready() { return watch_for(ready_); }
pending<void> device_core::when_stopped() { return watch_for(stopped_); }

// The worker is gone, or nobody waits for it: let go of it. Its end is reaped by the link's destructor.
void device_core::forget(worker_id id) {
  std::unique_ptr<worker_link> link;
  {
    const std::scoped_lock guard(link_lock_);
    const auto at = std::find_if(links_.begin(), links_.end(), [id](const auto& l) { return l->id() == id; });
    if (at == links_.end()) return;
    link = std::move(*at);
    links_.erase(at);
  }
  loop_->unwatch(link->socket_fd());
  if (link->exit_fd() >= 0) loop_->unwatch(link->exit_fd());
  // A thread cannot be killed, and a process that the kernel holds cannot either: what still runs is waited for away
  // from the loop, so that other devices go on.
  if (!link->has_ended(loop_->now() + 100'000'000))
    std::thread([link = std::shared_ptr<worker_link>(std::move(link)), self = shared_from_this()] {}).detach();
}

void device_core::on_readable(int fd) {
  const auto self = shared_from_this();
  const auto at = std::find_if(links_.begin(), links_.end(),
                               [fd](const auto& l) { return l->socket_fd() == fd || l->exit_fd() == fd; });
  if (at == links_.end()) return;
  worker_link& link = **at;
  const worker_id id = link.id();
  if (fd == link.exit_fd()) {
    if (const auto status = link.ended()) {
      // It may have said why before it went.
      if (const auto n = link.receive(); n.kind == worker_link::news::kind::failed)
        feed({device_supervisor::event_kind::worker_failed, id, error(n.how, "device", n.text)});
      if (id == serving_.load()) last_exit_ = *status;
      feed({device_supervisor::event_kind::worker_exited, id,
            error(error::details{
                .reaction = reaction::context_lost,
                .domain = "device",
                .code = status->value,
                .text = "the worker of " + options_.name + " ended: " + status->text() + "; what it held is lost"})});
    }
    return;
  }
  const worker_link::news n = link.receive();
  switch (n.kind) {
    case worker_link::news::kind::none:
      return;
    case worker_link::news::kind::ready: {
      link.ready.store(true);
      {
        const std::scoped_lock guard(watch_lock_);
        engines_ = n.text;
      }
      feed({device_supervisor::event_kind::worker_ready, id});
      if (id != served_) emit(event_kind::standby_ready);
      return;
    }
    case worker_link::news::kind::alive:
      if (id == served_) asked_ns_ = 0;
      return;
    case worker_link::news::kind::restarted:
      return emit(event_kind::library_restarted,
                  error(reaction::retry_later, "device",
                        "the engine of " + n.text + " said that its library's handle is broken; it was opened anew"));
    case worker_link::news::kind::loaded:
      return warm_up_standbys(n.text);
    case worker_link::news::kind::failed:
      return feed({device_supervisor::event_kind::worker_failed, id, error(n.how, "device", n.text)});
    case worker_link::news::kind::gone:
      loop_->unwatch(fd);
      // A process tells by its exit status, which comes on its own; a thread has only this.
      if (options_.isolation == isolation::thread) {
        feed({device_supervisor::event_kind::worker_exited, id,
              error(reaction::context_lost, "device", "the worker thread of " + options_.name + " has ended")});
      }
      return;
  }
}

void device_core::on_time(std::uint64_t tag) {
  switch (static_cast<timer>(tag)) {
    case timer::deadlines:
      return cancel_overdue();
    case timer::running:
      return look_at_running();
    case timer::heart:
      return feel_heart();
    case timer::supervision:
      armed_tick_.reset();
      return feed({device_supervisor::event_kind::tick});
  }
}

// With drive_lock_ held, so that every answer has been given.
void device_core::look_whether_drained() noexcept {
  if (ledger_.in_flight() != 0 || downloads_under_way() || drained_told_.exchange(true)) return;
  auto self = shared_from_this();
  post(*loop_, [self] { self->feed({device_supervisor::event_kind::drained}); });
}

// Answered by what has happened when its turn on the loop has come: a reset may be before it.
pending<void> device_core::close(bool now) {
  if (!opened_) return when_stopped();
  auto self = shared_from_this();
  auto answer = ref<detail::asked<void>>::adopt(new detail::asked<void>(self));
  post(*loop_, [self, now, answer] {
    self->feed({now ? device_supervisor::event_kind::close_now_asked : device_supervisor::event_kind::close_asked});
    self->answer_at(self->stopped_, answer);
    if (self->supervisor_.ended()) self->end_watches();
    if (self->state() != device_state::closing) return;
    self->closing_.store(true, std::memory_order_seq_cst);
    self->wake_reactor();
    self->wake_waiters();
    self->drive();
  });
  return pending<void>(std::move(answer));
}

void device_core::answer_at(milestone& m, ref<pending_state<void>> answer) {
  job* continuations;
  {
    kept_continuations kept;
    const std::scoped_lock guard(watch_lock_);
    if (m.outcome)
      answer->complete(*m.outcome);
    else
      m.waiters.push_back(std::move(answer));
    continuations = kept.take();
  }
  hand_over(continuations);
}

pending<void> device_core::reset() {
  if (!opened_) return when_ready();
  auto answer = ref<detail::asked<void>>::adopt(new detail::asked<void>(shared_from_this()));
  post(*loop_, [self = shared_from_this(), answer]() mutable {
    self->quarantine_.lift();
    self->feed({device_supervisor::event_kind::reset_asked});
    self->answer_at(self->ready_, std::move(answer));
  });
  return pending<void>(std::move(answer));
}

std::string device_core::engines() const {
  const std::scoped_lock guard(watch_lock_);
  return engines_;
}

static result<memory_file> create(memory_kind kind, std::uint64_t bytes) {
  switch (kind) {
    case memory_kind::device:
      return memory_file::create("troupe-device-memory", bytes);
    case memory_kind::host:
      return memory_file::create("troupe-host-memory", bytes);
    case memory_kind::sent:
      break;
  }
  return memory_file::create_for_readers("troupe-sent-memory", bytes);
}

// The worker's end is closed: it is ending, or has ended, and whoever takes its place is told everything.
static bool has_closed(const error& why) noexcept { return why.reaction() == reaction::context_lost; }

// It has missed something about the memory.
void device_core::must_not_serve(worker_link& link, const error& why) {
  link.missed_memory.store(true);
  if (const auto self = weak_from_this().lock())
    post(*loop_, [self, id = link.id(), why] { self->feed({device_supervisor::event_kind::misbehaved, id, why}); });
}

// With link_lock_ held. The one that serves comes first: if it takes no message now, nobody gets this one, for whoever
// has got it takes its number for done. `missed` is told of others that take none. One that has closed its end is
// ending.
template <class Send, class Missed>
result<void> device_core::tell_all(Send&& send, Missed&& missed) {
  worker_link* const serving = link_of(serving_.load());
  if (serving != nullptr)
    if (const auto sent = send(*serving); !sent && !has_closed(sent.error())) return sent;
  for (const auto& link : links_) {
    if (link.get() == serving) continue;
    if (const auto sent = send(*link); !sent && !has_closed(sent.error())) missed(*link, sent.error());
  }
  return {};
}

result<segment> device_core::grow(memory_kind kind, std::uint64_t bytes) {
  bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  const std::scoped_lock guard(link_lock_);
  if (refusing_.load()) return refusal();
  auto made = create(kind, bytes);
  if (!made) return made.error();
  const auto file = std::make_shared<const memory_file>(std::move(*made));
  mapping here;
  if (kind != memory_kind::device) {
    auto seen = mapping::map(*file, map_access::read_write);
    if (!seen) return seen.error();
    here = std::move(*seen);
  }
  const bool read_only = kind == memory_kind::sent;
  if (read_only)
    if (auto ended = file->end_writing(); !ended) return ended.error();
  address_space& addresses = addresses_of(kind);
  const auto address = addresses.take(bytes);
  if (!address)
    return error(reaction::retry_later, "memory",
                 "alloc: the device's addresses are too fragmented; free buffers, or open another device");
  const std::uint32_t number = segments_sent_.load(std::memory_order_relaxed) + 1;
  const auto told = tell_all([&](worker_link& link) { return link.send_map(*address, *file, number, read_only); },
                             [&](worker_link& link, const error& why) { must_not_serve(link, why); });
  if (!told) {
    addresses.give_back(*address, bytes);
    return told.error();
  }
  segments_.push_back({*address, file, read_only});
  segments_sent_.store(number, std::memory_order_release);
  struct backing {
    std::shared_ptr<const memory_file> file;
    mapping here;
  };
  std::byte* host = here.data();
  return segment{*address, bytes, host, std::make_shared<backing>(backing{file, std::move(here)})};
}

void device_core::shrink(memory_kind kind, const segment& s) noexcept {
  const std::scoped_lock guard(link_lock_);
  const std::uint32_t number = segments_sent_.load(std::memory_order_relaxed) + 1;
  bool all = true;
  const auto told = tell_all([&](worker_link& link) { return link.send_unmap(s.address, number); },
                             [&](worker_link&, const error&) { all = false; });
  std::erase_if(segments_, [&s](const held_segment& h) { return h.address == s.address; });
  if (told) segments_sent_.store(number, std::memory_order_release);
  // Unsaid, a worker still has it there: the addresses are not used again.
  if (told && all) addresses_of(kind).give_back(s.address, s.bytes);
}

// All workers, those that stand by too, and the one that has done it on its own: what is sent later waits for it.
void device_core::protect(std::uint64_t address, std::uint64_t bytes, bool read_only) noexcept {
  const std::scoped_lock guard(link_lock_);
  if (read_only)
    protected_.insert_or_assign(address, bytes);
  else
    protected_.erase(address);
  const std::uint32_t number = segments_sent_.load(std::memory_order_relaxed) + 1;
  for (const auto& link : links_) {
    const auto told = link->send_protect({address, bytes}, number, read_only);
    if (!told && !has_closed(told.error())) must_not_serve(*link, told.error());
  }
  segments_sent_.store(number, std::memory_order_release);
}

}  // namespace troupe
