// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <troupe/device/options.hpp>
#include <troupe/device/peer_info.hpp>
#include <troupe/device/sharing/peer_channel.hpp>
#include <vector>

namespace troupe {

class hardware_view;
class memory_exchange;
class request_mailbox;
class request_scope;
class shared_segments;
class worker_pool;
struct device_board;

/// Sends the copies from other devices to this one. A copy is one request on each device; the two share memory that the
/// workers of both map. The target's peer_copies calls the source's.
class peer_copies {
 public:
  peer_copies(device_board& board, shared_segments& segments, worker_pool& workers, memory_exchange& exchange,
              request_mailbox& mailbox, hardware_view& hardware) noexcept;

  /// Sends both halves of a copy from another device to this one. Completes `answer` in every case. `answer` and `from`
  /// keep both devices alive.
  void copy(const std::shared_ptr<peer_copies>& from, const memory_range& to, const memory_range& source,
            const call_options& options, const std::shared_ptr<request_scope>& scope, ref<peer_answer> answer);
  /// Returns the access of this device to the other one.
  result<peer_info> seen(peer_copies& other);
  result<void> enable(const std::shared_ptr<peer_copies>& other);
  std::vector<peer_statistics> statistics();
  std::uint64_t trim();

 private:
  std::shared_ptr<peer_channel> channel_from(const std::shared_ptr<peer_copies>& source);
  result<block_ref> map_source(peer_channel& through, const std::shared_ptr<const memory_file>& file);
  template <class Give, class Take>
  void send_halves(peer_copies& from, const Give& give, const Take& take, const std::shared_ptr<peer_copy>& copy,
                   const std::optional<error>& failure, const call_options& options,
                   const std::shared_ptr<request_scope>& scope, ref<peer_answer> answer);

  device_board& board_;
  shared_segments& segments_;
  worker_pool& workers_;
  memory_exchange& exchange_;
  request_mailbox& mailbox_;
  hardware_view& hardware_;
  std::mutex lock_;
  std::vector<std::shared_ptr<peer_channel>> channels_;  // from each device that this one has copied from
  // A copy holds this lock of both devices while it gets its two tickets. Recursive, so that a thread that holds the
  // lock may send a copy.
  std::recursive_mutex order_;
};

}  // namespace troupe
