// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <troupe/base/time_span.hpp>
#include <troupe/device/recovery/quarantine/provenance.hpp>
#include <vector>

namespace troupe {

/// Identifies a request for the quarantine. Two requests are of one kind if they differ at most in the addresses of
/// their operands. They are the same request if they also read the same data.
struct request_identity {
  std::uint64_t kind = 0, data = 0;
  friend bool operator==(const request_identity&, const request_identity&) = default;
};

/// Prevents a request that always kills its worker from using up all restarts. After `after` workers have died of
/// requests of one kind within `window`, the requests of that kind that killed a worker are refused. Requests of the
/// same kind with other data are served, so that no client's data can lock out others; if one of them kills a worker,
/// it is refused too. The quarantine ends when fewer than `after` of the deaths are younger than `window`.
///
/// Data are identified by how they were computed. That is recorded from the first death until no death is remembered,
/// so a device without faults pays nothing.
class quarantine {
 public:
  static constexpr std::size_t most_deaths = 256;  // that are remembered; older ones are forgotten

  struct limits {
    std::uint32_t after;  ///< number of deaths; 0 disables the quarantine
    time_span window;
  };
  explicit quarantine(limits l) : limits_(l), key_(hash_key::random()) {}

  const limits& limit() const noexcept { return limits_; }
  const hash_key& key() const noexcept { return key_; }

  /// The parts of a request that define its kind: the opcode, the payload, and the blob with the parts that vary in
  /// size, whose address is `blob_address`. Addresses in [memory_begin, memory_end) are ignored.
  struct described {
    std::uint64_t opcode;
    std::span<const std::byte> payload, blob;
    std::uint64_t blob_address, memory_begin, memory_end;
  };
  void add_description(const described& d, content_hash& to) const noexcept;

  /// Returns true if requests must be recorded and may be refused. Any thread. Everything below requires `lock()`.
  bool watches() const noexcept { return watches_.load(std::memory_order_seq_cst); }
  [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(lock_); }

  void watch() noexcept { watches_.store(true, std::memory_order_seq_cst); }
  provenance& contents() noexcept { return contents_; }
  /// Returns a hash for data that cannot be identified. It equals no other hash.
  std::uint64_t unknown_data() noexcept;

  struct refusal {
    std::uint32_t deaths;   ///< number of workers that died of requests of its kind within the window
    std::int64_t last_ns;   ///< time of the last death of a worker from this request
    std::string cause;      ///< the cause of that death
    std::int64_t ends_ns;   ///< end of the refusal, without another death from its kind; no_deadline: none
    std::uint32_t own = 0;  ///< number of workers that died of this request
  };
  /// Notes that a worker died of request `id` at `now_ns`. Returns the refusal if `id` is refused from now on.
  std::optional<refusal> blame(const request_identity& id, std::string name, std::string cause, std::int64_t now_ns);
  /// Returns the refusal of a request; nullopt if it may be sent.
  std::optional<refusal> refusal_of(const request_identity& id, std::int64_t now_ns) const;
  std::uint32_t deaths_of_kind(std::uint64_t kind, std::int64_t now_ns) const noexcept;

  /// Removes deaths older than the window. Returns the names of the kinds whose quarantine has ended.
  std::vector<std::string> expire(std::int64_t now_ns);
  /// Forgets all deaths. Returns the names of the kinds whose quarantine has ended.
  std::vector<std::string> lift(std::int64_t now_ns);
  /// Returns the time at which `expire` must be called next; no_deadline: never.
  std::int64_t next_ns() const noexcept;
  /// Returns the number of kinds in quarantine.
  std::size_t size(std::int64_t now_ns) const;

 private:
  struct death {
    std::int64_t at_ns;
    request_identity of;
    std::string name, cause;
  };
  bool counts(const death& d, std::int64_t now_ns) const noexcept { return limits_.window.after(d.at_ns) > now_ns; }
  std::vector<std::pair<std::uint64_t, std::string>> kinds(std::int64_t now_ns) const;
  void stop_watching() noexcept;

  const limits limits_;
  const hash_key key_;
  mutable std::mutex lock_;
  std::atomic<bool> watches_{false};
  std::deque<death> deaths_;  // oldest first
  provenance contents_;
  std::uint64_t unknown_ = 0;
};

}  // namespace troupe
