// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/protocol/xid.hpp>
#include <troupe/worker/schedule/alarm_watch.hpp>

namespace troupe {
namespace {

constexpr timespec nap{.tv_sec = 0, .tv_nsec = 50'000};  // between checks after an alarm
constexpr timespec between_signs{.tv_sec = 0, .tv_nsec = 1'000'000};
constexpr std::int64_t between_questions_ns = 2'000'000;

bool concerns_another(const gpu_alarm& a) noexcept {
  return a.process != 0 && a.process != static_cast<std::uint32_t>(::getpid());
}

// The number of signs that other workers have counted since this worker's last progress.
class sign_lag {
 public:
  explicit sign_lag(const std::atomic<std::uint64_t>& signs) noexcept : signs_(&signs), before_(signs.load()) {}
  bool is_too_large(std::int64_t now) noexcept {
    const std::uint64_t since = signs_->load() - before_;
    if (since == 0) return false;
    if (first_ns_ == 0) first_ns_ = now;
    return since >= alarm_watch::max_missed_signs && now - first_ns_ >= alarm_watch::max_lag_ns;
  }

 private:
  const std::atomic<std::uint64_t>* signs_;
  std::uint64_t before_;
  std::int64_t first_ns_ = 0;
};

std::thread started(const char* name, std::function<void()> run) {
  try {
    std::thread t(std::move(run));
    ::pthread_setname_np(t.native_handle(), name);
    return t;
  } catch (const std::system_error&) {
    return {};  // errors are then found by querying the driver, as without NVML
  }
}

}  // namespace

alarm_watch::alarm_watch(device_progress& device, platform& gpu, protocol::progress_page& page,
                         protocol::workers_page& all, opener open, std::chrono::milliseconds probe_timeout)
    : device_(device),
      gpu_(gpu),
      page_(page),
      all_(all),
      open_(std::move(open)),
      probe_timeout_ns_(std::chrono::nanoseconds(probe_timeout).count()),
      sent_(all.questions.load()) {
  std::int32_t counts = 0;
  auto made = gpu_.make_stream(priority::high, counts);
  if (!made) return;
  stream_ = *made;
  prober_ = started("troupe-probe", [this] { send_probes(); });
  if (prober_.joinable()) listener_ = started("troupe-alarms", [this] { listen(); });
}

alarm_watch::~alarm_watch() {
  ending_.store(true);
  if (listener_.joinable()) listener_.join();
  all_.questions.fetch_add(1);  // wakes the prober; the other workers send probes in vain
  futex_wake(all_.questions, futex_scope::shared);
  if (prober_.joinable()) prober_.join();
}

void alarm_watch::listen() noexcept {
  (void)::prctl(PR_SET_TIMERSLACK, 1000UL);
  auto source = open_();
  if (!source) return;
  device_.ask_less_often();
  while (!ending_.load()) {
    const auto alarm = (*source)->wait(longest_wait);
    if (!alarm) return device_.ask_less_often(false);
    if (!*alarm || concerns_another(**alarm)) continue;
    xid_.store((*alarm)->xid);
    detected_ns_.store(now_ns());
    classify_alarm(**alarm);
  }
}

// The driver may return an error before its alarm, which was detected already, has been classified.
std::uint32_t alarm_watch::last_detected() const noexcept {
  constexpr std::int64_t recent_ns = 2'000'000'000;
  return now_ns() - detected_ns_.load() < recent_ns ? xid_.load() : 0;
}

void alarm_watch::classify_alarm(const gpu_alarm& alarm) noexcept {
  // If the channel no longer exists, the kernel's log may name a process that happened to call the driver.
  const bool is_mine = alarm.process != 0 && device_.has_work();
  if (!is_mine || !protocol::xid_ends_a_program(alarm.xid)) return classify_by_probe(alarm);
  named_.store(true);
  device_.lose(error(reaction::context_lost, "cuda",
                     cat("the GPU reported ", protocol::xid_text(alarm.xid), " for this worker: ", alarm.details)));
}

void alarm_watch::classify_by_probe(const gpu_alarm& alarm) noexcept {
  if (!device_.has_work()) return;
  const bool driver_decides = protocol::xid_is_told_early(alarm.xid);
  device_.ask();
  sign_lag lag(all_.signs);
  const std::uint32_t question = all_.questions.fetch_add(1) + 1;
  futex_wake(all_.questions, futex_scope::shared);
  std::uint64_t done = device_.total_done();
  const std::int64_t begun = now_ns();
  std::int64_t last_progress = begun, asked = begun;
  while (true) {
    if (page_.probe.load(std::memory_order_acquire) >= question || !device_.has_work() || is_over()) return;
    const std::int64_t now = now_ns();
    // Another call, such as one that maps memory, may block this process in the driver for long.
    if (sent_.load() < question) lag = sign_lag(all_.signs), last_progress = now;
    if (const std::uint64_t now_done = device_.total_done(); now_done != done)
      done = now_done, last_progress = now, lag = sign_lag(all_.signs);
    // The driver returns other errors after 0.3 s or more, and a call that waits for that also delays the process's
    // exit.
    if (driver_decides && now - asked >= between_questions_ns) asked = now, device_.ask();
    if (driver_decides && now - begun >= probe_timeout_ns_) return;
    if (!driver_decides && (now - last_progress >= probe_timeout_ns_ || lag.is_too_large(now))) break;
    ::nanosleep(&nap, nullptr);
  }
  device_.lose(
      error(reaction::context_lost, "cuda",
            cat("the GPU reported ", protocol::xid_text(alarm.xid), ", and has done nothing for this worker since")));
}

void alarm_watch::send_probes() noexcept {
  (void)::prctl(PR_SET_TIMERSLACK, 1000UL);
  if (!gpu_.enter()) return;
  while (!ending_.load()) {
    const std::uint32_t asked = all_.questions.load();
    if (asked == sent_.load()) {
      futex_wait(all_.questions, asked, futex_scope::shared);
      continue;
    }
    if (!device_.has_work()) all_.asked.fetch_add(1);
    // The driver may have the error by now, with more detail.
    if (auto ok = gpu_.write(stream_, page_.probe, asked); !ok) return device_.lose(ok.error());
    sent_.store(asked);
    count_signs();
  }
}

// Counts more signs than another worker may miss, because that worker may not have begun to count. Stops at the next
// question.
void alarm_watch::count_signs() noexcept {
  const std::int64_t until = now_ns() + protocol::workers_page::longest_wait_ns;
  const auto is_enough = [&] { return device_.has_work() || is_over() || all_.questions.load() != sent_.load(); };
  for (std::uint64_t given = 0; given < 3 * max_missed_signs && !is_enough(); ++given) {
    const std::uint64_t write = ++written_;
    if (auto ok = gpu_.write(stream_, page_.repeated, write); !ok) return device_.lose(ok.error());
    while (page_.repeated.load(std::memory_order_acquire) < write) {
      if (is_enough() || now_ns() >= until) return;
      ::nanosleep(&nap, nullptr);
    }
    all_.signs.fetch_add(1);
    ::nanosleep(&between_signs, nullptr);
  }
}

}  // namespace troupe
