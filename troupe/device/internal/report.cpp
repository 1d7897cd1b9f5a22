// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/device/internal/report.hpp>

namespace troupe {
namespace {

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

void make_printable(std::string& text) noexcept {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = '?';
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

}  // namespace troupe
