// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <troupe/device/internal/report.hpp>

namespace troupe::testing {

/// Parses bytes that a hostile worker left in the report ring, and aborts when what comes out breaks a promise. The
/// bytes lie in an allocation of exactly their size, so that a sanitizer sees every step outside.
inline void parse_hostile_report(std::span<const std::uint8_t> input) {
  const auto exact = std::make_unique<std::byte[]>(input.size());
  if (!input.empty()) std::memcpy(exact.get(), input.data(), input.size());
  const auto report = parse_report({exact.get(), input.size()});
  if (!report) return;
  const auto require = [](bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "parse_report: %s\n", what);
    std::abort();
  };
  const error::details& e = report->what;
  require(static_cast<int>(e.reaction) <= static_cast<int>(reaction::fatal), "a reaction that does not exist");
  require(e.chain.size() == report->head.chain && e.chain.size() <= max_chain,
          "a chain of another length than announced");
  std::size_t bytes = sizeof report->head + e.domain.size() + e.text.size() + e.request.name.size();
  const auto clean = [&](const std::string& s) {
    for (const char c : s)
      require(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t', "a control character in a text");
  };
  clean(e.domain);
  clean(e.text);
  clean(e.request.name);
  for (const request_id& step : e.chain) {
    bytes += step.name.size() + sizeof step.ticket;
    clean(step.name);
  }
  require(bytes <= input.size(), "more text than there were bytes");
  require(!error(e).to_string().empty(), "an error without a story");
}

}  // namespace troupe::testing
