// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Opens a device: makes its parts, and everything that it needs before its first worker.
#include <unistd.h>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/core/check_options.hpp>
#include <troupe/device/core/core.hpp>
#include <troupe/device/recovery/fault_files.hpp>

#include <algorithm>
#include <filesystem>

namespace troupe {
namespace {

device_options named(device_options o, std::uint32_t index) {
  if (o.name.empty()) o.name = cat(o.engine, ":", has_platform(o, o.engine) ? o.ordinal : index);
  return o;
}

}  // namespace

std::shared_ptr<device_core> device_core::open(const device_options& o, std::uint32_t index,
                                               const result<device_environment>& environment) {
  // The destructor must not run in a child of this process, which has none of the threads that it ends, nor after
  // descriptors were lost, whose numbers other files may have now.
  std::shared_ptr<device_core> core(new device_core(o, index, environment ? *environment : device_environment()),
                                    [](device_core* c) {
                                      if (c->admission.abandoned())
                                        process_home::keep(c);
                                      else
                                        delete c;
                                    });
  core->loop.set_device(core);
  result<void> ready = environment ? core->set_up(environment->runtime_origin) : environment.error();
  if (ready) ready = core->reactor.start(core);
  if (ready)
    core->lifecycle.start();
  else
    core->lifecycle.give_up(ready.error());
  return core;
}

device_core::device_core(const device_options& o, std::uint32_t index, device_environment environment)
    : device_board(named(o, index), std::move(environment.loop), segments, environment.staging,
                   std::move(environment.log)),
      engine_reason(std::move(environment.engine_reason)),
      segments(*this, workers, lifecycle),
      completion(*this, workers, lifecycle),
      reactor(*this, completion, environment.has_reactor_thread),
      workers(*this, segments, lifecycle, std::move(environment.make_worker)),
      hardware(*this, workers),
      quarantine(*this),
      start_deadlines(*this, completion),
      watchdog(*this, completion, workers, lifecycle),
      mailbox(*this, segments, completion, quarantine, start_deadlines, watchdog),
      faults(*this, completion, quarantine),
      recovery(*this, completion, start_deadlines, workers, segments, faults),
      lifecycle(*this, completion, reactor, workers, recovery, hardware),
      exchange(*this, segments, workers, completion),
      peers(*this, segments, workers, exchange, mailbox, hardware),
      spin_for_room(o.wait, usable_cores()),
      wait_in_call_(std::move(environment.wait_in_call)) {}

/// The object that all handles share. Everything inside a device holds the core itself instead, so that it does not
/// keep the device open.
struct device_core::closes_with_handles {
  explicit closes_with_handles(std::shared_ptr<device_core> c) noexcept : core(std::move(c)) {}
  closes_with_handles(const closes_with_handles&) = delete;
  ~closes_with_handles() {
    if (core->lifecycle.was_opened() && !core->admission.left()) core->lifecycle.close_without_handles();
  }
  std::shared_ptr<device_core> core;
};

std::shared_ptr<device_core> device_core::make_handle() {
  const auto shared = std::make_shared<closes_with_handles>(shared_from_this());
  handles_ = shared;
  return {shared, this};
}

std::shared_ptr<device_core> device_core::handle() noexcept {
  const auto shared = handles_.lock();
  return shared ? std::shared_ptr<device_core>(shared, this) : nullptr;
}

device_core::~device_core() {
  reactor.end();
  reactor.join(true);
  segments.hide_from_peers();
  memory.abandon();
}

result<void> device_core::set_up(const std::string& runtime_origin) {
  if (auto bad = check(options)) return *bad;
  if (gpu && options.confinement == confinement::strict)
    return error(reaction::unsupported, "device",
                 "device_options::confinement is strict; on a GPU, the engine \"" + options.engine +
                     "\" needs files and system calls that only its driver knows: use confinement::standard there");
  TROUPE_TRY(channel.create(requests.capacity()));
  TROUPE_TRY(completion.begin_reading());
  const auto up = [](std::uint64_t bytes) { return round_up(bytes, segment_alignment); };
  // Reserves more addresses than the limits, because making and freeing segments of different sizes fragments them.
  // Host memory has two kinds of segments.
  const std::uint64_t device_limit = memory.statistics(memory_kind::device).total_bytes,
                      host_limit = memory.statistics(memory_kind::host).total_bytes;
  const std::uint64_t device_bytes = std::max(2 * up(device_limit) + 64 * segment_alignment,
                                              region::least_bytes(options.isolation)),
                      host_bytes = 3 * up(host_limit) + 64 * segment_alignment;
  // Several workers can be threads of one process, and the driver reserves requested addresses only at large
  // boundaries.
  constexpr std::uint64_t boundary = std::uint64_t{1} << 40;
  const std::uint64_t all_bytes = device_bytes + host_bytes;
  auto addresses = TROUPE_TRY(region::claim(options.isolation, gpu ? round_up(all_bytes, boundary) : all_bytes));
  const std::uint64_t begin = addresses.begin();
  segments.set_addresses(begin, device_bytes, host_bytes);
  quarantine.set_addresses(begin, begin + all_bytes);
  auto greeting = TROUPE_TRY(make_greeting(begin, device_bytes, host_bytes));
  faults.set_gpu_core_stem(greeting.gpu_core_stem);
  workers.prepare(std::move(greeting), std::make_shared<const region>(std::move(addresses)), runtime_origin);
  return {};
}

result<protocol::greeting> device_core::make_greeting(std::uint64_t begin, std::uint64_t device_bytes,
                                                      std::uint64_t host_bytes) const {
  protocol::greeting hello{.settings = {},
                           .backend = options.engine,
                           .gpu_core_stem = {},
                           .folders = {},
                           .libraries = {},
                           .readable_folders = {},
                           .plug_ins = {}};
  if (!options.gpu_core_folder.empty()) {
    if (!gpu)
      return error(reaction::unsupported, "device",
                   "device_options::gpu_core_folder is set, but the engine \"" + options.engine +
                       "\" has no GPU; device_options::core_dumps lets the worker's process leave a core file");
    hello.gpu_core_stem = std::filesystem::absolute(options.gpu_core_folder.str()).string() + "/" +
                          name_for_files(options.name) + "-worker-";
  }
  hello.folders.assign(options.engine_folders.begin(), options.engine_folders.end());
  hello.folders.push_back(options.runtime_folder + "/engines");
  for (const std::string& f : options.readable_folders)
    hello.readable_folders.push_back(std::filesystem::absolute(f).string());
  hello.libraries.assign(options.libraries.begin(), options.libraries.end());
  hello.settings = {.version = protocol::version,
                    .capacity = requests.capacity(),
                    .wait = options.wait,
                    .lanes = options.lanes,
                    .coalesce = options.coalesce,
                    .pool_lanes = options.lane_pool,
                    .helpers = options.helpers,
                    .ordinal = static_cast<std::int32_t>(options.ordinal),
                    .parent = options.isolation == isolation::process ? static_cast<std::uint32_t>(::getpid()) : 0,
                    .reserve_begin = begin,
                    .reserve_bytes = device_bytes + host_bytes,
                    .device_bytes = device_bytes,
                    .inline_bytes = options.inline_bytes,
                    .longest_task_ns = options.start_timeout.nanoseconds,
                    .memory_limit = options.worker_memory_limit,
                    .core_dumps = options.core_dumps,
                    .compile = options.compile,
                    .confinement = options.confinement,
                    .gpu = gpu,
                    .quiet = false,
                    .cores = {}};
  for (const int core : options.worker_cores) hello.settings.cores.add(core);
  return hello;
}

pending<void> device_core::when(milestone& reached) {
  return admission.left() ? make_ready<void>(admission.refusal()) : reached.watch(shared_from_this());
}

pending<void> device_core::close(bool now) {
  if (!lifecycle.was_opened() || admission.left()) return when_stopped();
  auto answer = ref<detail::asked<void>>::adopt(new detail::asked<void>(shared_from_this()));
  lifecycle.close(now, answer);
  return pending<void>(std::move(answer));
}

pending<void> device_core::reset() {
  if (!lifecycle.was_opened() || admission.left()) return when_ready();
  loop.post([this] { quarantine.lift(); });
  auto answer = ref<detail::asked<void>>::adopt(new detail::asked<void>(shared_from_this()));
  lifecycle.reset(answer);
  return pending<void>(std::move(answer));
}

}  // namespace troupe
