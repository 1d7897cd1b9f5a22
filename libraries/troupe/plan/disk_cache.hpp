// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/plan/manifest.hpp>

namespace troupe::plan {

/// A cache on disk for results that later processes need again, found by their full key. It is a folder that belongs to
/// its user and has one file for each entry. Any number of processes may use it at the same time, and each may die at
/// any moment. No function fails: an entry that cannot be read counts as absent, an entry that cannot be written is not
/// stored, and the reason is returned as text. Thread-safe.
class disk_cache {
 public:
  /// Returns $TROUPE_CACHE, else $XDG_CACHE_HOME/troupe, else $HOME/.cache/troupe. Returns "" if none of these is set,
  /// or if TROUPE_CACHE is "off".
  static std::string default_folder();

  /// The folder is made on first use. If the entries exceed `most_bytes`, the least recently used ones are removed. A
  /// process checks this after it has stored a sixteenth of the limit, so entries may exceed the limit by that much for
  /// each process that stores.
  explicit disk_cache(std::string folder, std::uint64_t most_bytes = std::uint64_t{256} << 20);

  /// The content of an entry.
  struct found {
    std::string value;
    manifest made_from;
  };
  /// Returns the entry of the key, if all files and folders in its manifest are unchanged. Sets `why_not` to the reason
  /// if the cache could not be used or the entry is damaged, but not if there is no entry.
  std::optional<found> find(std::string_view key, std::string& why_not);
  /// Stores an entry. Returns the reason if that fails, else "".
  std::string store(std::string_view key, const manifest& made_from, std::string_view value);

  const std::string& folder() const noexcept { return folder_; }
  std::uint64_t most_bytes() const noexcept { return most_bytes_; }

  /// The number of entries and their size.
  struct usage {
    std::uint64_t entries = 0, bytes = 0;
    std::string why_not;  ///< why the cache cannot be used; "" if it can
  };
  /// Returns the number and size of the entries. Creates nothing.
  usage measure_usage() const;

 private:
  using folder_ref = std::shared_ptr<const file_descriptor>;
  folder_ref open_folder(std::string& why_not);
  void remove_old_entries(int folder);

  std::string folder_;
  std::uint64_t most_bytes_;
  std::mutex lock_;
  folder_ref opened_;
  std::atomic<std::uint64_t> stored_{0};    // in the name of the next temporary file
  std::atomic<std::int64_t> allowance_{0};  // bytes that may be stored before the folder is listed again, which is slow
};

/// Returns the path and size of the cache, for `troupe doctor`.
std::string notes_of(const disk_cache& cache);

}  // namespace troupe::plan
