// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/remarks.hpp>

namespace troupe::dnn::cudnn {

/// A cache of plans on disk, as text; the text is empty if cuDNN has no plan. Thread-safe.
class stored_plans {
 public:
  /// The number of days after which a provisional entry expires.
  static constexpr std::int64_t provisional_days = 7;

  explicit stored_plans(plan::remarks& remarks) : remarks_(remarks) {}

  /// Returns the text for a key; nothing if there is none, or it has expired.
  std::optional<std::string> find(const std::string& key);
  /// Stores a plan, or that there is none. A provisional entry expires after some days.
  void store(const std::string& key, const std::string& text, bool is_provisional);
  const std::string& folder() const noexcept { return disk_.folder(); }

 private:
  plan::remarks& remarks_;
  plan::disk_cache disk_{plan::disk_cache::default_folder()};
};

}  // namespace troupe::dnn::cudnn
