// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <string_view>
#include <troupe/base/text/cat.hpp>
#include <troupe/protocol/descriptions/description.hpp>

namespace troupe::protocol {
namespace {

using obstacle = engine_description::obstacle;

constexpr std::string_view key_of(obstacle o) noexcept {
  switch (o) {
    case obstacle::unloadable:
      return "unloadable";
    case obstacle::no_device:
      return "no_device";
    case obstacle::refused:
      return "refused";
    case obstacle::none:
      break;
  }
  return {};
}

// Adds a line. The value may be any text of a vendor's library, and must stay on one line.
void add_line(std::string& out, std::string_view key, std::string value) {
  if (value.empty()) return;
  std::replace_if(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  out += cat(key, " ", value, "\n");
}

constexpr const char* end_line = "end\n";

struct line_parts {
  std::string_view first, rest;  ///< text before and after the first blank
};
line_parts parts_of(std::string_view line) noexcept {
  const std::size_t blank = std::min(line.find(' '), line.size());
  return {line.substr(0, blank), line.substr(std::min(blank + 1, line.size()))};
}

enum reaction reaction_named(std::string_view name) noexcept {
  for (auto r = reaction::caller_bug; is_known(r); r = static_cast<enum reaction>(static_cast<int>(r) + 1))
    if (to_string(r) == name) return r;
  return reaction::fatal;
}

}  // namespace

std::string text_of(const engine_description& engine) {
  std::string out;
  add_line(out, "library", engine.library);
  add_line(out, "backend", engine.backend);
  add_line(out, "version", engine.version);
  for (const std::string& request : engine.requests) add_line(out, "request", request);
  for (const std::string& note : engine.notes) add_line(out, "note", note);
  if (engine.what == obstacle::refused)
    add_line(out, key_of(engine.what), cat(to_string(engine.reaction), " ", engine.why));
  else if (engine.what != obstacle::none)
    add_line(out, key_of(engine.what), engine.why.empty() ? "without a reason" : engine.why);
  if (engine.complete) out += end_line;
  return out;
}

engine_description parse_engine_description(const std::string& text) {
  engine_description out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto [key, value] = parts_of(line);
    if (key == "library") out.library = value;
    if (key == "backend") out.backend = value;
    if (key == "version") out.version = value;
    if (key == "request") out.requests.emplace_back(value);
    if (key == "note") out.notes.emplace_back(value);
    for (const obstacle o : {obstacle::unloadable, obstacle::no_device, obstacle::refused})
      if (key == key_of(o)) out.what = o, out.why = value, out.reaction = reaction::fatal;
    if (key == key_of(obstacle::refused)) {
      const auto [name, why] = parts_of(value);
      out.reaction = reaction_named(name);
      out.why = why;
    }
    if (key == "end") out.complete = true;
  }
  return out;
}

std::string text_of(const driver_description& driver) {
  std::string out;
  add_line(out, "library", driver.library);
  add_line(out, "unloadable", driver.unloadable);
  if (driver.version != 0) add_line(out, "version", cat(driver.version));
  if (driver.code != 0) add_line(out, "refused", cat(driver.code, " ", driver.refused));
  for (const driver_description::gpu& g : driver.gpus)
    add_line(out, "device", cat(g.capability, " ", g.bytes, " ", g.mode, " ", g.name));
  add_line(out, "unheard", driver.unheard);
  add_line(out, "unnamed", driver.unnamed);
  if (driver.complete) out += end_line;
  return out;
}

driver_description parse_driver_description(const std::string& text) {
  driver_description out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto [key, value] = parts_of(line);
    if (key == "library") out.library = value;
    if (key == "unloadable") out.unloadable = value;
    if (key == "unheard") out.unheard = value;
    if (key == "unnamed") out.unnamed = value;
    if (key == "end") out.complete = true;
    std::istringstream words{std::string(value)};
    if (key == "version") words >> out.version;
    if (key == "refused") {
      words >> out.code >> std::ws;
      std::getline(words, out.refused);
    }
    if (key == "device") {
      driver_description::gpu g;
      words >> g.capability >> g.bytes >> g.mode >> std::ws;
      std::getline(words, g.name);
      out.gpus.push_back(std::move(g));
    }
  }
  return out;
}

}  // namespace troupe::protocol
