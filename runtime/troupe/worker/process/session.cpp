// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/process/process.hpp>
#include <troupe/protocol/control.hpp>
#include <troupe/protocol/descriptions/gpu_description.hpp>
#include <troupe/protocol/descriptions/worker_description.hpp>
#include <troupe/worker/plugins/platform.hpp>
#include <troupe/worker/process/allocation_server.hpp>
#include <troupe/worker/process/confinement.hpp>
#include <troupe/worker/process/last_words.hpp>
#include <troupe/worker/process/session.hpp>
#include <troupe/worker/process/task_queue.hpp>
#include <troupe/worker/process/worker_memory.hpp>
#include <troupe/worker/schedule/alarm_watch.hpp>
#include <troupe/worker/schedule/pump.hpp>

namespace troupe {
namespace {

// Returns false if the environment variable disables a feature, for users who must avoid it or compare without it.
bool is_wanted(const char* variable) {
  const char* const value = ::secure_getenv(variable);
  return value == nullptr || std::string_view(value) != "0";
}

error bad_greeting(std::string text) { return error(reaction::fatal, "worker", "handshake: " + std::move(text)); }

// Not a retry_later error: a process that has just started has all of its addresses, so waiting frees none.
error cannot_reserve(const error& why) {
  error::details d = why.all();
  d.reaction = reaction::fatal;
  d.text +=
      ": the worker reserves addresses for all memory that the device may allocate; lower "
      "device_options::memory_limit and host_memory_limit, or raise the limit of the address space (ulimit -v)";
  return error(std::move(d));
}

error cannot_start_threads(int code) {
  error::details d = error::from_errno(reaction::retry_later, "worker", "starting the worker's threads", code).all();
  d.text +=
      "; a limit of memory (device_options::worker_memory_limit, ulimit -v) or of processes (ulimit -u) may leave no "
      "room for them";
  return error(std::move(d));
}

}  // namespace

struct worker_session::state {
  std::unique_ptr<platform> gpu;
  memory_file file;
  mapping channel_memory, mailbox_memory, workers_memory;
  worker_memory memory;  // used on the thread of `tasks`
  allocation_server allocations;
  std::optional<slot_queue_reader> commands;
  std::optional<ring_writer> report_ring;
  std::optional<reporter> reports;
  std::optional<engine_set> engines;
  std::optional<pump> work;
  std::optional<alarm_watch> alarms;
  std::thread listener;
  std::optional<task_queue> tasks;  // carries out the messages that the listener receives
  bool task_failed = false;         // true: no task is carried out any more

