// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <troupe/device/device_loop.hpp>
#include <troupe/device/mailbox/admission.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <troupe/device/workers/serving_worker.hpp>
#include <troupe/device/workers/worker_link.hpp>
#include <vector>

namespace troupe {

class reactor;
class shared_segments;
struct ledger_entry;

/// Is told, on the control loop, what workers say and how they end.
class worker_listener {
 public:
  virtual void handle_message(worker_link& from, const worker_link::news& n) = 0;
  /// A process has ended; `failure` is what it said last, if it said why.
  virtual void handle_end(std::uint32_t id, const exit_status& how,
                          const std::optional<worker_link::news>& failure) = 0;

 protected:
  ~worker_listener() = default;
};

/// The workers of a device: making them, hearing from them, letting go of them. They are made and let go of on the
/// control loop; other threads send them memory, with the lock.
class worker_pool final : public control_loop::handler {
 public:
  using worker_id = device_supervisor::worker_id;

  worker_pool(const device_options& options, const device_loop& loop, shared_channel& channel, serving_worker& worker,
              shared_segments& segments, const admission& takes, reactor& waiting, worker_listener& listener,
              worker_link_maker make) noexcept;
  /// Before the first one. `origin` says who named the folder of the worker's program.
  void prepare(protocol::greeting greeting, std::shared_ptr<const region> addresses, std::string origin);
  const protocol::greeting& greeting() const noexcept { return greeting_; }

  // On the control loop.
  result<void> launch(worker_id id);
  /// Null: there is none, or no longer. With the lock elsewhere.
  worker_link* find(worker_id id) noexcept;
  /// The worker is gone, or nobody waits for it: let go of it. Its end is reaped by the link's destructor.
  void forget(worker_id id);
  void forget_all();
  /// Reads what all of them have said.
  void receive_all();
  /// One at a time, as it would be seen without the tick; true when there was one.
  bool see_an_end();
  /// Loads the library into those that stand by: what one worker needed, the next one will need.
  void warm_up_standbys(const std::string& library);
  void on_readable(int fd) override;
  void on_time(std::uint64_t) override {}

  // Any thread.
  std::vector<int> standby_pids() const;
  /// Calls `f(link, lock)` with each.
  [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(lock_); }
  const std::vector<std::unique_ptr<worker_link>>& links() const noexcept { return links_; }
  /// Asks a worker to make memory, or to try some. Any will do: what it makes outlives it. While there is none, one is
  /// on its way.
  result<file_descriptor> ask_one(
      const std::function<result<file_descriptor>(allocation_client&, std::int64_t deadline_ns)>& ask);
  /// Sleeps until a worker came or went, became ready, or serves; or until the time has come.
  void wait_for_change(std::uint64_t& seen, std::int64_t until_ns) const;
  std::uint64_t changes() const;
  void changed() noexcept;
  /// A thread is not ended but given up: what it may still write is let go of when it has come to its end.
  void keep_for_thread(ledger_entry& e);

 private:
  bool receive(worker_link& link);
  bool check_end(worker_link& link);

  const device_options& options_;
  const device_loop& loop_;
  shared_channel& channel_;
  serving_worker& worker_;
  shared_segments& segments_;
  const admission& admission_;
  reactor& waiting_;
  worker_listener& listener_;
  const worker_link_maker make_worker_;
  const std::vector<std::string> environment_;  // the worker's
  protocol::greeting greeting_{};
  std::shared_ptr<const region> region_;
  std::string runtime_origin_;
  std::vector<std::string> warm_;  // libraries that a worker has loaded
  mutable std::mutex lock_;
  std::vector<std::unique_ptr<worker_link>> links_;
  std::vector<block_ref> thread_uses_;  // what a worker that is a thread may use until it ends
  mutable std::condition_variable changed_;
  std::uint64_t changes_ = 0;
};

}  // namespace troupe
