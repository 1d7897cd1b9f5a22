// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <system_error>
#include <troupe/base/cat.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/protocol/xid.hpp>
#include <troupe/worker/schedule/alarm_watch.hpp>

namespace troupe {
namespace {

constexpr timespec nap{.tv_sec = 0, .tv_nsec = 50'000};  // between looks at an alarm

bool concerns_another(const gpu_alarm& a) noexcept {
  return a.process != 0 && a.process != static_cast<std::uint32_t>(::getpid());
}

std::thread started(const char* name, std::function<void()> run) {
  try {
    std::thread t(std::move(run));
    ::pthread_setname_np(t.native_handle(), name);
    return t;
  } catch (const std::system_error&) {
    return {};  // faults are found by asking the driver, as where there is no NVML
  }
}

}  // namespace

alarm_watch::alarm_watch(device_progress& device, platform& gpu, std::atomic<std::uint64_t>& arrived, opener open,
                         std::chrono::milliseconds patience)
    : device_(device),
      gpu_(gpu),
      arrived_(arrived),
      open_(std::move(open)),
      patience_ns_(std::chrono::nanoseconds(patience).count()) {
  listener_ = started("troupe-alarms", [this] { listen(); });
}

alarm_watch::~alarm_watch() {
  ending_.store(true);
  if (listener_.joinable()) listener_.join();
  probes_.fetch_add(1);
  futex_wake(probes_, futex_scope::process);
  if (prober_.joinable()) prober_.join();
}

void alarm_watch::listen() noexcept {
  (void)::prctl(PR_SET_TIMERSLACK, 1000UL);
  auto source = open_();
  if (!source) return;
  if (!gpu_.enter()) return;
  std::int32_t counts = 0;
  if (auto made = gpu_.make_stream(priority::high, counts); made)
    stream_ = *made;
  else
    return;
  prober_ = started("troupe-probe", [this] { send_probes(); });
  if (!prober_.joinable()) return;
  device_.ask_less_often();
  while (!ending_.load()) {
    const auto heard = (*source)->wait(turn);
    if (!heard) return device_.ask_less_often(false);
    if (!*heard || concerns_another(**heard)) continue;
    xid_.store((*heard)->xid);
    heard_ns_.store(now_ns());
    judge(**heard);
  }
}

// A worker that hears of an error, and is then told of one by the driver, may not have been judged yet.
std::uint32_t alarm_watch::last_heard() const noexcept {
  constexpr std::int64_t recent_ns = 2'000'000'000;
  return now_ns() - heard_ns_.load() < recent_ns ? xid_.load() : 0;
}

void alarm_watch::judge(const gpu_alarm& alarm) noexcept {
  if (alarm.process == 0 || !protocol::xid_ends_a_program(alarm.xid)) return judge_by_probe(alarm);
  named_.store(true);
  device_.lose(error(reaction::context_lost, "cuda",
                     cat("the GPU reported ", protocol::xid_text(alarm.xid), " for this worker: ", alarm.details)));
}

void alarm_watch::judge_by_probe(const gpu_alarm& alarm) noexcept {
  if (!device_.has_work()) return;
  device_.ask();
  if (protocol::xid_stops_the_gpu(alarm.xid)) return;
  const std::uint64_t probe = probes_.fetch_add(1) + 1;
  futex_wake(probes_, futex_scope::process);
  std::uint64_t done = device_.total_done();
  for (std::int64_t still_since = now_ns(); now_ns() - still_since < patience_ns_; ::nanosleep(&nap, nullptr)) {
    if (arrived_.load(std::memory_order_acquire) >= probe || !device_.has_work() || device_.is_lost() || ending_.load())
      return;
    if (const std::uint64_t now_done = device_.total_done(); now_done != done) done = now_done, still_since = now_ns();
  }
  device_.lose(
      error(reaction::context_lost, "cuda",
            cat("the GPU reported ", protocol::xid_text(alarm.xid), ", and has done nothing for this worker since")));
}

void alarm_watch::send_probes() noexcept {
  if (!gpu_.enter()) return;
  for (std::uint32_t sent = 0; !ending_.load();) {
    const std::uint32_t asked = probes_.load();
    if (asked == sent) {
      futex_wait(probes_, asked, futex_scope::process);
      continue;
    }
    sent = asked;
    // The driver may know by now, and says more.
    if (auto ok = gpu_.write(stream_, arrived_, asked); !ok) device_.lose(ok.error());
  }
}

}  // namespace troupe