  protocol::view channel(const protocol::layout& at) const noexcept {
    return {at, channel_memory.data(), mailbox_memory.data()};
  }
};

worker_session::worker_session(control_socket application, home where)
    : application_(std::move(application)), home_(where) {}

worker_session::~worker_session() {
  if (!state_) return;
  state_->alarms.reset();
  state_->work.reset();  // the device's work ends before its memory is unmapped
  if (state_->gpu) state_->gpu->unpin(state_->channel_memory.data());
}

void worker_session::send(protocol::message kind, const std::string& text, reaction how) {
  protocol::control_message m{};
  m.kind = kind;
  m.reaction = static_cast<std::uint32_t>(how);
  // If the application has ended, nobody needs the message.
  (void)application_.send(protocol::packet_of(m, text));
}

// The application ends a worker that sends too much, so messages that an engine causes are limited here.
void worker_session::send_of_engine(protocol::message kind, const std::string& text) {
  {
    const std::scoped_lock guard(counting_);
    if (!budget_.admit(now_ns())) return;
  }
  send(kind, text);
}

void worker_session::send_failure(const error& why) { send(protocol::message::failed, why.text(), why.reaction()); }

result<void> worker_session::begin() {
  std::vector<std::byte> packet(protocol::most_message_bytes);
  using attached = protocol::greeting_descriptor;
  auto got = TROUPE_TRY(application_.receive(packet, control_socket::most_fds));
  const auto hello = protocol::parse_message(std::span(packet.data(), got.bytes));
  if (got.outcome != control_socket::outcome::message || !hello || got.fds.size() < attached::count)
    return bad_greeting("no greeting was received");
  if (hello->head.kind != protocol::message::greeting) return bad_greeting("the first message was not a greeting");
  const protocol::greeting g = TROUPE_TRY(protocol::parse_greeting(hello->head.settings, hello->text));
  if (got.fds.size() != attached::count + g.plug_ins.size())
    return bad_greeting(
        cat("the greeting came with ", got.fds.size(), " descriptors; expected ", attached::count + g.plug_ins.size()));
  std::vector<opened_plug_in> plug_ins;
  for (std::size_t i = 0; i < g.plug_ins.size(); ++i)
    plug_ins.push_back({g.plug_ins[i], std::move(got.fds[attached::count + i])});
  longest_task_ns_ = g.settings.longest_task_ns;
  if (home_ == home::process) {
    TROUPE_TRY(die_with_parent(static_cast<int>(g.settings.parent)));
    const std::string unconfined = TROUPE_TRY(confine(g, plug_ins));
    if (!unconfined.empty() && !g.settings.quiet) send(protocol::message::remark, unconfined);
  }
  const auto at = protocol::layout::for_capacity(g.settings.capacity);
  auto file = TROUPE_TRY(memory_file::open(std::move(got.fds[attached::channel]), at.total));
  auto seen = TROUPE_TRY(mapping::map(file, map_access::read_write));
  auto mailbox_file = TROUPE_TRY(memory_file::open(std::move(got.fds[attached::mailbox]), at.mailbox_total));
  auto mailbox = TROUPE_TRY(mapping::map(mailbox_file, map_access::read_only));
  auto shared = TROUPE_TRY(memory_file::open(std::move(got.fds[attached::workers]), protocol::workers_page::bytes));
  auto workers = TROUPE_TRY(mapping::map(shared, map_access::read_write));
  auto questions = TROUPE_TRY(control_socket::adopt(std::move(got.fds[attached::questions])));
  auto gpu = load_platform(g.backend, g.folders,
                           {.device = g.settings.ordinal,
                            .in_application = home_ == home::thread,
                            .core_file = protocol::gpu_core_file(g.gpu_core_stem, ::getpid())},
                           plug_ins);
  if (!gpu) return gpu.error();
  const std::uint64_t apart = *gpu ? g.settings.device_bytes : 0;
  if (*gpu) {
    TROUPE_TRY((*gpu)->enter());
    TROUPE_TRY((*gpu)->reserve(g.settings.reserve_begin, apart));
    TROUPE_TRY((*gpu)->pin(seen.data(), seen.size(), map_access::read_write));
  }
  auto addresses = address_reservation::reserve(g.settings.reserve_bytes - apart, g.settings.reserve_begin + apart);
  if (!addresses) return cannot_reserve(addresses.error());
  platform* const device = gpu->get();
  state_.reset(new state{.gpu = std::move(*gpu),
                         .file = std::move(file),
                         .channel_memory = std::move(seen),
                         .mailbox_memory = std::move(mailbox),
                         .workers_memory = std::move(workers),
                         .memory = {device, std::move(*addresses)},
                         .allocations = {std::move(questions), device, [this] { enter_gpu(); }},
                         .commands = {},
                         .report_ring = {},
                         .reports = {},
                         .engines = {},
                         .work = {},
                         .alarms = {},
                         .listener = {},
                         .tasks = {}});
  return make_pump(g, std::move(plug_ins));
}

// Makes the engines and the pump, and the memory that they share with the application.
result<void> worker_session::make_pump(const protocol::greeting& g, std::vector<opened_plug_in> plug_ins) {
  const protocol::view channel = state_->channel(protocol::layout::for_capacity(g.settings.capacity));
  auto reports = ring_region::open(channel.reports());
  if (!reports) return reports.error();
  if (home_ == home::process) write_last_words_to(channel.page().note);
  state_->commands.emplace(channel.queue(), channel.pump());
  state_->report_ring.emplace(*reports);
  state_->reports.emplace(channel, *state_->report_ring, home_ == home::process);
  state_->engines.emplace(g.backend, g.folders,
                          engine_context{.abi = troupe_engine_abi,
                                         .device = g.settings.ordinal,
                                         .native_context = state_->gpu ? state_->gpu->context() : nullptr,
                                         .lanes = max_lanes,
                                         .forbids_compiling = !g.settings.compile,
                                         .remarks = this,
                                         .remark =
                                             [](void* me, const char* text) {
                                               static_cast<worker_session*>(me)->send_of_engine(
                                                   protocol::message::remark, text);
                                             }},
                          std::move(plug_ins));
  TROUPE_TRY(state_->engines->load("memory"));
  for (const std::string& library : g.libraries) TROUPE_TRY(state_->engines->load(library));
  state_->work.emplace(pump::parts{
      .channel = channel,
      .commands = *state_->commands,
      .reports = *state_->reports,
      .engines = *state_->engines,
      .wait = g.settings.wait,
      .lanes = lane_chooser(g.settings.lanes, g.settings.pool_lanes, g.settings.helpers),
      .inline_bytes = g.settings.inline_bytes,
      .coalesce = g.settings.coalesce,
      .lanes_have_cores = usable_cores() > 2,  // one is the pump's, one the application's
      .most_in_order = is_wanted("TROUPE_LAUNCHES_TOGETHER") ? most_in_order : 0,
      .memory_begin = g.settings.reserve_begin,
      .memory_end = g.settings.reserve_begin + g.settings.reserve_bytes,
      .gpu = state_->gpu.get(),
      .context_lost = [this](const failure& why) { give_up(why); },
      .restarted = [this](const std::string& library) { send_of_engine(protocol::message::restarted, library); }});
  TROUPE_TRY(state_->work->make_streams());
  // Not if the driver writes a core file first, and not in an application, into which NVML must not be loaded.
  if (is_wanted("TROUPE_GPU_ALARMS") && state_->gpu && home_ == home::process && g.gpu_core_stem.empty())
    state_->alarms.emplace(
        state_->work->device(), *state_->gpu, channel.page(),
        *reinterpret_cast<protocol::workers_page*>(state_->workers_memory.data()),
        [pci = protocol::parse_gpu_description(state_->gpu->description()).pci] { return listen_to_gpu(pci); });
  return {};
}

void worker_session::enter_gpu() {
  if (state_->gpu)
    if (auto ok = state_->gpu->enter(); !ok) send_failure(ok.error());
}

// Answers pings at once, because the application considers a silent worker dead. Mapping memory, which also pins it,
// and opening libraries can take seconds, so a task queue does both, in the order of the messages. A task that takes
// longer than a worker may take to start counts as hung; pings are then no longer answered.
void worker_session::listen() {
  std::vector<std::byte> packet(protocol::most_message_bytes);
  while (true) {
    auto got = application_.receive(packet, 1);
    if (!got) {  // for instance because this process has no free descriptor for the memory
      send_failure(got.error());
      return end();
    }
    auto received = protocol::parse_message(std::span(packet.data(), got->bytes));
    if (got->outcome != control_socket::outcome::message || !received) {
      // The application has ended. A worker process exits without cleaning up, because a lane may be stuck in an
      // engine.
      if (home_ == home::process) ::_exit(0);
      return stop();
    }
    if (received->head.kind == protocol::message::stop) return stop();
    if (received->head.kind == protocol::message::ping) {
      const std::int64_t since = state_->tasks->busy_since_ns();
      if (since == 0 || now_ns() - since < longest_task_ns_) send(protocol::message::pong, {});
      continue;
    }
    state_->tasks->add([this, m = received->head, text = std::move(received->text),
                        fds = std::make_shared<std::vector<file_descriptor>>(std::move(got->fds))] {
      if (state_->task_failed) return;  // a request that needs the missing memory must not find later memory instead
      if (auto ok = handle_command(m, text, std::move(*fds)); !ok) {
        state_->task_failed = true;
        send_failure(ok.error());
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
      if (go_.load() == 0) state_->engines->warm_up(text);  // later only the pump uses the engines
      return {};
    case protocol::message::look:
      publish_free_memory();
      return {};
    case protocol::message::map:
      done = state_->memory.map(m.memory, std::move(fds));
      break;
    case protocol::message::protect:
      done = state_->memory.protect(m.memory, std::move(fds));
      break;
    case protocol::message::unmap:
      state_->memory.unmap(m.memory.address);
      break;
    default:
      return {};
  }
  if (done) state_->work->segments_changed(m.memory.number);
  return done;
}

// The application itself knows how much memory the host has.
void worker_session::publish_free_memory() noexcept {
  protocol::free_memory& seen = state_->work->channel().page().free;
  if (state_->gpu)
    if (const auto free = state_->gpu->free_bytes()) seen.free_bytes.store(*free);
  seen.looks.fetch_add(1);
  futex_wake(seen.looks, futex_scope::shared);
}

// A standby does not read the mailbox before it is asked to serve.
void worker_session::serve(const protocol::service& s) {
  if (go_.load() != 0) return;
  state_->commands->take_over(s.kept, s.next_ticket);
  state_->reports->continue_after(s.last_report);
  state_->work->begin_generation(s.generation);
  state_->work->segments_changed(s.segments);
  state_->engines->when_loaded([this](const std::string& library) { send(protocol::message::loaded, library); });
  go_.store(1);
  futex_wake(go_, futex_scope::process);
}

// Called on a lane. A worker process exits without cleaning up, because nothing in it can be relied on.
void worker_session::give_up(const failure& why) {
  // True if the GPU has ended the kernels: the driver reported it, or an alarm that names this process.
  const bool ended = state_->work->device().has_ended_kernels() || (state_->alarms && state_->alarms->is_named());
  state_->work->channel().page().note.write(
      {.ticket = why.first.ticket, .xid = state_->alarms ? state_->alarms->last_detected() : 0, .work_ended = ended});
  send_failure(
      error(reaction::context_lost, why.domain, (why.first.name.empty() ? "" : why.first.name + ": ") + why.text));
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
  state_->allocations.stop();
  state_->tasks.reset();
}

int worker_session::run() {
  const signal_stack stack;
  if (auto ready = begin(); !ready) {
    send_failure(ready.error());
    return 1;
  }
  // Read before the listener starts, because the listener may load more engines.
  const std::string what = protocol::text_of(protocol::worker_description{
      .gpu = state_->gpu ? state_->gpu->description() : std::string(), .engines = state_->engines->loaded_engines()});
  publish_free_memory();
  try {
    state_->tasks.emplace([this] { enter_gpu(); });
    state_->allocations.start();
    state_->listener = std::thread([this] { listen(); });
  } catch (const std::system_error& e) {
    send_failure(cannot_start_threads(e.code().value()));
    if (home_ == home::process) ::_exit(1);
    end_helpers();
    return 1;
  }
  send(protocol::message::ready, what);
  while (go_.load() == 0) futex_wait(go_, 0, futex_scope::process);
  // A worker that never served does not touch the mailbox: other workers have run the requests in it.
  const auto served = go_.load() == 1 ? state_->work->run() : result<void>();
  if (!served) send_failure(served.error());
  if (home_ == home::process) {
    // The listener and the engines' own threads still run, so no destructor may run.
    state_->listener.detach();
    state_->allocations.detach();
    ::_exit(served ? 0 : 1);
  }
  state_->listener.join();
  end_helpers();
  return served ? 0 : 1;
}

}  // namespace troupe
