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
#include <troupe/device/recovery/provenance.hpp>
#include <vector>

namespace troupe {

/// Which request it is. Two are of one kind if they say the same, except where their operands lie; they are the same
/// request if they read the same data as well.
struct request_identity {
  std::uint64_t kind = 0, data = 0;
  friend bool operator==(const request_identity&, const request_identity&) = default;
};

/// Keeps a request that brings the worker down each time from using up all restarts: once `after` workers have died of
/// requests of one kind within `window`, those of them that have done so are refused. The same kind with other data is
/// served, so that nobody's data can lock others out; a request that kills with such data joins those that are refused.
/// It ends when fewer than `after` of the deaths are younger than `window`.
///
/// Data are known by how they were made. That is noted from the first death on, and until none is remembered: a device
/// without faults pays nothing.
class quarantine {
 public:
  static constexpr std::size_t most_deaths = 256;  // remembered; the youngest

  struct limits {
    std::uint32_t after;  ///< 0: nothing is refused
    time_span window;
  };
  explicit quarantine(limits l) : limits_(l), key_(hash_key::random()) {}

  const limits& limit() const noexcept { return limits_; }
  const hash_key& key() const noexcept { return key_; }

  /// What stands for a request: its payload, and the memory with what varies in size in it, which lies at
  /// `blob_address`. Addresses in [memory_begin, memory_end) do not count.
  struct described {
    std::uint64_t opcode;
    std::span<const std::byte> payload, blob;
    std::uint64_t blob_address, memory_begin, memory_end;
  };
  void add_description(const described& d, content_hash& to) const noexcept;

  /// Is anything to be noted, or might it be refused? Any thread; everything below with `lock()`.
  bool watches() const noexcept { return watches_.load(std::memory_order_seq_cst); }
  [[nodiscard]] std::unique_lock<std::mutex> lock() const { return std::unique_lock(lock_); }

  void watch() noexcept { watches_.store(true, std::memory_order_seq_cst); }
  provenance& contents() noexcept { return contents_; }
  /// Stands for data that nobody knows.
  std::uint64_t unknown_data() noexcept;

  struct sentence {
    std::uint32_t deaths;   ///< of its kind, within the window
    std::int64_t last_ns;   ///< when a worker last died of this very request …
    std::string cause;      ///< … and how
    std::int64_t ends_ns;   ///< if nothing else dies of its kind; no_deadline: never
    std::uint32_t own = 0;  ///< deaths of this very request
  };
  /// A worker has died of `id` at `now_ns`. Its sentence, if it is refused from now on.
  std::optional<sentence> blame(const request_identity& id, std::string name, std::string cause, std::int64_t now_ns);
  /// Nothing: it may be sent.
  std::optional<sentence> sentence_of(const request_identity& id, std::int64_t now_ns) const;
  std::uint32_t deaths_of_kind(std::uint64_t kind, std::int64_t now_ns) const noexcept;

  /// Deaths that are too old count no more. Returns the names of the kinds of which nothing is refused any more.
  std::vector<std::string> expire(std::int64_t now_ns);
  /// Everything is forgotten. Returns the same.
  std::vector<std::string> lift(std::int64_t now_ns);
  /// When `expire` has something to do; no_deadline: never.
  std::int64_t next_ns() const noexcept;
  /// Kinds of which something is refused.
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
  std::deque<death> deaths_;  // by time
  provenance contents_;
  std::uint64_t unknown_ = 0;
};

}  // namespace troupe
