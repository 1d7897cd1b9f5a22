// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/error.hpp>

#include <cstring>

namespace troupe {

std::string_view to_string(reaction r) noexcept {
  switch (r) {
    case reaction::caller_bug:
      return "caller_bug";
    case reaction::retry_later:
      return "retry_later";
    case reaction::context_lost:
      return "context_lost";
    case reaction::unsupported:
      return "unsupported";
    case reaction::stopped:
      return "stopped";
    case reaction::fatal:
      return "fatal";
  }
  return "unknown";
}

error::error(details d) : details_(std::make_shared<const details>(std::move(d))) {}

error::error(enum reaction r, std::string domain, std::string text, std::source_location at)
    : error(details{.reaction = r, .domain = std::move(domain), .text = std::move(text), .source = at}) {}

error error::from_errno(enum reaction r, std::string domain, std::string call, int code, std::source_location at) {
  char buffer[128];
  const char* message = ::strerror_r(code, buffer, sizeof buffer);  // the GNU form returns the text
  return error(details{.reaction = r,
                       .domain = std::move(domain),
                       .code = code,
                       .text = std::move(call) + " failed: " + message,
                       .source = at});
}

std::string error::to_string() const {
  std::string out(troupe::to_string(reaction()));
  out += " [" + domain();
  if (code() != 0) out += " " + std::to_string(code());
  out += "]";
  if (!request().name.empty()) {
    out += " " + request().name;
    if (request().ticket != 0) out += " #" + std::to_string(request().ticket);
  }
  out += ": " + text();
  if (!chain().empty()) {
    out += " (reached through";
    for (const request_id& step : chain()) out += " " + step.name + " #" + std::to_string(step.ticket);
    out += ")";
  }
  return out;
}

}  // namespace troupe
