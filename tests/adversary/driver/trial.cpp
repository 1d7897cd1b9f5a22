// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "trial.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>

#include "clients.hpp"
#include "stage.hpp"
#include "usage.hpp"

namespace adversary {
namespace {

using namespace troupe;
using namespace std::chrono_literals;

constexpr auto run_limit = 1s, start_limit = 3s;

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

device_options options(const char* name) {
  device_options o;
  o.engine = "host";
  o.name = name;
  o.engine_folders = {TROUPE_TEST_ENGINE_FOLDER};
  o.libraries = {"testing", "blas", "jit"};
  o.mailbox_capacity = 64;
  o.memory_limit = 256 << 20;
  o.host_memory_limit = 64 << 20;
  o.restarts = 100'000;
  o.quarantine_after = 0;
  o.start_timeout = start_limit;
  o.close_timeout = 1s;
  return o;
}

// Kills the other device's worker repeatedly, and measures how long the device takes to serve again.
class recovery_meter {
 public:
  recovery_meter(const device& gpu, std::chrono::milliseconds interval)
      : thread_([this, gpu, interval] {
          for (auto next = std::chrono::steady_clock::now(); !end_.load();) {
            next += interval;
            measure(gpu);
            while (!end_.load() && std::chrono::steady_clock::now() < next) std::this_thread::sleep_for(2ms);
          }
        }) {}
  ~recovery_meter() { stop(); }
  void stop() {
    end_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  // Returns the time that 99 % of the recoveries of a long run do not exceed. In a short run, other programs may cause
  // the slowest tenth.
  double most_ms() const {
    std::vector<double> sorted = times_ms_;
    std::sort(sorted.begin(), sorted.end());
    const double part = sorted.size() < 300 ? 0.9 : 0.99;
    return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * part)];
  }
  std::size_t count() const { return times_ms_.size(); }

 private:
  void measure(const device& gpu) {
    const auto pid = gpu.statistics().worker_pid;
    if (!pid || ::kill(*pid, SIGKILL) != 0) return;
    const std::int64_t killed = now_ns();
    do {
      // Waits until the killed worker no longer answers. Sleeps, so that it takes no processor from the application.
      while (gpu.statistics().worker_pid == pid && now_ns() - killed < 20'000'000'000)
        std::this_thread::sleep_for(200us);
    } while (!gpu.ping().get() && now_ns() - killed < 20'000'000'000);
    times_ms_.push_back(ms(now_ns() - killed));
  }

  std::atomic<bool> end_{false};
  std::vector<double> times_ms_;
  std::thread thread_;
};

// Checks that the log is neither forged nor flooded.
struct log_checks {
  std::atomic<std::uint64_t> lines{0}, forged{0};

  log_sink sink() {
    return [this](log_level, std::string_view text) {
      ++lines;
      for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool is_c1 = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
        if (c < 0x20 || c == 0x7f || is_c1) return void(++forged);
      }
    };
  }
};

struct usage_mark {
  double seconds = processor_seconds();
  std::int64_t at_ns = now_ns();
  double cores_since() const {
    return (processor_seconds() - seconds) / (static_cast<double>(now_ns() - at_ns) * 1e-9);
  }
};

class trial {
 public:
  trial(const strategy& s, double seconds, std::uint64_t seed)
      : strategy_(s),
        seconds_(seconds),
        stage_(seed),
        runtime_(std::make_unique<runtime>(runtime_options{.log = log_.sink()})),
        other_(runtime_->open_device(options("other"))),
        hostile_(open_hostile()) {}

  outcome run();

