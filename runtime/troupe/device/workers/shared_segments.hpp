// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <troupe/channel/memory_file.hpp>
#include <troupe/device/recovery/supervision.hpp>
#include <troupe/device/workers/address_space.hpp>
#include <troupe/device/workers/segment_sender.hpp>
#include <troupe/memory/blocks/device_memory.hpp>
#include <utility>

namespace troupe {

class peer_channel;
class worker_pool;
struct device_board;

/// The memory of a device in the form in which its workers map it. Sends all segments and all read-only ranges to each
/// worker, in one order. Guarded by the worker pool's lock.
class shared_segments final : public segment_source, public segment_sender {
 public:
  using worker_id = device_supervisor::worker_id;

  shared_segments(device_board& board, worker_pool& workers, supervision& supervisor) noexcept;
  /// Sets the addresses of segments: those for device memory come first, then those for host memory.
  void set_addresses(std::uint64_t begin, std::uint64_t device_bytes, std::uint64_t host_bytes);

  // segment_source
  result<file_descriptor> prepare(memory_kind kind, std::uint64_t bytes, bool after_release) override;
  result<segment> grow(memory_kind kind, std::uint64_t bytes, file_descriptor prepared) override;
  result<segment> attach(memory_kind kind, std::uint64_t bytes, file_descriptor theirs, bool read_only) override;
  void shrink(memory_kind kind, const segment& s) noexcept override;
  void protect(std::uint64_t address, std::uint64_t bytes, bool read_only, worker_id by) noexcept override;
  std::uint64_t last_ticket() const noexcept override;
  // segment_sender
  result<void> send_all_to(worker_link& fresh) const override;

  /// Returns the number of messages about memory that every worker has been sent.
  std::uint32_t sent() const noexcept { return sent_.load(std::memory_order_acquire); }
  /// The file that holds an address, and the offset of the address in it.
  struct place {
    std::shared_ptr<const memory_file> file;
    std::uint64_t offset;
    bool read_only;
  };
  /// Returns the file; nullopt if no segment has the address.
  std::optional<place> find(std::uint64_t address) const;
  /// Returns the files of the device's own device memory, without memory of others.
  std::vector<std::shared_ptr<const memory_file>> own_files() const;
  /// Registers a channel through which another device maps this device's segments. It is told of each segment that is
  /// freed.
  void add_peer(const std::shared_ptr<peer_channel>& channel);
  void hide_from_peers() noexcept;

 private:
  struct held_segment {
    std::uint64_t address = 0;
    std::shared_ptr<const memory_file> file;
    memory_kind kind;
    bool read_only = false;
    bool theirs = false;  // true if the memory belongs to another device, or is shared with one
  };
  address_space& addresses_of(memory_kind kind) noexcept { return addresses_[kind == memory_kind::device ? 0 : 1]; }
  result<std::uint64_t> place_segment(held_segment s, std::uint64_t bytes);
  template <class Send, class Missed>
  result<void> send_to_all(Send&& send, Missed&& missed);
  void report_missed_memory(worker_link& link, const error& why);

  device_board& board_;
  worker_pool& workers_;
  supervision& supervisor_;
  address_space addresses_[2];  // of device memory, and of host memory
  std::vector<held_segment> segments_;
  std::map<std::uint64_t, std::uint64_t> protected_;  // read-only ranges: bytes by address
  std::vector<std::weak_ptr<peer_channel>> peer_channels_;
  std::atomic<std::uint32_t> sent_{0};
};

}  // namespace troupe
