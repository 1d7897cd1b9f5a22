// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/jit/cache/manifest.hpp>

namespace troupe::jit {

/// Results of earlier programs on disk, by their full key. A folder of its user's own, one file for each entry; any
/// number of processes may use it at the same time, and each may die at any moment. Nothing here ever fails: what
/// cannot be read is not there, what cannot be written is not kept, and the caller is told why. Thread safe.
class disk_cache {
 public:
  /// $TROUPE_CACHE, else $XDG_CACHE_HOME/troupe, else $HOME/.cache/troupe; "" when there is none, or when
  /// TROUPE_CACHE is "off".
  static std::string default_folder();

  /// Makes the folder on first use. Entries that were not used for longest go when there are more than `most_bytes`.
  explicit disk_cache(std::string folder, std::uint64_t most_bytes = std::uint64_t{256} << 20);

  struct found {
    std::string value;
    manifest made_from;
  };
  /// What was stored under the key, when everything in its manifest is still as it was. `why_not` is set when the cache
  /// could not be used, or an entry was damaged; not when there is none.
  std::optional<found> find(std::string_view key, std::string& why_not);
  /// The reason why it was not stored; "" when it was.
  std::string store(std::string_view key, const manifest& made_from, std::string_view value);

  const std::string& folder() const noexcept { return folder_; }
  std::uint64_t most_bytes() const noexcept { return most_bytes_; }

  struct fill {
    std::uint64_t entries = 0, bytes = 0;
    std::string why_not;  ///< it could not be used; "" when it can
  };
  /// How full it is. Makes nothing.
  fill look() const;

 private:
  using folder_ref = std::shared_ptr<const file_descriptor>;
  folder_ref open_folder(std::string& why_not);
  void make_room(int folder);

  std::string folder_;
  std::uint64_t most_bytes_;
  std::mutex lock_;
  folder_ref opened_;
  std::atomic<std::uint64_t> stored_{0};  // names of temporary files
};

/// For `troupe doctor`: where the cache is, and how full.
std::string notes_of(const disk_cache& cache);

}  // namespace troupe::jit
