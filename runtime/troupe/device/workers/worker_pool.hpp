// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <troupe/device/core/device_loop.hpp>
#include <troupe/device/workers/segment_sender.hpp>
#include <troupe/device/workers/serving_worker.hpp>
#include <troupe/device/workers/worker_link.hpp>
#include <vector>

namespace troupe {

struct device_board;
struct ledger_entry;

/// The interface that receives the messages and ends of workers, on the control loop.
class worker_listener {
 public:
  virtual void handle_message(worker_link& from, const worker_link::message& n) = 0;
  /// Called when a worker process has ended. `failure` is its last message, if that states the cause.
  virtual void handle_end(std::uint32_t id, const exit_status& how,
                          const std::optional<worker_link::message>& failure) = 0;
  virtual void handle_lost_descriptors(const error&) {}

 protected:
  ~worker_listener() = default;
};

/// The workers of a device: launches them, receives their messages, and releases them, on the control loop. Other
/// threads hold `lock()` and send them messages about memory.
class worker_pool final : public control_loop::handler {
 public:
  using worker_id = device_supervisor::worker_id;

  worker_pool(device_board& board, const segment_sender& segments, worker_listener& listener,
              worker_link_maker make) noexcept;
  /// Must be called before the first launch. `origin` says why the worker program's folder is used.
  void prepare(protocol::greeting greeting, std::shared_ptr<const region> addresses, std::string origin);
  const protocol::greeting& greeting() const noexcept { return greeting_; }

  // The following functions are called on the control loop.
  result<void> launch(worker_id id);
  /// Returns the link; null if there is no such worker any more. Other threads must hold `lock()`.
  worker_link* find(worker_id id) noexcept;
  /// Releases a worker that has ended, or whose end is no longer waited for. The link's destructor reaps the process.
  void forget(worker_id id);
  void forget_all();
  /// Reads the pending messages of all workers.
  void receive_all();
  /// Handles the exit of one worker that has ended, as the loop would. Returns true if there was one.
  bool handle_next_exit();
  /// Loads the library in the standbys, because the next worker will probably need what this one needed.
  void warm_up_standbys(const std::string& library);
  bool is_standby_starting() const noexcept;
  void on_readable(int fd) override;
  void on_time(std::uint64_t) override {}
  void on_descriptors_lost(const error& why) override { listener_.handle_lost_descriptors(why); }
  /// Leaves all workers alone, and closes nothing.
  void abandon();

  // The following functions may be called on any thread.
  std::vector<int> standby_pids() const;
  [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(lock_); }
  const std::vector<std::unique_ptr<worker_link>>& links() const noexcept { return links_; }
  /// Asks a worker to allocate memory, or to check that it can map some. Any worker can be asked, because the memory
  /// outlives it. Waits for a worker if there is none.
  result<file_descriptor> ask_one(
      const std::function<result<file_descriptor>(allocation_client&, std::int64_t deadline_ns)>& ask);
  /// Sleeps until a worker was launched, became ready, serves or has ended, or until `until_ns`.
  void wait_for_change(std::uint64_t& seen, std::int64_t until_ns) const;
  std::uint64_t changes() const;
  void changed() noexcept;
  /// Keeps the request's memory until the worker has ended, if the worker is a thread: a thread cannot be killed, and
  /// may still write the memory.
  void keep_memory_for_thread(ledger_entry& e);

 private:
  void receive_from(worker_id id);
  bool receive(worker_link& link);
  bool check_exit(worker_link& link);

  device_board& board_;
  const segment_sender& segments_;
  worker_listener& listener_;
  const worker_link_maker make_worker_;
  const std::vector<std::string> environment_;  // the environment of worker processes
  protocol::greeting greeting_{};
  std::shared_ptr<const region> region_;
  std::string runtime_origin_;
  std::vector<std::string> warm_;  // libraries that a worker has loaded, for new workers
  mutable std::mutex lock_;
  std::vector<std::unique_ptr<worker_link>> links_;
  std::vector<block_ref> thread_uses_;  // memory that a worker in a thread may use until it ends
  mutable std::condition_variable changed_;
  std::uint64_t changes_ = 0;
};

}  // namespace troupe
