// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <troupe/async/deferred_continuations.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/device/device.hpp>
#include <troupe/device/internal/address_space.hpp>
#include <troupe/device/internal/continuation_queue.hpp>
#include <troupe/device/internal/control_loop.hpp>
#include <troupe/device/internal/device_news.hpp>
#include <troupe/device/internal/download_tracker.hpp>
#include <troupe/device/internal/last_of.hpp>
#include <troupe/device/internal/ledger.hpp>
#include <troupe/device/internal/milestone.hpp>
#include <troupe/device/internal/peer_channel.hpp>
#include <troupe/device/internal/quarantine.hpp>
#include <troupe/device/internal/room_queue.hpp>
#include <troupe/device/internal/supervisor.hpp>
#include <troupe/device/internal/worker_link.hpp>
#include <troupe/memory/copy_threads.hpp>
#include <troupe/memory/device_memory.hpp>
#include <troupe/memory/staging.hpp>

namespace troupe::protocol {
struct parsed_report;
}

namespace troupe {

/// What a device gets from outside.
struct device_surroundings {
  std::shared_ptr<control_loop> loop;
  worker_link_maker make_worker;
  /// False: somebody calls `drive` whenever there may be answers, and the device has no thread of its own. Its
  /// continuations run on whatever thread brings the answers.
  bool reacts = true;
  /// Called instead of sleeping in the middle of a call that waits for the worker until it is `ready`, or answered.
  std::function<void(pending_core& of, const std::function<bool()>& ready)> waits = {};
  staging_sizes staging = {};
  std::string runtime_origin = {};  ///< who named device_options::runtime_folder, for the text where it has no worker
};

class request_scope;
class running_requests;
class transfer;

/// Everything behind a `device` handle. Four kinds of threads come here: callers (submit), whoever waits (drive), the
/// reactor, which waits when nobody else does and posts all continuations, and the control loop (lifecycle), which
/// never runs anybody else's code.
class device_core final : public waiter,
                          public segment_source,
                          public control_loop::handler,
                          public std::enable_shared_from_this<device_core> {
 public:
  /// Never fails: a device that cannot be opened is stopped and says why.
  static std::shared_ptr<device_core> open(const device_options& o, std::uint32_t index,
                                           const result<device_surroundings>& surroundings);
  ~device_core();

  // submit.cpp
  /// One half of a copy between devices, which comes with a slot of the mailbox, taken before.
  struct peer_half {
    const std::shared_ptr<peer_copy>& copy;
    bool is_source;
    std::uint32_t slot;
  };
  /// `answer` is answered in every case, `link` is set when the request can be cancelled. `scope` may be null. `extra`
  /// lives as long as the request.
  submission submit(const request_info& info, const void* request, checker& checked, pending_core* answer,
                    request_link* link, const call_options& options, const std::shared_ptr<request_scope>& scope,
                    block_ref extra = {}, const peer_half* half = nullptr);
  /// On the clock of deadlines.
  std::int64_t deadline_after(time_span t) const noexcept {
    return t.unlimited() || loop_ == nullptr ? no_deadline : t.after(loop_->now());
  }

  // room.cpp
  pending<void> room(std::uint32_t requests, const std::shared_ptr<request_scope>& scope);
  void cancel_room(const room_answer& answer) noexcept;

  // request_scope.cpp
  void stop_requests_of(const std::shared_ptr<request_scope>& scope) noexcept;

  // drive.cpp: completions
  /// False: somebody else was at it, and looks once more for us.
  bool drive() noexcept;
  /// Returns when all has been collected, whoever else is at it.
  void drive_surely() noexcept;

  // reactor.cpp: waiting for them
  void wait(pending_core& core, std::int64_t deadline_ns) noexcept override;
  void interest_added(pending_core& core) noexcept override;
  void interest_met(pending_core& core) noexcept override;
  void answered(pending_core& core) noexcept override;
  /// Sleeps until the worker has news, the deadline, or a wake without cause; `ready` is asked after announcing.
  template <class Ready>
  void sleep_for_news(Ready&& ready, std::int64_t deadline_ns, std::int64_t slice_ns = 1'000'000'000) noexcept;

  // failures.cpp
  void cancel(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how = reaction::retry_later) noexcept;

  download_tracker& downloads() noexcept { return downloads_; }
  void add_transfer(std::shared_ptr<transfer> t) {
    downloads_.add(std::move(t));
    wake_reactor();
  }

  // opening.cpp
  void start();

  // lifecycle.cpp
  /// After the device has stopped: waits for its thread to end, unless it is the caller.
  void join() noexcept {
    if (reactor_.joinable() && reactor_.get_id() != std::this_thread::get_id()) reactor_.join();
  }
  pending<void> when_ready();
  pending<void> when_stopped();
  /// Answered as `when_stopped`.
  pending<void> close(bool now);
  /// A device that has given up tries again; answered when it serves, or with the reason why it does not.
  pending<void> reset();
  device_state state() const noexcept { return state_.load(); }
  /// Why requests are refused; only when they are.
  error refusal() const;
  bool refusing() const noexcept { return refusing_.load(std::memory_order_acquire); }
  void on_time(std::uint64_t tag) override;

  // fault_analysis.cpp
  std::shared_ptr<event_stream> watch();
  std::shared_ptr<const fault_record> last_fault();

  // identity.cpp
  /// Requests of so many kinds are refused because they have brought workers down.
  std::size_t quarantined() const;
  /// Nothing has been written there since it was allocated.
  void is_fresh(const memory_range& r);
  /// What stands for these bytes, which are about to be uploaded; 0: nobody needs to know.
  std::uint64_t digest_of(std::span<const std::byte> uploaded) const;

  // workers.cpp
  void on_readable(int fd) override;
  std::vector<int> standby_pids() const;

  // sharing.cpp
  result<shared_memory> export_memory(const memory_range& r) const;
  result<memory_range> import_memory(shared_memory from, std::size_t element_bytes, std::size_t alignment);
  result<memory_range> adopt_memory(std::byte* data, extent bytes, std::size_t alignment,
                                    std::shared_ptr<const void> keep);
  result<addressed_memory> address_of(const memory_range& r) const;

  // managed.cpp
  /// Waits for a worker that serves, if need be.
  result<memory_range> make_managed(std::uint64_t bytes, const memory_quota& quota);

  // peers.cpp
  /// Sends both halves of a copy from another device to this one. `answer` is answered in every case.
  void copy_from_peer(const std::shared_ptr<device_core>& from, const memory_range& to, const memory_range& source,
                      const call_options& options, const std::shared_ptr<request_scope>& scope,
                      ref<peer_answer> answer);
  result<peer_info> peer(device_core& other);
  result<void> enable_peer(const std::shared_ptr<device_core>& other);
  std::vector<peer_statistics> peers();
  std::uint64_t trim_peers();

  // segments.cpp
  result<file_descriptor> prepare(memory_kind kind, std::uint64_t bytes, bool after_release) override;
  result<segment> grow(memory_kind kind, std::uint64_t bytes, file_descriptor prepared) override;
  result<segment> attach(memory_kind kind, std::uint64_t bytes, file_descriptor theirs, bool read_only) override;
  void shrink(memory_kind kind, const segment& s) noexcept override;
  void protect(std::uint64_t address, std::uint64_t bytes, bool read_only,
               device_supervisor::worker_id by) noexcept override;
  /// The worker that requests go to. It may be about to be replaced.
  device_supervisor::worker_id served() const noexcept { return served_.load(std::memory_order_relaxed); }
  /// Called when a buffer may not be written any more, and before the request that seals it is sent.
  void seal_begins() noexcept { seals_begun_.fetch_add(1, std::memory_order_seq_cst); }
  std::uint64_t last_ticket() const noexcept override { return commands_ ? commands_->newest_ticket() : 0; }
  device_memory& memory() noexcept { return *memory_; }
  copy_threads& copies() noexcept { return copies_; }

  const device_options& options() const noexcept { return options_; }
  const std::string& name() const noexcept { return options_.name; }
  std::string engines() const;
  /// Lines "key value": what the device is, where it is not the host. Empty until a worker was ready.
  std::string description() const;

  // statistics.cpp
  device_hardware hardware();
  std::vector<lane_statistics> lanes() const;
  int worker_pid() const noexcept { return worker_pid_.load(); }
  std::uint32_t depth() const noexcept { return ledger_.in_flight(); }
  std::uint32_t capacity() const noexcept { return ledger_.capacity(); }
  const staging_sizes& staging() const noexcept { return staging_; }
  /// Of those who wait until the worker has emptied chunks of their upload.
  spin_experience& spin_for_room() noexcept { return spin_for_room_; }
  /// For whoever waits in the middle of the call that `of` answers.
  template <class Ready, class Sleep>
  void sleep_in_call(pending_core& of, const Ready& ready, Sleep&& sleep) {
    if (waits_)
      waits_(of, ready);
    else
      sleep();
  }
  std::uint64_t completed() const noexcept { return completed_.load(); }
  std::uint64_t failed() const noexcept { return failed_.load(); }
  std::uint64_t faults() const noexcept { return faults_.load(); }

 private:
  using worker_id = device_supervisor::worker_id;
  using open_requests = std::vector<std::pair<std::uint64_t, std::uint32_t>>;  // ticket, slot

  // Whoever gives answers, and may hold locks, has one of these from before it takes them. What continues the answers
  // is handed over when this one goes.
  class answering {
   public:
    [[nodiscard]] explicit answering(device_core& core) noexcept : core_(core), kept_(std::in_place) {}
    ~answering();  // reactor.cpp
    answering(const answering&) = delete;

   private:
    device_core& core_;
    std::optional<deferred_continuations> kept_;
  };

  /// Keeps everybody else from collecting. Who came to do so meanwhile has left a note, and is stood in for.
  class drive_guard {
   public:
    explicit drive_guard(device_core& core) : core_(core) { core_.drive_lock_.lock(); }
    ~drive_guard() {
      core_.drive_lock_.unlock();
      if (core_.drive_again_.load(std::memory_order_seq_cst)) core_.drive();
    }
    drive_guard(const drive_guard&) = delete;

   private:
    device_core& core_;
  };

  // opening.cpp
  device_core(const device_options& o, std::uint32_t index, device_surroundings surroundings);
  result<void> set_up();
  result<void> start_reactor();
  void give_up(const error& why);

  address_space& addresses_of(memory_kind kind) noexcept { return addresses_[kind == memory_kind::device ? 0 : 1]; }

  // submit.cpp
  std::uint32_t take_slot(const call_options& options, std::int64_t deadline_ns, const request_scope* scope) noexcept;
  submission refuse(const error& why, const checker& checked, pending_core* answer, const request_info& info);
  void give_slot_back(std::uint32_t slot) noexcept;
  error mailbox_full() const;
  error why_no_slot(const request_scope* scope) const;
  void let_go_of_outputs(ledger_entry& e, std::byte* record, const checker& checked, const request_info& info);

  // room.cpp; with drive_lock_ held
  void answer_room();

  // identity.cpp: requests that have brought workers down
  request_identity identify(std::uint32_t slot, std::uint64_t& may_look_at);
  void note_sent(std::uint32_t slot, const request_identity& id);
  std::optional<error> claim_watched(std::uint32_t slot, std::uint64_t& ticket);
  error refused_by_quarantine(const quarantine::sentence& s, std::int64_t now_ns) const;
  void lose_track(std::span<const operand_use> uses);
  void blame(std::uint32_t slot, fault_record& record);
  void watch_quarantine();
  void look_at_quarantine();
  void lift_quarantine();
  void tell_of_ended(const std::vector<std::string>& names, const std::string& why);

  // watchdog.cpp: requests that wait or run too long, workers that say nothing
  void watch_deadline(std::int64_t deadline_ns);
  void cancel_overdue();
  void watch_running(std::int64_t limit_ns);
  void look_at_running();
  bool runs_too_long(std::uint32_t slot, std::int64_t now, const running_requests& running, std::int64_t& look_again);
  error has_overrun(std::uint32_t slot);
  void watch_heartbeat();
  void check_heartbeat();

  // drive.cpp; with drive_lock_ held, but for the last
  void collect();
  void read_reports();
  bool read_report(std::uint64_t number);
  void name_cause(protocol::parsed_report& report, const request_info& info);
  void will_settle(std::uint32_t slot) noexcept;
  void name_peer(error::details& what, const ledger_entry& e);
  void retire_lanes(const std::array<std::uint64_t, max_lanes>& done);
  void retire(std::uint32_t slot) noexcept;
  void settle(std::uint32_t slot, const error* why, bool retires) noexcept;
  void violated(const char* what) noexcept;

  // failures.cpp; with drive_lock_ held, but for the last
  /// The reason why an input is not there becomes the reason why the request that wanted it cannot run.
  static error passed_on(const error& cause, const request_info& info, std::uint64_t ticket);
  void fail(std::uint32_t slot, const error& why);
  void answer_failures();
  void spread_failures();
  static void expect_marks(const ledger_entry& e, device_memory::marking& marks);
  static bool touches_marks(const ledger_entry& e) noexcept;
  void spoil_outputs(const ledger_entry& e, const error& why, device_memory::marking& marks);
  void goes_on(ledger_entry& e, device_memory::marking& marks);
  bool spoils(const block& b, const error& why) const noexcept;
  bool reads_what_it_writes(const ledger_entry& e, const error& why) const noexcept;
  void answer_everything();
  void outlive_thread(ledger_entry& e);
  void take_cancelled();
  bool mark_cancelled(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how) noexcept;
  void look_at_inputs_again(std::uint32_t slot, std::uint64_t ticket);

  // recovery.cpp; with drive_lock_ held
  open_requests open_up_to(std::uint64_t newest);
  void sort_requests(const open_requests& open, fault_record& record);
  request_fate fate_of(std::uint32_t slot, std::uint64_t ticket, const fault_record& death,
                       device_memory::marking& marks);
  std::optional<error> missing_input(const ledger_entry& e, device_memory::marking& marks);
  void keep(std::uint32_t slot, std::uint64_t ticket, device_memory::marking& marks);
  bool words_are_possible(const open_requests& open) const noexcept;
  bool is_impossible(std::uint64_t word, std::uint32_t slot, std::uint64_t ticket) const noexcept;
  bool has_started(std::uint32_t slot, std::uint64_t ticket) const noexcept;

  // fault_analysis.cpp; the first with drive_lock_ held
  std::shared_ptr<fault_record> analyse_fault(const device_supervisor::action& death, const open_requests& open);
  static std::string name_for_files(std::string device);
  std::string gpu_core_of(int worker) const;
  std::optional<std::uint32_t> find_culprit(const open_requests& open, fault_record& record) const;
  void note_recent(fault_record& record) const;
  void complete(const std::shared_ptr<fault_record>& record);
  void publish(const std::shared_ptr<fault_record>& record);
  void emit(event_kind kind, std::optional<error> cause = {}, time_span took = {});

  // reactor.cpp
  void hand_over(job* first) noexcept;
  void post_continuations() noexcept;
  bool on_reactor() const noexcept { return reacting_ == this; }
  bool shares_core() noexcept;
  bool news() const noexcept;
  void wake_waiters() noexcept;
  void wake_reactor() noexcept;
  void react() noexcept;

  // lifecycle.cpp; on the control loop, but for the first, which is called with drive_lock_ held
  void look_whether_drained() noexcept;
  enum timer : std::uint64_t { deadlines, running, heartbeat, supervision, quiesced, quarantined_requests };
  void feed(device_supervisor::event e);
  void carry_out(const device_supervisor::action& a);
  void launch_or_tell(worker_id id);
  void serve_or_tell(worker_id id);
  void accept_again();
  void refuse_from_now_on(const error& why);
  void cancel_queued_requests();
  void answer_with_the_end(const device_supervisor::action& a);
  void come_to_the_end(const std::optional<error>& why);

  // workers.cpp; on the control loop
  result<void> launch(worker_id id);
  worker_link* link_of(worker_id id) noexcept;
  void warm_up_standbys(const std::string& library);
  void learn_memory_limit();
  void check_quiesced();
  bool receive(worker_link& link);
  void handle_message(worker_link& link, const worker_link::news& n);
  void receive_all();
  bool has_ended(worker_link& link);
  bool see_an_end();
  void forget(worker_id id);

  // sharing.cpp
  result<void> check_import(const shared_memory& from) const;
  result<void> try_to_open(const shared_memory& from);
  result<std::pair<std::shared_ptr<const memory_file>, std::uint64_t>> file_of(const memory_range& r,
                                                                               const char* what) const;

  // peers.cpp
  std::shared_ptr<peer_channel> channel_from(const std::shared_ptr<device_core>& source);
  result<block_ref> see(peer_channel& through, const std::shared_ptr<const memory_file>& file);
  template <class Give, class Take>
  void send_halves(const std::shared_ptr<device_core>& from, const Give& give, const Take& take,
                   const std::shared_ptr<peer_copy>& copy, const std::optional<error>& trouble,
                   const call_options& options, const std::shared_ptr<request_scope>& scope, ref<peer_answer> answer);
  void hide_from_peers(const std::shared_ptr<const memory_file>& file) noexcept;

  // statistics.cpp
  std::uint64_t ask_for_free_bytes(std::int64_t now);

  // segments.cpp
  struct held_segment {
    std::uint64_t address = 0;
    std::shared_ptr<const memory_file> file;
    memory_kind kind;
    bool read_only = false;
    bool theirs = false;  // another device's, or shared with one
  };
  result<std::uint64_t> place(held_segment s, std::uint64_t bytes);
  template <class Send, class Missed>
  result<void> tell_all(Send&& send, Missed&& missed);
  void must_not_serve(worker_link& link, const error& why);
  result<file_descriptor> ask_a_worker(
      const std::function<result<file_descriptor>(allocation_client&, std::int64_t deadline_ns)>& ask);

  // recovery.cpp; on the control loop
  void sort_out(const device_supervisor::action& death);
  result<void> serve(worker_link& link);
  result<void> show_channel(std::shared_ptr<const memory_file> file);

  device_options options_;
  std::vector<std::string> environment_;  // the worker's
  std::shared_ptr<control_loop> loop_;
  worker_link_maker make_worker_;
  bool reacts_;
  std::function<void(pending_core&, const std::function<bool()>&)> waits_;
  const staging_sizes staging_;
  const std::string runtime_origin_;

  // shared memory
  mapping channel_memory_, mailbox_memory_;  // the channel of the worker that serves, always at the same place
  memory_file mailbox_file_;
  protocol::view channel_;
  std::optional<slot_queue_writer> commands_;
  std::optional<ring_reader> reports_;

  // requests
  ledger ledger_;
  std::atomic<std::uint64_t> reports_seen_{0};
  std::atomic<std::uint32_t> failures_seen_{0};  // counts on before anybody looks whom a failure concerns
  std::atomic<std::uint32_t> segments_sent_{0};
  std::atomic<std::uint32_t> seals_begun_{0};
  std::atomic<device_state> state_{device_state::starting};
  std::atomic<bool> refusing_{false};  // new requests are refused with refusal_
  std::atomic<bool> dead_{false};      // no worker will answer: whoever drives answers everything with death_
  mutable std::mutex why_lock_;
  std::optional<error> refusal_, death_;

  // completions
  std::mutex drive_lock_;
  open_requests failing_;  // what `fail` was called for, and `answer_failures` not yet
  std::atomic<bool> drive_again_{false};
  struct unknown_request {
    std::uint64_t ticket;
    std::string_view label;
  };
  last_of<unknown_request, 64> nameless_;                     // requests that no engine knew
  std::vector<std::pair<std::uint64_t, error>> peer_causes_;  // of the most recent copies that another device failed
  std::array<std::uint64_t, max_lanes> retired_{};
  std::atomic<std::uint64_t> retired_total_{0};          // by lanes, whose counters are compared with it
  std::atomic<std::uint64_t> completed_{0}, failed_{0};  // answered, however; failed of those
  struct recent {
    std::uint64_t ticket;
    const request_info* info;
  };
  last_of<recent, 16> recent_;  // that were answered
  std::atomic<bool> violated_{false};
  bool unserved_ = false;  // the last worker has been sorted out, and none has served since
  bool believed_ = true;   // what the last worker said about requests that it did not finish
  std::atomic<bool> closing_{false};
  std::mutex cancel_lock_;
  struct cancellation {
    std::uint32_t slot;
    std::uint64_t ticket;
    const char* why;
    reaction how;
  };
  std::vector<cancellation> cancelled_, cancelled_now_;
  std::atomic<bool> has_cancelled_{false};
  std::atomic<std::int64_t> next_deadline_{no_deadline};  // of a request's time-out: the loop looks then
  std::atomic<std::int64_t> next_look_{no_deadline};      // at what runs, for how long it has
  std::atomic<bool> heartbeat_watched_{false};
  std::atomic<std::uint32_t> room_waiters_{0};    // threads that wait for a free slot
  room_queue room_;                               // and answers that do
  std::atomic<std::uint32_t> reactor_asleep_{0};  // on idle_epoch, or about to be
  std::atomic<std::int64_t> interest_{0};         // answers that no blocked thread waits for
  download_tracker downloads_{copies_};
  int cores_;
  std::mutex hardware_lock_;
  device_hardware hardware_;        // as it was seen last
  std::string described_;           // what of it is made from
  std::int64_t look_again_ns_ = 0;  // at the link, and at how much memory is free
  std::atomic<bool> reactor_ends_{false};
  std::thread reactor_;
  static thread_local const device_core* reacting_;  // whose reactor this thread is
  continuation_queue continuations_;

  // memory
  device_memory* memory_ = nullptr;
  address_space addresses_[2];  // of device and host memory; under link_lock_
  std::uint64_t memory_begin_ = 0, memory_end_ = 0;

  // lifecycle, on the control loop
  const bool workers_allocate_;  // device memory is the workers' to make
  copy_threads copies_;          // to and from staging blocks of such a device
  spin_experience spin_for_answers_, spin_for_room_;
  device_supervisor supervisor_;
  std::shared_ptr<const region> region_;
  protocol::greeting greeting_{};
  std::uint32_t kept_ = 0;         // requests on the mailbox's list for the next worker
  std::uint64_t next_ticket_ = 1;  // and where it goes on
  std::atomic<worker_id> serving_{0};
  std::shared_ptr<const memory_file> shown_channel_;
  bool opened_ = false;
  std::int64_t opened_ns_ = 0, fault_ns_ = 0;  // when it was opened; when the last fault was seen
  std::atomic<worker_id> served_{0};           // the last that was told to serve
  std::int64_t asked_ns_ = 0;             // when the worker that serves was asked for a sign of life; 0: it gave one
  std::optional<std::uint64_t> overrun_;  // the ticket of a request that ran for too long
  exit_status last_exit_;                 // of the worker that served
  std::vector<std::string> warm_;         // libraries that a worker has loaded
  std::atomic<int> worker_pid_{0};
  // Workers are made and let go on the loop; other threads send them memory.
  mutable std::mutex link_lock_;
  std::vector<std::unique_ptr<worker_link>> links_;
  std::vector<held_segment> segments_;
  std::vector<std::weak_ptr<peer_channel>> seen_through_;  // by other devices
  std::mutex peers_lock_;
  std::vector<std::shared_ptr<peer_channel>> peers_;  // those that copies to this device have come from
  std::map<std::uint64_t, std::uint64_t> protected_;  // bytes by address
  std::vector<block_ref> thread_uses_;                // what a worker that is a thread may use until it ends
  std::atomic<bool> drained_told_{false};
  std::optional<std::int64_t> armed_tick_;
  milestone ready_, stopped_;
  mutable std::mutex description_lock_;
  std::string engines_, description_;
  device_news news_;
  std::atomic<std::uint64_t> faults_{0};
  quarantine quarantine_;
  bool quarantine_armed_ = false;  // the control loop's: there is a timer
};

}  // namespace troupe
