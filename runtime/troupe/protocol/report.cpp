// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/text/printable.hpp>
#include <troupe/protocol/report.hpp>

namespace troupe::protocol {
namespace {

class record_writer {
 public:
  explicit record_writer(std::span<std::byte> room) noexcept : room_(room) {}

  void text(std::string_view t) noexcept {
    if (left() < 2) return;
    const auto n = static_cast<std::uint16_t>(std::min({t.size(), left() - 2, std::size_t{1024}}));
    put(&n, sizeof n);
    put(t.data(), n);
  }
  void put(const void* p, std::size_t n) noexcept {
    if (n > left()) return;
    std::memcpy(room_.data() + used_, p, n);
    used_ += n;
  }
  std::size_t left() const noexcept { return room_.size() - used_; }
  std::size_t used() const noexcept { return used_; }

 private:
  std::span<std::byte> room_;
  std::size_t used_ = 0;
};

class record_reader {
 public:
  explicit record_reader(std::span<const std::byte> rest) noexcept : rest_(rest) {}

  bool get(void* to, std::size_t n) noexcept {
    if (rest_.size() < n) return false;
    std::memcpy(to, rest_.data(), n);
    rest_ = rest_.subspan(n);
    return true;
  }
  bool text(std::string& to) {
    std::uint16_t n;
    if (!get(&n, sizeof n) || rest_.size() < n) return false;
    to.assign(reinterpret_cast<const char*>(rest_.data()), n);
    rest_ = rest_.subspan(n);
    make_printable(to);
    return true;
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace

std::size_t write_report(std::span<std::byte> room, report_header head, std::string_view domain, std::string_view text,
                         std::string_view first_name, std::span<const request_id> chain) noexcept {
  record_writer record(room);
  head.chain = 0;
  record.put(&head, sizeof head);
  record.text(domain);
  record.text(text);
  record.text(first_name);
  for (const request_id& step : chain) {
    if (head.chain == max_chain || record.left() < 10 + step.name.size()) break;
    record.put(&step.ticket, sizeof step.ticket);
    record.text(step.name);
    ++head.chain;
  }
  std::memcpy(room.data(), &head, sizeof head);
  return record.used();
}

std::optional<parsed_report> parse_report(std::span<const std::byte> record) {
  record_reader in(record);
  parsed_report out{};
  if (!in.get(&out.head, sizeof out.head)) return {};
  if (out.head.reaction > static_cast<std::uint8_t>(reaction::fatal) || out.head.chain > max_chain) return {};
  out.what.reaction = static_cast<reaction>(out.head.reaction);
  out.what.code = out.head.code;
  out.what.request.ticket = out.head.cause_ticket;
  if (!in.text(out.what.domain) || !in.text(out.what.text) || !in.text(out.what.request.name)) return {};
  for (int i = 0; i < out.head.chain; ++i) {
    request_id step;
    if (!in.get(&step.ticket, sizeof step.ticket) || !in.text(step.name)) return {};
    out.what.chain.push_back(std::move(step));
  }
  return out;
}

}  // namespace troupe::protocol