 private:
  device open_hostile() {
    const hostile_environment now(stage_, strategy_.name);
    device_options o = options("hostile");
    o.run_timeout = run_limit;
    o.heartbeat_timeout = 1s;
    if (strategy_.is_unconfined) o.confinement = confinement::off;
    return runtime_->open_device(o);
  }
  void broke(std::string text) { broken_.push_back(std::move(text)); }
  void control();
  void attack();
  bool attack_once(const client_threads& clients, std::int64_t end_ns);
  void expect_figures(const recovery_meter& recoveries, double cores);
  void expect_service();
  void end();
  bool is_hanging(const client_threads& clients) const { return ms(clients.waiting_ns()) > longest_wait_ms() + 10'000; }
  // Requests before this one in the mailbox may delay it by as much as their answers may come late.
  double longest_wait_ms() const {
    const bool waits_for_start = strategy_.delays_start || asks_for_memory();
    return 1000.0 * run_limit.count() + (waits_for_start ? 1000.0 * start_limit.count() : 0) +
           2 * promises::answer_after_limit_ms * slowness_;
  }
  // Managed memory is allocated by a worker: an allocation waits up to start_timeout for one that answers.
  bool asks_for_memory() const { return strategy_.group == std::string_view("memory"); }
  // Returns the end of an attack that begins now. While no worker can start at all, a device stops after its
  // start_timeout, as it must: such an attack is shorter, and is repeated.
  std::int64_t end_of_attack(std::int64_t end_ns) const {
    const std::int64_t now = now_ns(), longest = std::chrono::nanoseconds(start_limit).count() / 3;
    return std::min(std::max(end_ns, now + 100'000'000), strategy_.delays_start ? now + longest : INT64_MAX);
  }
  [[noreturn]] void give_up();

  const strategy& strategy_;
  const double seconds_;
  stage stage_;
  log_checks log_;
  std::unique_ptr<runtime> runtime_;
  device other_, hostile_;
  client_counts other_counts_, hostile_counts_;
  std::vector<std::string> broken_, late_;
  double slowness_ = 1, usual_cores_ = 0, usual_recovery_ms_ = 0;
  double flood_ms_ = 0;
  std::int64_t bytes_before_ = 0, most_bytes_ = 0;
  std::string figures_;
};

void trial::control() {
  (void)other_.started().get();
  (void)hostile_.started().get();
  {  // compiles, and allocates memory that stays allocated
    client_counts unused;
    for (const device& gpu : {other_, hostile_}) {
      honest_client first(gpu, unused, asks_for_memory());
      for (std::uint64_t i = 0; i < 5; ++i) first.step(i);
    }
    if (unused.right < 10) broke("requests fail before the attack: " + unused.first_error());
  }
  recovery_meter recoveries(other_, 120ms);
  const client_threads a(other_, other_counts_, 2, false), b(hostile_, hostile_counts_, 2, false);
  const usage_mark mark;
  const std::int64_t end_ns = now_ns() + static_cast<std::int64_t>(std::clamp(seconds_ / 2, 0.3, 5.0) * 1e9);
  while (now_ns() < end_ns) {
    std::this_thread::sleep_for(2ms);
    bytes_before_ = std::max(bytes_before_, private_bytes());  // memory of the clients themselves
  }
  usual_cores_ = mark.cores_since();
  recoveries.stop();
  usual_recovery_ms_ = recoveries.most_ms();
  slowness_ = std::max(1.0, usual_recovery_ms_ / promises::usual_recovery_ms);
  if (hostile_counts_.lost + hostile_counts_.stopped != 0)
    broke("requests fail before the attack: " + hostile_counts_.first_error());
}

void trial::give_up() {
  say(cat("BROKE ", strategy_.name, ": requests without an answer, the application hangs\n"));
  ::_exit(1);
}

// Lets the worker that serves attack, until it is replaced or the time has passed. Returns true if it was replaced.
bool trial::attack_once(const client_threads& clients, std::int64_t end_ns) {
  const std::uint64_t generation = hostile_.statistics().generation;
  const std::uint32_t before = stage_.page().attacks.load();
  const auto serving = hostile_.statistics().worker_pid;
  if (!serving) return false;
  const bool all = strategy_.when != moment::serving;
  stage_.set_attacker(all ? stage_page::everybody : *serving);
  if (all) {
    ::kill(*serving, SIGKILL);
    for (const int standby : hostile_.statistics().standby_pids) ::kill(standby, SIGKILL);
  }
  bool replaced = false;
  while (now_ns() < end_ns && !replaced) {
    std::this_thread::sleep_for(2ms);
    most_bytes_ = std::max(most_bytes_, private_bytes());
    replaced = !all && hostile_.statistics().generation != generation;
    if (is_hanging(clients)) give_up();
  }
  const std::int64_t begun = stage_.page().begun_ns.load(), ended = stage_.page().ended_ns.load();
  const double lasted = ms((ended > begun ? ended : now_ns()) - begun);
  if (stage_.page().attacks.load() != before) flood_ms_ = std::max(flood_ms_, lasted);
  stage_.set_attacker(stage_page::nobody);
  // Waits for an attack that has found nothing to attack, and has ended.
  for (int i = 0; !replaced && i < 100 && stage_.page().ended_ns.load() < stage_.page().begun_ns.load(); ++i)
    std::this_thread::sleep_for(1ms);
  return replaced;
}

void trial::attack() {
  recovery_meter recoveries(other_, seconds_ > 10 ? 1000ms : 120ms);
  most_bytes_ = bytes_before_;
  double cores = 0;
  {
    const client_threads a(other_, other_counts_, 2, false), b(hostile_, hostile_counts_, 2, asks_for_memory());
    const usage_mark mark;
    // If a flood is not ended, it must last long enough to be measured.
    const double least = strategy_.is_flood ? 1.2e-3 * promises::flood_ends_ms * slowness_ : 0;
    const std::int64_t end_ns = now_ns() + static_cast<std::int64_t>(std::max(seconds_, least) * 1e9);
    // An attack may have to wait for its opportunity.
    while (now_ns() < end_ns || (stage_.page().attacks.load() == 0 && now_ns() < end_ns + 20'000'000'000)) {
      const bool is_replaced = attack_once(b, end_of_attack(end_ns));
      std::this_thread::sleep_for(is_replaced ? 20ms : 500ms);  // time to serve
    }
    cores = mark.cores_since();
    while (a.waiting_ns() > 0 && !is_hanging(a) && !is_hanging(b)) std::this_thread::sleep_for(2ms);
    while (b.waiting_ns() > 0 && ms(b.waiting_ns()) < longest_wait_ms() && !is_hanging(a))
      std::this_thread::sleep_for(2ms);
    if (is_hanging(a) || is_hanging(b)) give_up();
    if (stage_.page().attacks.load() == 0) broke("the worker has not attacked, so nothing was tested");
  }
  recoveries.stop();
  expect_figures(recoveries, cores - usual_cores_);
}

void trial::expect_figures(const recovery_meter& recoveries, double cores) {
  const auto count = [](const std::atomic<std::uint64_t>& n) { return std::to_string(n.load()); };
  if (other_counts_.wrong_data + other_counts_.wrong_success != 0)
    broke("the other device: " + count(other_counts_.wrong_data) + " results wrong, " +
          count(other_counts_.wrong_success) + " wrong successes");
  if (strategy_.is_accident && hostile_counts_.wrong_data + hostile_counts_.wrong_success != 0)
    broke("the damaged device: " + count(hostile_counts_.wrong_data) + " results wrong, " +
          count(hostile_counts_.wrong_success) + " wrong successes");
  if (other_counts_.stopped != 0) broke("the other device has stopped: " + other_counts_.first_error());
  const double longest = ms(std::max(other_counts_.longest_ns.load(), hostile_counts_.longest_ns.load()));
  const double recovery = recoveries.most_ms(), growth = static_cast<double>(most_bytes_ - bytes_before_);
  const auto limit = [this](const char* what, double is, double most, const char* unit) {
    if (is <= most) return;
    char text[200];
    std::snprintf(text, sizeof text, "%s: %.4g %s, expected at most %.4g", what, is, unit, most);
    late_.push_back(text);
  };
  limit("the longest wait for an answer", longest, longest_wait_ms(), "ms");
  limit("the other device's recoveries", recovery, promises::other_recovery_ms * slowness_, "ms");
  limit("processor time of the application", cores, promises::cores * slowness_ + promises::noise * usual_cores_,
        "cores more");
  if (strategy_.is_flood) limit("the end of the flood", flood_ms_, promises::flood_ends_ms * slowness_, "ms");
  if (growth > promises::growth_bytes) {
    char text[100];
    std::snprintf(text, sizeof text, "the application has grown by %.1f MiB", growth / (1 << 20));
    broke(text);
  }
  if (log_.forged != 0) broke(count(log_.forged) + " log lines with control characters");
  if (stage_.page().succeeded != 0) broke("the worker has succeeded in something that must be impossible");
  if (stage_.page().secret != 0) broke("the worker has read the application's memory");
  char text[400];
  std::snprintf(
      text, sizeof text,
      "right %s+%s, longest wait %.0f ms, recovery %.0f ms (%zu; control %.0f), +%.1f MiB, %+.2f cores, attacks "
      "%u, longest %.0f ms, %s log lines",
      count(other_counts_.right).c_str(), count(hostile_counts_.right).c_str(), longest, recovery, recoveries.count(),
      usual_recovery_ms_, growth / (1 << 20), cores, stage_.page().attacks.load(), flood_ms_,
      count(log_.lines).c_str());
  figures_ = text;
  if (const auto last = hostile_.last_fault()) figures_ += "; last fault: " + last->cause.text().substr(0, 120);
}

// After the attack, when another worker serves, all results must be correct again.
void trial::expect_service() {
  if (const auto pid = hostile_.statistics().worker_pid) ::kill(*pid, SIGKILL);
  for (const int standby : hostile_.statistics().standby_pids) ::kill(standby, SIGKILL);
  const std::int64_t begun = now_ns();
  double most = promises::serves_again_ms * slowness_;
  if (strategy_.delays_start) most += 1000.0 * start_limit.count();
  client_counts after;
  honest_client client(hostile_, after, false);
  std::uint64_t number = 1;
  while (!client.step(number) && ms(now_ns() - begun) < most + 10'000) ++number;
  if (ms(now_ns() - begun) > most || after.right == 0)
    (after.right == 0 ? broken_ : late_)
        .push_back("it does not serve again within " + std::to_string(static_cast<int>(most)) +
                   " ms: " + after.first_error());
  for (int i = 0; i < 12; ++i) client.step(++number);
  if (after.wrong_data + after.wrong_success != 0) broke("wrong results after the attack, from an honest worker");
}

void trial::end() {
  const std::int64_t begun = now_ns();
  std::vector<pending<void>> closing;
  for (const device& gpu : {other_, hostile_}) closing.push_back(gpu.close());
  for (auto& c : closing)
    if (!c.get_for(10s)) give_up();
  if (const double took = ms(now_ns() - begun); took > 2000 + 1000 * slowness_)
    late_.push_back("closing took " + std::to_string(took) + " ms");
}

outcome trial::run() {
  control();
  if (broken_.empty()) {
    attack();
    expect_service();
    end();
  }
  return {broken_, late_, figures_};
}

}  // namespace

outcome try_strategy(const strategy& s, double seconds, std::uint64_t seed) {
  const std::string bait = std::string(bait_prefix) + ": nobody may read this";
  const int before = open_descriptors(), output = ::fcntl(STDOUT_FILENO, F_GETFL);
  outcome o = trial(s, seconds, seed).run();
  if (bait[0] != bait_prefix[0]) o.broken.emplace_back("the worker has written to the application's memory");
  if (::fcntl(STDOUT_FILENO, F_GETFL) != output)
    o.broken.emplace_back("the application's output has changed its flags");
  // The library closes a worker's sockets on a thread of its own.
  for (int i = 0; i < 500 && open_descriptors() > before; ++i) std::this_thread::sleep_for(2ms);
  if (const int more = open_descriptors() - before; more > 0)
    o.broken.push_back(std::to_string(more) + " descriptors are left");
  return o;
}

}  // namespace adversary
