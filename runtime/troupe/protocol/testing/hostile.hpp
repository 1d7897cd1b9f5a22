// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <troupe/channel/mapping.hpp>
#include <troupe/protocol/command.hpp>
#include <troupe/protocol/control.hpp>
#include <troupe/protocol/descriptions/gpu_description.hpp>
#include <troupe/protocol/descriptions/worker_description.hpp>
#include <troupe/protocol/greeting.hpp>
#include <troupe/protocol/memory_question.hpp>
#include <troupe/protocol/protected_places.hpp>
#include <troupe/protocol/report.hpp>

/// Functions that parse bytes from an untrusted process, and abort if the result breaks a promise. The bytes are in an
/// allocation of exactly their size, so that a sanitizer detects every access outside of them.
namespace troupe::testing {

inline void require_of(const char* function, bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s: %s\n", function, what);
  std::abort();
}
inline void require_clean(const std::string& text) {
  for (const char c : text)
    require_of("a text", (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\n' || c == '\t',
               "has a control character");
}

class exact_bytes {
 public:
  explicit exact_bytes(std::span<const std::uint8_t> input)
      : memory_(std::make_unique<std::byte[]>(input.size())), size_(input.size()) {
    if (size_ != 0) std::memcpy(memory_.get(), input.data(), size_);
  }
  operator std::span<const std::byte>() const { return {memory_.get(), size_}; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_;
};

inline void parse_hostile_report(std::span<const std::uint8_t> input) {
  const exact_bytes bytes(input);
  const auto report = protocol::parse_report(bytes);
  if (!report) return;
  const error::details& e = report->what;
  require_of("parse_report", is_known(e.reaction), "an invalid reaction");
  require_of("parse_report", e.chain.size() == report->head.chain && e.chain.size() <= max_chain,
             "a chain of another length than announced");
  std::size_t length = sizeof report->head + e.domain.size() + e.text.size() + e.request.name.size();
  require_clean(e.domain);
  require_clean(e.text);
  require_clean(e.request.name);
  for (const request_id& step : e.chain) {
    length += step.name.size() + sizeof step.ticket;
    require_clean(step.name);
  }
  require_of("parse_report", length <= bytes.size(), "more text than there were bytes");
  require_of("parse_report", !error(e).to_string().empty(), "an error with an empty text");
}

inline void parse_hostile_command(std::span<const std::uint8_t> input) {
  const exact_bytes bytes(input);
  const std::span<const std::byte> all = bytes;
  const auto command = protocol::parse_command(bytes);
  if (!command) return;
  const auto inside = [&](std::span<const std::byte> part) {
    return part.empty() || (part.data() >= all.data() && part.data() + part.size() <= all.data() + all.size());
  };
  require_of("parse_command", inside(command->accesses), "accesses outside the record");
  require_of("parse_command", inside(command->payload), "a payload outside the record");
  require_of("parse_command", command->payload.size() == command->head.payload_bytes, "a payload of another size");
  require_of("parse_command", protocol::are_accesses(command->accesses), "invalid accesses");
}

inline void parse_hostile_control(std::span<const std::uint8_t> input) {
  const exact_bytes bytes(input);
  const auto message = protocol::parse_message(bytes);
  require_of("parse_message", message.has_value() == (bytes.size() >= sizeof(protocol::control_message)),
             "a result that depends on more than the size");
  if (!message) return;
  require_of("parse_message", message->text.size() == bytes.size() - sizeof(protocol::control_message),
             "a text of another size");
  require_of("reaction_of", protocol::reaction_of(message->head) <= reaction::fatal, "an invalid reaction");
}

inline void parse_hostile_greeting(std::span<const std::uint8_t> input) {
  const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto hello = protocol::parse_greeting({.version = protocol::version}, text);
  if (!hello) return;
  // Compares without the parts that need not be the same: the written number of folders and the end of the last line.
  const auto again = protocol::parse_greeting(hello->settings, protocol::text_of(*hello));
  require_of("parse_greeting",
             again && again->backend == hello->backend && again->gpu_core_stem == hello->gpu_core_stem &&
                 again->folders == hello->folders && again->libraries == hello->libraries,
             "its own text is parsed differently");
}

inline void parse_hostile_memory_question(std::span<const std::uint8_t> input) {
  const exact_bytes bytes(input);
  if (const auto question = protocol::parse_question(bytes))
    require_of("parse_question", question->what <= protocol::wanted::release, "an unknown kind of question");
  if (const auto answer = protocol::parse_answer(bytes)) {
    require_of("parse_answer", answer->head.made <= 1, "neither made nor refused");
    require_of("parse_answer", answer->head.reaction <= static_cast<std::uint32_t>(reaction::fatal),
               "an invalid reaction");
    require_clean(answer->text);
  }
}

inline void parse_hostile_protected_places(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  auto file = memory_file::create("troupe-hostile", input.size());
  auto mapped = file ? mapping::map(*file, map_access::read_write) : result<mapping>(file.error());
  if (!mapped) return;
  std::memcpy(mapped->data(), input.data(), input.size());
  const auto places = protocol::parse_list(*file, input.size());
  require_of("parse_list", places.has_value() == (input.size() % sizeof(protocol::protected_place) == 0),
             "a result that depends on more than the size");
  if (!places) return;
  const auto again = protocol::list_of(*places);
  require_of("list_of", again && protocol::parse_list(*again, input.size()).value() == *places,
             "its own list is parsed differently");
}

inline void parse_hostile_gpu_description(std::span<const std::uint8_t> input) {
  const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto gpu = protocol::parse_gpu_description(text);
  require_of("parse_gpu_description", gpu.peers.size() <= text.size() && gpu.name.size() <= text.size(),
             "more text than there were bytes");
}

inline void parse_hostile_worker_description(std::span<const std::uint8_t> input) {
  const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  const auto worker = protocol::parse_worker_description(text);
  std::size_t length = worker.gpu.size();
  for (const engine_info& e : worker.engines) {
    length += e.library.size() + e.backend.size() + e.version.size();
    require_of("parse_worker_description", !e.library.empty() && !e.backend.empty() && !e.version.empty(),
               "an engine without a name");
  }
  require_of("parse_worker_description", length <= text.size(), "more text than there were bytes");
  (void)protocol::parse_gpu_description(worker.gpu);
}

}  // namespace troupe::testing
