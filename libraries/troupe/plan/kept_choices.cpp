// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <chrono>
#include <troupe/base/text/cat.hpp>
#include <troupe/plan/kept_choices.hpp>

namespace troupe::plan {
namespace {

// Returns the number of days since 1970: a clock that all processes share, also after a reboot.
std::int64_t today() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::days>(now).count();
}

}  // namespace

kept_choices::kept_choices(remarks& r, settings s) : remarks_(r), disk_(std::move(s.folder)), in_memory_(s.in_memory) {
  if (s.depends_on.empty()) return;
  if (const auto file = stamp_without_content(s.depends_on))
    file_ = cat(", ", file->path, " of ", file->bytes, " bytes, changed ", file->changed_ns);
}

// A value on disk consists of the day on which a provisional choice was kept, or 0, a line break, and the choice.
std::optional<std::string> kept_choices::find(const std::string& key) {
  if (in_memory_) {
    const std::scoped_lock guard(lock_);
    if (const auto mine = kept_.find(key); mine != kept_.end()) return mine->second;
  }
  if (disk_.folder().empty()) return std::nullopt;
  std::string why_not;
  const auto stored = disk_.find(key + file_, why_not);
  remarks_.once(why_not);
  if (!stored) return std::nullopt;
  const std::size_t line = stored->value.find('\n');
  std::int64_t since = 0;
  std::from_chars(stored->value.data(), stored->value.data() + std::min(line, stored->value.size()), since);
  if (line == std::string::npos) return std::nullopt;
  const std::int64_t age = today() - since;
  if (since != 0 && (age < 0 || age >= provisional_days)) return std::nullopt;
  return stored->value.substr(line + 1);
}

void kept_choices::keep_provisionally(const std::string& key, std::string_view choice) { keep(key, choice, today()); }

void kept_choices::keep(const std::string& key, std::string_view choice, std::int64_t day) {
  if (in_memory_) {
    const std::scoped_lock guard(lock_);
    kept_.insert_or_assign(key, std::string(choice));
  }
  if (!disk_.folder().empty()) remarks_.once(disk_.store(key + file_, {}, cat(day, "\n", choice)));
}

void kept_choices::report_unusable(std::string_view why) {
  remarks_.once(cat("ignored a plan in ", disk_.folder(), ": ", why));
}

}  // namespace troupe::plan
