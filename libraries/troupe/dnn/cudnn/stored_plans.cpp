// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <chrono>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/cudnn/stored_plans.hpp>

namespace troupe::dnn::cudnn {
namespace {

// Returns the days since 1970, which is the same in all processes and after a reboot.
std::int64_t today() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::days>(now).count();
}

}  // namespace

// A value on disk consists of the day on which a provisional entry was stored, or 0, a line break, and the text.
std::optional<std::string> stored_plans::find(const std::string& key) {
  if (folder().empty()) return std::nullopt;
  std::string why_not;
  const auto stored = disk_.find(key, why_not);
  remarks_.once(why_not);
  if (!stored) return std::nullopt;
  const std::size_t line = stored->value.find('\n');
  std::int64_t since = 0;
  std::from_chars(stored->value.data(), stored->value.data() + std::min(line, stored->value.size()), since);
  if (line == std::string::npos) return std::nullopt;
  const std::int64_t age = today() - since;
  if (since != 0 && (age < 0 || age >= provisional_days)) return std::nullopt;
  std::string text = stored->value.substr(line + 1);
  if (text.empty())
    remarks_.once(cat("slow: cuDNN has no engine for a part of a graph, according to ", folder(),
                      "; it is asked again ", provisional_days, " days after the first attempt"));
  return text;
}

void stored_plans::store(const std::string& key, const std::string& text, bool is_provisional) {
  if (!folder().empty()) remarks_.once(disk_.store(key, {}, cat(is_provisional ? today() : 0, "\n", text)));
}

}  // namespace troupe::dnn::cudnn
