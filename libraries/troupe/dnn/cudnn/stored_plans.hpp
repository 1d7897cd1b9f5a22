// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/plan/disk_cache.hpp>
#include <troupe/plan/remarks.hpp>

namespace troupe::dnn::cudnn {

/// A cache of cuDNN's plans on disk, as text. The text is empty if cuDNN has no plan for the key. Thread-safe.
class stored_plans {
 public:
  /// The days after which a provisional entry expires.
  static constexpr std::int64_t provisional_days = 7;

  explicit stored_plans(plan::remarks& remarks) : remarks_(remarks) {}

  /// Returns the text for a key; none if there is no entry, or it has expired.
  std::optional<std::string> find(const std::string& key);
  /// Stores the text of a plan, or "" if cuDNN has none. A provisional entry expires after `provisional_days`.
  void store(const std::string& key, const std::string& text, bool is_provisional);
  const std::string& folder() const noexcept { return disk_.folder(); }

 private:
  plan::remarks& remarks_;
  plan::disk_cache disk_{plan::disk_cache::default_folder()};
};

}  // namespace troupe::dnn::cudnn
