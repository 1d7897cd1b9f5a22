// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <troupe/device/core.hpp>
#include <troupe/device/device.hpp>

#include "client_thread.hpp"
#include "model.hpp"
#include "random.hpp"
#include "simulated_loop.hpp"
#include "simulated_worker.hpp"

namespace troupe::simulation {

/// Which of a run's steps are left out, by number.
using omitted_steps = std::vector<bool>;

/// One run: a device with its clients and workers, from opening to the end, in steps that are chosen by a seed. Every
/// step has a stream of random numbers of its own, so that leaving some out leaves the others what they are.
class simulation final : public scene {
 public:
  simulation(std::uint64_t seed, run_record& record, const omitted_steps& omitted);
  ~simulation();
  /// Returns when all is over and nothing was wrong.
  void run();

  void meanwhile(simulated_worker& w) override;
  void request_starts(std::uint64_t ticket, simulated_worker& w) override;
  void request_joins(std::uint64_t ticket, simulated_worker& w) override;
  void request_finished(std::uint64_t ticket, simulated_worker& w) override;
  void request_failed(std::uint64_t ticket, simulated_worker& w) override;
  void await_application(std::uint64_t ticket, simulated_worker& w) override;
  void part_is_gone(std::uint64_t ticket, simulated_worker& w) override;
  void request_hits_wall(std::uint64_t ticket, simulated_worker& w) override;
  std::pair<std::uint64_t, std::uint64_t> somewhere(random_bits& r) const override;
  void written_wildly() override;
  [[noreturn]] void violated(const std::string& what) const override;
  void shows_channel(simulated_worker& w) override;
  std::int64_t now() const override { return loop_->time; }
  void killed(simulated_worker& w) override;

 private:
  struct held {
    buffer<word> handle;
    std::shared_ptr<model_buffer> model;
    std::uint32_t first;  // of the model's
  };
  struct use {
    std::shared_ptr<model_buffer> of;
    std::uint32_t begin, count;
  };
  enum class kind : std::uint8_t {
    fill,
    upload,
    download,
    copy,
    add,
    combine,
    gather,
    look,
    spoil,
    ping,
    fence,
    seal,
    unseal
  };
  enum class outcome : std::uint8_t { waiting, fine, failed };
  /// A request, from its submission on. Their numbers are their order.
  struct request {
    kind what;
    std::uint32_t number = 0;
    std::uint64_t ticket = 0;  // 0: it was refused
    word param = 0;
    std::uint64_t generation = 0;  // when it was sent
    std::vector<use> reads;
    std::optional<use> writes;
    std::vector<word> data;                                       // uploaded
    std::vector<std::pair<std::uint64_t, std::uint64_t>> memory;  // addresses it needs until it is answered
    // The answer.
    ref<pending_core> answer;  // null for tells
    void (*take)(pending_core&, request&) = nullptr;
    bool called = false, continued = false, judged = false;
    outcome how = outcome::waiting;
    std::optional<error> why;
    std::uint64_t reply = 0;
    std::vector<word> downloaded;
    std::vector<model_buffer::cell> has_read;  // when that is lost before the answer is given
    std::vector<word> found;                   // what was in its inputs when it was started last
    // What is known otherwise.
    bool came_too_late = false;  // an input was lost when it was sent
    bool forbidden = false;      // it would write what is sealed
    std::optional<held> forbidden_place = {};
    std::uint32_t forbidden_count = 0;
    bool doubted = false;  // a liar may have decided about it, unless somebody else runs it
    bool cancelled = false, suspect = false, failed_by_worker = false;
    std::int64_t deadline = INT64_MAX;
    bool limited = false;  // it may not run for long
    std::int64_t sent_ns = 0;
    std::uint32_t deadly = 0;  // for so many that run it
    std::uint32_t retries = 0, starts = 0;
    std::uint64_t started_generation = 0;  // of the device, when it was started last
    bool joined = false;                   // it shared a call with others
    std::uint32_t presumed = 0;            // starts as the device sees them: in a call with others, or of a liar
    simulated_worker* started = nullptr;
    simulated_worker* finished = nullptr;
  };

  // The schedule
  bool step();
  void act(random_bits& r);
  void client_acts(random_bits& r);
  void fault(random_bits& r);
  bool loop_acts(random_bits& r);
  bool workers_act(random_bits& r);
  bool leap();
  void check();
  void check_deadlines();

