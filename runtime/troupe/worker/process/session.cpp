// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <troupe/base/cat.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/base/round_up.hpp>
#include <troupe/base/try.hpp>
#include <troupe/base/unwatched_mmap.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/process.hpp>
#include <troupe/protocol/control.hpp>
#include <troupe/protocol/memory_question.hpp>
#include <troupe/protocol/protected_places.hpp>
#include <troupe/protocol/worker_description.hpp>
#include <troupe/worker/plugins/placed_memory.hpp>
#include <troupe/worker/plugins/platform.hpp>
#include <troupe/worker/process/last_words.hpp>
#include <troupe/worker/process/session.hpp>
#include <troupe/worker/process/task_queue.hpp>
#include <troupe/worker/schedule/pump.hpp>

namespace troupe {
namespace {

std::uint64_t page_bytes() noexcept { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

// Of the host's: whole pages, and one for reading behind them.
std::uint64_t managed_bytes(std::uint64_t bytes) noexcept { return round_up(bytes, page_bytes()) + page_bytes(); }

error bad_greeting(std::string text) { return error(reaction::fatal, "worker", "handshake: " + std::move(text)); }

error bad_message(std::string text) { return error(reaction::fatal, "worker", std::move(text)); }

map_access access_of(const protocol::memory_place& place) noexcept {
  return place.read_only != 0 ? map_access::read_only : map_access::read_write;
}

// What it needs not, it has not: a broken kernel or a vendor library with a hole can do so much less.
result<void> confine(const protocol::worker_settings& s) {
  const auto failed = [](const char* call) { return error::from_errno(reaction::fatal, "worker", call, errno); };
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("prctl(PR_SET_NO_NEW_PRIVS)");
  const auto limit = [](auto what, std::uint64_t bytes) {
    rlimit now{};
    if (::getrlimit(what, &now) != 0) return false;
    now.rlim_cur = now.rlim_max = std::min<rlim_t>(bytes, now.rlim_max);
    return ::setrlimit(what, &now) == 0;
  };
  if (!s.core_dumps && !limit(RLIMIT_CORE, 0)) return failed("setrlimit(RLIMIT_CORE)");
  if (s.memory_limit != 0 && !limit(RLIMIT_DATA, s.memory_limit)) return failed("setrlimit(RLIMIT_DATA)");
  if (std::any_of(std::begin(s.cores), std::end(s.cores), [](std::uint64_t c) { return c != 0; }) &&
      ::syscall(SYS_sched_setaffinity, 0, sizeof s.cores, s.cores) < 0)
    return error::from_errno(reaction::caller_bug, "worker",
                             "device_options::worker_cores names no core that this process may run on", errno);
  return {};
}

}  // namespace

struct worker_session::state {
  std::unique_ptr<platform> gpu;
  memory_file file;
  mapping channel_memory, mailbox_memory;
  placed_memory memory;  // what `orders` has mapped
  std::optional<slot_queue_reader> commands;
  std::optional<ring_writer> report_ring;
  std::optional<reporter> reports;
  std::optional<engine_set> engines;
  std::optional<pump> work;
  control_socket asks_for_memory;
  std::thread listener, maker;
  std::map<std::uint64_t, std::uint64_t> managed;  // the maker's: bytes by address
  std::optional<task_queue> orders, releases;      // of the listener, and of the maker
  bool disobeyed = false;                          // an order could not be carried out: none is any more
};

worker_session::worker_session(control_socket application, home where)
    : application_(std::move(application)), home_(where) {}

worker_session::~worker_session() {
  if (!state_) return;
  if (!state_->gpu) {
    state_->work.reset();
    for (const auto& [address, bytes] : state_->managed) free_managed(address, bytes);
    return;
  }
  state_->work.reset();  // what the device does ends before its memory goes
  for (const auto& [address, bytes] : state_->managed) free_managed(address, bytes);
  state_->memory.for_each([this](std::byte* data) { state_->gpu->unpin(data); });
  state_->gpu->unpin(state_->channel_memory.data());
}

void worker_session::tell(protocol::message kind, const std::string& text, reaction how) {
  protocol::control_message m{};
  m.kind = kind;
  m.reaction = static_cast<std::uint32_t>(how);
  // When the application is gone, so is the one who would want to know.
  (void)application_.send(protocol::packet_of(m, text));
}

void worker_session::tell(const error& why) { tell(protocol::message::failed, why.text(), why.reaction()); }

result<void> worker_session::begin() {
  std::vector<std::byte> packet(protocol::most_message_bytes);
  auto got = TROUPE_TRY(application_.receive(packet, 3));
  const auto hello = protocol::parse_message(std::span(packet.data(), got.bytes));
  if (got.outcome != control_socket::outcome::message || !hello || got.fds.size() != 3)
    return bad_greeting("no greeting came");
  if (hello->head.kind != protocol::message::hello) return bad_greeting("the first message was not a greeting");
  const protocol::greeting g = TROUPE_TRY(protocol::parse_greeting(hello->head.settings, hello->text));
  order_limit_ns_ = g.settings.order_limit_ns;
  if (home_ == home::process) {
    TROUPE_TRY(die_with_parent(static_cast<int>(g.settings.parent)));
    TROUPE_TRY(confine(g.settings));
  }
  const auto at = protocol::layout::for_capacity(g.settings.capacity);
  auto file = TROUPE_TRY(memory_file::open(std::move(got.fds[0]), at.total));
  auto seen = TROUPE_TRY(mapping::map(file, map_access::read_write));
  auto mailbox_file = TROUPE_TRY(memory_file::open(std::move(got.fds[1]), at.mailbox_total));
  auto mailbox = TROUPE_TRY(mapping::map(mailbox_file, map_access::read_only));
  auto asks_for_memory = TROUPE_TRY(control_socket::adopt(std::move(got.fds[2])));
  auto gpu = load_platform(g.backend, g.folders,
                           {.device = g.settings.device,
                            .shared = home_ == home::thread,
                            .core_file = protocol::gpu_core_file(g.gpu_core_stem, ::getpid())});
  if (!gpu) return gpu.error();
  const std::uint64_t apart = *gpu ? g.settings.device_bytes : 0;
  if (*gpu) {
    TROUPE_TRY((*gpu)->enter());
    TROUPE_TRY((*gpu)->reserve(g.settings.reserve_begin, apart));
    TROUPE_TRY((*gpu)->pin(seen.data(), seen.size(), map_access::read_write));
  }
  auto addresses =
      TROUPE_TRY(address_reservation::reserve(g.settings.reserve_bytes - apart, g.settings.reserve_begin + apart));
  state_.reset(new state{.gpu = std::move(*gpu),
                         .file = std::move(file),
                         .channel_memory = std::move(seen),
                         .mailbox_memory = std::move(mailbox),
                         .memory = placed_memory(std::move(addresses)),
                         .commands = {},
                         .report_ring = {},
                         .reports = {},
                         .engines = {},
                         .work = {},
                         .asks_for_memory = std::move(asks_for_memory),
                         .listener = {},
                         .maker = {},
                         .managed = {},
                         .orders = {},
                         .releases = {}});

  const protocol::view channel{at, state_->channel_memory.data(), state_->mailbox_memory.data()};
  auto reports = ring_region::open(channel.reports());
  if (!reports) return reports.error();
  if (home_ == home::process) leave_last_words_in(channel.page().last_words);
  state_->commands.emplace(channel.queue(), channel.pump());
  state_->report_ring.emplace(*reports);
  state_->reports.emplace(channel, *state_->report_ring);
  state_->engines.emplace(g.backend, g.folders,
                          engine_context{.abi = troupe_engine_abi,
                                         .device = g.settings.device,
                                         .native_context = state_->gpu ? state_->gpu->context() : nullptr,
                                         .lanes = max_lanes});
  TROUPE_TRY(state_->engines->load("memory"));
  for (const std::string& library : g.libraries) TROUPE_TRY(state_->engines->load(library));
  state_->work.emplace(
      pump::parts{.channel = channel,
                  .commands = *state_->commands,
                  .reports = *state_->reports,
                  .engines = *state_->engines,
                  .wait = static_cast<wait_policy>(g.settings.wait),
                  .lanes = lane_chooser(g.settings.lanes, g.settings.pool, g.settings.helpers),
                  .inline_bytes = g.settings.inline_bytes,
                  .coalesce = g.settings.coalesce,
                  .memory_begin = g.settings.reserve_begin,
                  .memory_end = g.settings.reserve_begin + g.settings.reserve_bytes,
                  .gpu = state_->gpu.get(),
                  .context_lost = [this](const failure& why) { give_up(why); },
                  .restarted = [this](const std::string& library) { tell(protocol::message::restarted, library); }});
  return state_->work->make_streams();
}

result<std::uint64_t> worker_session::make_managed(std::uint64_t bytes) {
  if (state_->gpu) return state_->gpu->make_managed(bytes);
  // Shared, so that it is no data of this process's own, which may be limited.
  const std::uint64_t whole = managed_bytes(bytes);
  // The application hears of it, and another thread of this process from the application.
  void* const at = unwatched_mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
  if (at == MAP_FAILED)
    return error::from_errno(reaction::retry_later, "memory", cat("mmap of ", bytes, " bytes"), errno);
  // The page behind it: see placed_memory.
  (void)::mprotect(static_cast<std::byte*>(at) + whole - page_bytes(), page_bytes(), PROT_READ);
  return reinterpret_cast<std::uintptr_t>(at);
}

void worker_session::free_managed(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (state_->gpu) return state_->gpu->free_managed(address);
  ::munmap(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), managed_bytes(bytes));
}

void worker_session::enter_gpu() {
  if (state_->gpu)
    if (auto ok = state_->gpu->enter(); !ok) tell(ok.error());
}

// Makes memory: of the device for the application, which keeps it beyond this worker's end, and managed memory, which
// it does not. Letting go of the latter waits for what the device does, so others do.
void worker_session::make_memory() {
  enter_gpu();
  while (true) {
    std::array<std::byte, sizeof(protocol::wanted_memory)> packet{};
    const auto got = state_->asks_for_memory.receive(packet, 1);
    if (got && got->outcome != control_socket::outcome::message) return;
    // What came without its descriptor, for which this process had no room, is a question all the same.
    const auto question = protocol::parse_question(std::span(packet.data(), got ? got->bytes : packet.size()));
    if (!question || (!got && question->number == 0)) return;
    const protocol::wanted_memory& wanted = *question;
    const bool opens = got && !got->fds.empty();
    if (wanted.what == protocol::wanted::release) {
      if (const auto at = state_->managed.extract(wanted.address))
        state_->releases->add([this, address = at.key(), bytes = at.mapped()] { free_managed(address, bytes); });
      continue;
    }
    std::uint64_t address = 0;
    const result<file_descriptor> made = [&]() -> result<file_descriptor> {
      if (!got) return got.error();
      if (wanted.what == protocol::wanted::managed) {
        address = TROUPE_TRY(make_managed(wanted.bytes));
        state_->managed.emplace(address, wanted.bytes);
        return file_descriptor();
      }
      if (!state_->gpu)
        return error(reaction::fatal, "worker", "device memory of the host is the application's to make");
      if (!opens) return state_->gpu->make_memory(wanted.bytes);
      TROUPE_TRY(state_->gpu->try_to_map(wanted.bytes, got->fds[0]));
      return file_descriptor();
    }();
    const std::string text = made ? std::string() : made.error().text();
    const protocol::made_memory head{.made = made ? 1u : 0u,
                                     .reaction = made ? 0u : static_cast<std::uint32_t>(made.error().reaction()),
                                     .address = address,
                                     .number = wanted.number};
    const int fd = made ? made->get() : -1;
    if (!state_->asks_for_memory.send(protocol::packet_of(head, text), std::span(&fd, fd >= 0 ? 1 : 0))) return;
  }
}

// Answers at once: who is silent is taken for dead. To map memory, which pins it, and to open libraries may take
// seconds, so others do that, in the order in which it comes. Should one of these take as long as a worker may take to
// start, this is dead indeed.
void worker_session::listen() {
  std::vector<std::byte> packet(protocol::most_message_bytes);
  while (true) {
    auto got = application_.receive(packet, 1);
    if (!got) {  // this process has no descriptor left for the memory, say
      tell(got.error());
      return end();
    }
    auto heard = protocol::parse_message(std::span(packet.data(), got->bytes));
    if (got->outcome != control_socket::outcome::message || !heard) {
      // The application is gone. In a process of its own nothing is worth tidying, and a lane may be stuck in an
      // engine.
      if (home_ == home::process) ::_exit(0);
      return stop();
    }
    if (heard->head.kind == protocol::message::stop) return stop();
    if (heard->head.kind == protocol::message::ping) {
      const std::int64_t since = state_->orders->busy_since_ns();
      if (since == 0 || now_ns() - since < order_limit_ns_) tell(protocol::message::pong, {});
      continue;
    }
    state_->orders->add([this, m = heard->head, text = std::move(heard->text),
                         fds = std::make_shared<std::vector<file_descriptor>>(std::move(got->fds))] {
      if (state_->disobeyed) return;  // what needs its memory must not find that of later orders
      if (auto ok = handle_command(m, text, std::move(*fds)); !ok) {
        state_->disobeyed = true;
        tell(ok.error());
        end();
      }
    });
  }
}

result<void> worker_session::handle_command(const protocol::control_message& m, const std::string& text,
                                            std::vector<file_descriptor> fds) {
  result<void> done;
  switch (m.kind) {
    case protocol::message::serve:
      serve(m.serving);
      return {};
    case protocol::message::load:
      if (go_.load() == 0) state_->engines->warm_up(text);  // after that the engines are the pump's
      return {};
    case protocol::message::look:
      look_at_memory();
      return {};
    case protocol::message::map:
      done = map(m.memory, std::move(fds));
      break;
    case protocol::message::protect:
      done = protect(m.memory, std::move(fds));
      break;
    case protocol::message::unmap:
      unmap(m.memory.address);
      break;
    default:
      return {};
  }
  if (done) state_->work->segments_changed(m.memory.number);
  return done;
}

// Of the host's, the application knows itself.
void worker_session::look_at_memory() noexcept {
  protocol::device_room& room = state_->work->channel().page().room;
  if (state_->gpu)
    if (const auto free = state_->gpu->free_bytes()) room.free_bytes.store(*free);
  room.looks.fetch_add(1);
  futex_wake(room.looks, futex_scope::shared);
}

// Device memory of a platform is not this process's.
bool worker_session::is_apart(std::uint64_t address) const noexcept {
  return state_->gpu && address < state_->memory.base();
}

result<void> worker_session::map(const protocol::memory_place& place, std::vector<file_descriptor> fds) {
  if (fds.size() != 1) return bad_message("memory to map came without its file");
  if (is_apart(place.address)) return state_->gpu->map(place.address, place.bytes, fds[0], access_of(place));
  auto file = TROUPE_TRY(memory_file::open(std::move(fds[0]), place.bytes));
  const auto placed = TROUPE_TRY(state_->memory.place(file, access_of(place), place.address));
  if (!state_->gpu) return {};
  auto pinned = state_->gpu->pin(placed, file.size(), access_of(place));
  if (!pinned) state_->memory.remove(place.address);
  return pinned;
}

void worker_session::unmap(std::uint64_t address) {
  if (is_apart(address)) return state_->gpu->unmap(address);
  std::byte* const data = state_->memory.find(address);
  if (data == nullptr) return;
  if (state_->gpu) state_->gpu->unpin(data);
  state_->memory.remove(address);
}

result<void> worker_session::protect(std::uint64_t address, std::uint64_t bytes, map_access access) {
  return is_apart(address) ? state_->gpu->protect(address, bytes, access)
                           : state_->memory.protect(address, bytes, access);
}

result<void> worker_session::protect(const protocol::memory_place& place, std::vector<file_descriptor> fds) {
  if (place.bytes == 0) return {};  // a lane sees to it
  if (fds.empty()) return protect(place.address, place.bytes, access_of(place));
  auto file = TROUPE_TRY(memory_file::open(std::move(fds[0]), place.bytes));
  const auto all = TROUPE_TRY(protocol::parse_list(file, place.bytes));
  for (const protocol::protected_place& one : all) TROUPE_TRY(protect(one.address, one.bytes, access_of(place)));
  return {};
}

// A standby serves when it is told to, which is the first time that anybody looks at the mailbox.
void worker_session::serve(const protocol::service& s) {
  if (go_.load() != 0) return;
  state_->commands->take_over(s.kept, s.next_ticket);
  state_->reports->continue_after(s.last_report);
  state_->work->begin_generation(s.generation);
  state_->work->segments_changed(s.segments);
  state_->engines->when_loaded([this](const std::string& library) { tell(protocol::message::loaded, library); });
  go_.store(1);
  futex_wake(go_, futex_scope::process);
}

// On a lane. A process ends as it is: nobody can rely on anything in it.
void worker_session::give_up(const failure& why) {
  protocol::crash_note& note = state_->work->channel().page().last_words;
  if (note.begun.exchange(1) == 0) note.ticket = why.first.ticket;
  tell(error(reaction::context_lost, why.domain, (why.first.name.empty() ? "" : why.first.name + ": ") + why.text));
  if (home_ == home::process) ::_exit(1);
}

void worker_session::end() {
  if (home_ == home::process) ::_exit(1);
  stop();
}

void worker_session::stop() {
  state_->work->stop();
  std::uint32_t waits = 0;
  go_.compare_exchange_strong(waits, 2);
  futex_wake(go_, futex_scope::process);
}

void worker_session::end_helpers() {
  if (state_->maker.joinable()) {
    state_->asks_for_memory.shut_down();
    state_->maker.join();
  }
  state_->orders.reset();
  state_->releases.reset();
}

int worker_session::run() {
  const room_for_last_words room;
  if (auto ready = begin(); !ready) {
    tell(ready.error());
    return 1;
  }
  // First: the listener may load more engines.
  const std::string what = protocol::text_of(protocol::worker_description{
      .gpu = state_->gpu ? state_->gpu->description() : std::string(), .engines = state_->engines->loaded_engines()});
  look_at_memory();
  try {
    state_->orders.emplace([this] { enter_gpu(); });
    state_->releases.emplace([this] { enter_gpu(); });
    state_->maker = std::thread([this] {
      make_memory();
      state_->asks_for_memory.shut_down();  // nobody shall wait for an answer
    });
    state_->listener = std::thread([this] { listen(); });
  } catch (const std::system_error& e) {
    tell(error::from_errno(reaction::retry_later, "worker", "starting the worker's threads", e.code().value()));
    if (home_ == home::process) ::_exit(1);
    end_helpers();
    return 1;
  }
  tell(protocol::message::ready, what);
  while (go_.load() == 0) futex_wait(go_, 0, futex_scope::process);
  // One that never served has nothing to do: what is in the mailbox, others have run.
  const auto served = go_.load() == 1 ? state_->work->run() : result<void>();
  if (!served) tell(served.error());
  if (home_ == home::process) {
    // Engines' own threads and the listener may be anywhere: leave without destructors.
    state_->listener.detach();
    if (state_->maker.joinable()) state_->maker.detach();
    ::_exit(served ? 0 : 1);
  }
  state_->listener.join();
  end_helpers();
  return served ? 0 : 1;
}

}  // namespace troupe
