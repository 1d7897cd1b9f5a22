// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/jit/cache/compiled.hpp>

namespace troupe::jit {

error out_of_time(const recipe& r, const std::string& what, const std::string& then) {
  const std::int64_t ms = r.timeout.nanoseconds / 1'000'000;
  const std::string span = ms % 1000 == 0 ? cat(ms / 1000, " s") : cat(ms, " ms");
  return error(reaction::caller_bug, "jit",
               "jit.compile: " + r.name + ": " + what + span + then +
                   "; raise the recipe's timeout, or make the program smaller");
}

error was_cancelled(const recipe& r) {
  return error(reaction::retry_later, "jit", "jit.compile: " + r.name + ": compiling was cancelled");
}

std::string first_error(const std::string& log) {
  const std::size_t at = log.find("error:");
  if (at == std::string::npos) return log.substr(0, log.find('\n'));
  const std::size_t begin = log.rfind('\n', at);
  return log.substr(begin == std::string::npos ? 0 : begin + 1,
                    log.find('\n', at) - (begin == std::string::npos ? 0 : begin + 1));
}

bool mentions_time(std::string_view text) {
  for (std::size_t at = text.find("__"); at != std::string_view::npos; at = text.find("__", at + 1))
    for (const std::string_view clock : {"__DATE__", "__TIME__", "__TIMESTAMP__"})
      if (text.substr(at).starts_with(clock)) return true;
  return false;
}

bool mentions_time(const recipe& r) {
  const auto in_any = [](const named_texts& all) {
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return mentions_time(one.second); });
  };
  const auto in_unit = [](const unit& u) { return mentions_time(u.source); };
  return mentions_time(r.source) || std::any_of(r.units.begin(), r.units.end(), in_unit) || in_any(r.headers) ||
         in_any(r.definitions) ||
         std::any_of(r.options.begin(), r.options.end(), [](const std::string& o) { return mentions_time(o); });
}

}  // namespace troupe::jit