  // Clients
  void alloc(random_bits& r);
  void let_go(random_bits& r);
  void send(random_bits& r);
  call_options choose_options(request& q, random_bits& r);
  void send_something(random_bits& r);
  void serve_a_client(random_bits& r);
  /// An upload that waits for the worker while it is sent.
  struct uploader {
    request* of;  // null: nobody judges it
    std::unique_ptr<client_thread> thread = {};
    const std::function<bool()>* ready = nullptr;  // while it waits: can it go on?
    pending_core* answer = nullptr;
  };
  void in_parts(request* of, std::function<void()> call);
  void upload(const held& to, random_bits& r);
  void upload_in_parts(request& q, const held& to, const call_options& o, random_bits& r);
  void go_on(uploader& u);
  bool uploaders_act(random_bits& r);
  void client_waits(pending_core& of, const std::function<bool()>& ready);
  void upload(request& q, const held& to, const call_options& o, random_bits& r);
  void seal_or_unseal(random_bits& r);
  void cancel(random_bits& r);
  bool cancellable(const request& q) const;
  held pick(random_bits& r) const;
  request& begin(kind what);
  static void reads(request& q, const held& h, std::uint32_t count);
  static void writes(request& q, const held& h, std::uint32_t count);
  static void will_write(request& q, const held& h, std::uint32_t count);
  template <class T>
  void sent(request& q, pending<T> p, random_bits& r);
  template <class T>
  void sent(request& q, pending<T> p, std::uint64_t ticket, random_bits& r);
  template <class T>
  static void take(result<T> answer, request& q);
  template <class R>
  void ask_or_tell(request& q, const R& what, const call_options& o, random_bits& r);
  void after_sending(request& q);

  // Rules
  void judge_success(request& q);
  void judge_failure(request& q);
  void judge_refusal(request& q);
  void check_quarantine();
  bool is_like_one_that_died(const request& q) const;
  static std::vector<word> found_by(const request& q, const simulated_worker& w);
  void judge_seal(request& q);
  void check_seals() const;
  void judge_loss(std::uint64_t generation);
  static std::vector<model_buffer::cell> inputs_of(const request& q);
  void find(const request& q, std::vector<word>& values, bool& certain) const;
  static bool misses_input(const request& q);
  static bool may_miss_input(const request& q);
  void check_validity();
  void check_state();
  bool unendable() const;
  std::size_t recoveries_within(std::int64_t window) const;
  bool had_to_fail(const request& q) const;

  // The end
  void settle_down(const char* until, bool (simulation::*done)() const);
  bool all_answered() const;
  bool has_stopped() const;
  bool is_up() const;
  bool is_steady() const;
  bool is_idle() const;
  bool is_proven() const;
  void heal();
  void prove_service();
  void finish();

  result<std::unique_ptr<worker_link>> make_worker(std::uint32_t id, enum isolation how, std::uint64_t channel_bytes);
  bool gave_up() const noexcept { return core_->events.state() == device_state::stopped; }

  const std::uint64_t seed_;
  const omitted_steps& omitted_;
  random_bits setup_;
  std::shared_ptr<simulated_loop> loop_ = std::make_shared<simulated_loop>();
  device_options options_;
  std::uint32_t steps_wanted_, faults_percent_, client_percent_, drive_percent_, deepest_;
  bool garbage_ = false, hostile_starts_ = false, deadly_ = false, transfers_ = false, wild_ = false, calm_ = false;
  bool repetitive_ = false;  // clients send the same data again and again, and some of them kill
  std::vector<std::shared_ptr<simulated_worker>> workers_;
  std::shared_ptr<device_core> core_;
  std::optional<device> gpu_;
  std::vector<held> buffers_;
  std::list<uploader> uploaders_;
  uploader* uploading_ = nullptr;  // whose thread this is
  std::uint32_t waits_ = 0;        // for the application, since nothing else happens any more
  std::deque<request> requests_;
  std::size_t first_open_ = 0;  // all before have been judged
  std::uint32_t numbers_ = 0;
  std::map<std::uint64_t, request*> by_ticket_;
  std::vector<const request*> in_quarantine_;  // refused so, and not judged yet
  std::vector<std::shared_ptr<model_buffer>> models_;
  device_state state_ = device_state::starting;
  simulated_worker* shown_ = nullptr;    // whose channel the device looks at
  simulated_worker* accused_ = nullptr;  // killed in this step while it served honestly
  std::uint64_t generation_ = 1;
  std::vector<std::int64_t> recoveries_;  // all of them, when they were seen here
  bool distrust_ = false;                 // in this step somebody dishonest may have been believed
  bool closing_ = false, closing_now_ = false;
  std::uint32_t depth_ = 0;
  bool sending_ = false;
  std::optional<pending<void>> stopped_, up_;
  std::optional<pending<std::vector<word>>> proof_;
};

}  // namespace troupe::simulation
