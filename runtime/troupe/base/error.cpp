// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/error.hpp>
#include <troupe/base/text/cat.hpp>

#include <algorithm>
#include <cstring>

namespace troupe {

error::error(details d) : details_(std::make_shared<const details>(std::move(d))) {}

error::error(enum reaction r, std::string domain, std::string text, std::source_location at)
    : error(details{.reaction = r, .domain = std::move(domain), .text = std::move(text), .source = at}) {}

error error::retry_later(std::string domain, int code, std::string text, std::source_location at) {
  return error(details{.reaction = reaction::retry_later,
                       .domain = std::move(domain),
                       .code = code,
                       .text = std::move(text),
                       .source = at});
}

error error::from_errno(enum reaction r, std::string domain, std::string call, int code, std::source_location at) {
  char buffer[128];
  const char* message = ::strerror_r(code, buffer, sizeof buffer);  // the GNU form returns the text
  return error(details{.reaction = r,
                       .domain = std::move(domain),
                       .code = code,
                       .text = std::move(call) + " failed: " + message,
                       .source = at});
}

static std::string named(const request_id& r) { return r.ticket == 0 ? r.name : cat(r.name, " #", r.ticket); }

static std::string chain_text(const std::vector<request_id>& chain) {
  std::string out;
  for (auto first = chain.begin(); first != chain.end();) {
    const auto end = std::find_if(first, chain.end(), [&](const request_id& r) { return r.name != first->name; });
    if (!out.empty()) out += ", ";
    out += named(*first);
    if (const auto count = end - first; count > 1) {
      if (const std::uint64_t last = (end - 1)->ticket; first->ticket != 0 && last > first->ticket)
        out += cat(" to #", last);
      out += cat(" (", count, " times)");
    }
    first = end;
  }
  if (chain.size() >= max_chain) out += ", …";
  return out;
}

error error::passed_on_to(request_id next) const {
  details d = all();
  if (d.request.name.empty())
    d.request = std::move(next);
  else if (d.chain.size() < max_chain)
    d.chain.push_back(std::move(next));
  return error(std::move(d));
}

std::string error::to_string() const {
  std::string out(troupe::to_string(reaction()));
  out += " [" + domain();
  if (code() != 0) out += cat(", code ", code());
  out += "]";
  std::string_view rest = text();
  if (const std::string& name = request().name; !name.empty()) {
    out += " " + named(request());
    // Most texts begin with the type of the request, which is the first word of its name.
    if (const std::string type = name.substr(0, name.find(' ')) + ": "; rest.starts_with(type))
      rest.remove_prefix(type.size());
  }
  out.append(": ").append(rest);
  if (!chain().empty()) out += " (reached through " + chain_text(chain()) + ")";
  return out;
}

}  // namespace troupe
