// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Opening a device: everything that is there before its first worker.
#include <unistd.h>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/internal/check_options.hpp>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/hardware.hpp>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <system_error>

namespace troupe {
namespace {

constexpr std::uint64_t page_bytes = segment_alignment;

// A backend that brings its platform along has memory and addresses of its own.
bool has_platform(const device_options& o) {
  const std::string file = "/platform." + o.engine + ".so";
  const auto in = [&file](const std::string& folder) { return ::access((folder + file).c_str(), F_OK) == 0; };
  return std::any_of(o.engine_folders.begin(), o.engine_folders.end(), in) || in(o.runtime_folder + "/engines");
}

// Until the first worker says what there is.
constexpr std::uint64_t unknown_bytes = std::uint64_t{1} << 40;

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
  std::shared_ptr<device_core> core(new device_core(o, index, surroundings ? *surroundings : device_surroundings()));
  if (surroundings)
    core->start();
  else
    core->give_up(surroundings.error());
  return core;
}

device_core::device_core(const device_options& o, std::uint32_t index, device_surroundings surroundings)
    : options_(o),
      environment_(current_environment()),  // here, not on the loop's thread, where it could race with a setenv
      loop_(std::move(surroundings.loop)),
      make_worker_(std::move(surroundings.make_worker)),
      reacts_(surroundings.reacts),
      waits_(std::move(surroundings.waits)),
      staging_(surroundings.staging),
      runtime_origin_(std::move(surroundings.runtime_origin)),
      ledger_(check(o) ? 1 : std::bit_ceil(o.mailbox_capacity)),
      cores_(usable_cores()),
      workers_allocate_(has_platform(o)),
      copies_(workers_allocate_ ? copy_threads::helpers_for(cores_) : 0),
      spin_for_answers_(o.wait, cores_, workers_allocate_ ? work_by::gpu : work_by::processors),
      spin_for_room_(o.wait, cores_),
      supervisor_(limits_of(o)),
      quarantine_({.after = o.quarantine_after, .window = o.restart_window}) {
  if (o.name.empty()) options_.name = cat(o.engine, ":", workers_allocate_ ? o.ordinal : index);
  const std::uint64_t all = machine_bytes();
  const auto limit = [](std::uint64_t asked, std::uint64_t otherwise) {
    return (asked != 0 ? asked : otherwise) / 256 * 256;
  };
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  memory_ =
      device_memory::make(*this, {.device_bytes = limit(o.memory_limit, workers_allocate_ ? unknown_bytes : all / 2),
                                  .host_bytes = limit(o.host_memory_limit, all / 4),
                                  .seal_granule = workers_allocate_ ? segment_alignment : page,
                                  .seals_segments = workers_allocate_});
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
  for (const auto& p : seen_through_)
    if (const auto channel = p.lock()) channel->hide_all();
  memory_->abandon();
}

result<void> device_core::set_up() {
  if (auto bad = check(options_)) return *bad;
  const auto at = protocol::layout::for_capacity(ledger_.capacity());
  // What the first worker will share with us; until then, nobody.
  auto channel = TROUPE_TRY(memory_file::create("troupe-channel", at.total));
  channel_memory_ = TROUPE_TRY(mapping::map(channel, map_access::read_write));
  shown_channel_ = std::make_shared<const memory_file>(std::move(channel));
  // Only this process writes the mailbox: whatever a worker does, what was sent stays as it was.
  auto mailbox = TROUPE_TRY(memory_file::create_for_readers("troupe-mailbox", at.mailbox_total));
  auto written = TROUPE_TRY(mapping::map(mailbox, map_access::read_write));
  TROUPE_TRY(mailbox.end_writing());
  mailbox_memory_ = std::move(written);
  mailbox_file_ = std::move(mailbox);
  channel_ = {at, channel_memory_.data(), mailbox_memory_.data()};
  commands_.emplace(channel_.queue(), channel_.pump());
  auto reports = TROUPE_TRY(ring_region::format(channel_.reports(), at.report_bytes));
  reports_.emplace(reports);

  const auto up = [](std::uint64_t v) { return (v + page_bytes - 1) / page_bytes * page_bytes; };
  const memory_statistics device = memory_->statistics(memory_kind::device),
                          host = memory_->statistics(memory_kind::host);
  // Segments come and go in different sizes, so leave room. Host memory has two kinds of them.
  const std::uint64_t device_bytes = std::max(2 * up(device.total_bytes) + 64 * page_bytes,
                                              region::least_bytes(options_.isolation)),
                      host_bytes = 3 * up(host.total_bytes) + 64 * page_bytes;
  // Several workers of a process are threads of it. A driver gives wanted addresses only at large boundaries.
  constexpr std::uint64_t boundary = std::uint64_t{1} << 40;
  const std::uint64_t all_bytes = device_bytes + host_bytes;
  auto addresses = region::claim(options_.isolation,
                                 workers_allocate_ ? (all_bytes + boundary - 1) / boundary * boundary : all_bytes);
  if (!addresses) return addresses.error();
  const std::uint64_t begin = addresses->begin();
  addresses_of(memory_kind::device) = {begin, device_bytes};
  memory_begin_ = begin;
  memory_end_ = begin + all_bytes;
  addresses_of(memory_kind::host) = {begin + device_bytes, host_bytes};

  region_ = std::make_shared<const region>(std::move(*addresses));

  greeting_ = {.settings = {}, .backend = options_.engine, .gpu_core_stem = {}, .folders = {}, .libraries = {}};
  if (!options_.gpu_core_folder.empty()) {
    if (!workers_allocate_)
      return error(reaction::unsupported, "device",
                   "device_options::gpu_core_folder is set, but the engine \"" + options_.engine +
                       "\" has no GPU; device_options::core_dumps lets the worker's process leave a core file");
    greeting_.gpu_core_stem = std::filesystem::absolute(options_.gpu_core_folder.str()).string() + "/" +
                              name_for_files(options_.name) + "-worker-";
  }
  greeting_.folders.assign(options_.engine_folders.begin(), options_.engine_folders.end());
  greeting_.folders.push_back(options_.runtime_folder + "/engines");
  greeting_.libraries.assign(options_.libraries.begin(), options_.libraries.end());
  greeting_.settings = {.version = protocol::version,
                        .capacity = ledger_.capacity(),
                        .wait = static_cast<std::uint32_t>(options_.wait),
                        .lanes = options_.lanes,
                        .coalesce = options_.coalesce,
                        .pool = options_.lane_pool,
                        .helpers = options_.helpers,
                        .device = static_cast<std::int32_t>(options_.ordinal),
                        .parent = options_.isolation == isolation::process ? static_cast<std::uint32_t>(::getpid()) : 0,
                        .reserve_begin = begin,
                        .reserve_bytes = device_bytes + host_bytes,
                        .device_bytes = device_bytes,
                        .inline_bytes = options_.inline_bytes,
                        .order_limit_ns = options_.start_timeout.nanoseconds,
                        .memory_limit = options_.worker_memory_limit,
                        .core_dumps = options_.core_dumps,
                        .cores = {}};
  for (const int core : options_.worker_cores) greeting_.settings.cores[core / 64] |= std::uint64_t{1} << core % 64;
  return {};
}

void device_core::start() {
  if (auto ok = set_up(); !ok) return give_up(ok.error());
  if (auto ok = start_reactor(); !ok) return give_up(ok.error());
  opened_ = true;
  opened_ns_ = loop_->now();
  post(*loop_, [self = shared_from_this()] { self->feed({device_supervisor::event_kind::opened}); });
}

result<void> device_core::start_reactor() {
  if (!reacts_) return {};
  if (reactor_.joinable()) reactor_.join();  // that of the time before a reset has nothing left to do
  reactor_ends_.store(false);
  continuations_.open();
  // The thread holds the device until it has stopped: what it answers may let go of every other handle.
  try {
    reactor_ = std::thread([self = shared_from_this()] { self->react(); });
  } catch (const std::system_error& e) {
    continuations_.close();
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
  ready_.reach(why);
  stopped_.reach(why);
  news_.end();
}

}  // namespace troupe
