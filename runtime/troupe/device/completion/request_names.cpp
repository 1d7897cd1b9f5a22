// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/completion/request_names.hpp>
#include <troupe/protocol/command.hpp>
#include <utility>

namespace troupe {
namespace {

std::span<const std::byte> content_of(const block& b) { return {b.host, b.host == nullptr ? 0 : b.bytes}; }

void add_block(sent_memory& to, const block_ref& b) {
  if (b && b->host != nullptr) to.add(b->address, content_of(*b.get()));
}

std::string full_name(const request_info& info, const encoded_request& r, std::string_view label) {
  std::string out(info.label);
  add_names(info.fields, r, out);
  if (!label.empty()) out.append(" \"").append(label).append("\"");
  return out;
}

bool has_names(const request_info& info) {
  return std::any_of(info.fields.begin(), info.fields.end(),
                     [](const encoded_field_info& f) { return f.add_name != nullptr; });
}

// Returns false for a request that was refused after it got its ticket: it touches nothing, and its record is damaged.
bool can_be_read(const ledger_entry& e) { return !e.accesses().empty(); }

}  // namespace

request_id id_of(const shared_channel& channel, const ledger_entry& e, std::uint32_t slot, bool died_of) {
  const std::uint64_t ticket = e.ticket.load(std::memory_order_relaxed);
  const std::string_view label = e.labelled == ticket ? std::string_view(e.label) : std::string_view();
  if (!has_names(*e.info) || !can_be_read(e)) return {full_name(*e.info, {}, label), ticket};
  encoded_request r{.payload = protocol::payload_of(channel.commands().record(slot)), .ticket = ticket};
  add_block(r.memory, e.blob);
  for (const block_access& a : e.accesses()) add_block(r.memory, a.where);
  if (died_of) r.reply = channel->cell(slot).bytes;
  return {full_name(*e.info, r, label), ticket};
}

std::string name_of_unsent(const request_info& info, const void* request, std::span<const operand_use> uses,
                           std::string_view label) {
  if (!has_names(info)) return full_name(info, {}, label);
  // Aligned like the memory that workers have. The lists are read at the addresses of this copy.
  std::vector<std::uint64_t> payload((info.payload_bytes + 7) / 8), blob((info.blob_bytes(request) + 7) / 8);
  const auto lists = std::as_writable_bytes(std::span(blob));
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(lists.data());
  info.encode(request, std::as_writable_bytes(std::span(payload)).data(), {lists.data(), address});
  encoded_request r{.payload = std::as_bytes(std::span(payload))};
  r.memory.add(address, lists);
  for (const operand_use& u : uses) add_block(r.memory, u.range->owner);
  return full_name(info, r, label);
}

std::vector<encoded_operand> operands_of(const shared_channel& channel, const ledger_entry& e, std::uint32_t slot) {
  if (!can_be_read(e)) return {};
  std::vector<encoded_operand> out =
      operands_of(e.info->fields, e.info->field_names, protocol::payload_of(channel.commands().record(slot)),
                  e.blob ? e.blob->address : 0, e.blob ? content_of(*e.blob.get()) : std::span<const std::byte>());
  if (e.info->exchanges_operands && out.size() > 1) std::swap(out[0].name, out[1].name);
  for (const block_access& a : e.accesses()) {
    const bool named = std::any_of(out.begin(), out.end(), [&](const encoded_operand& o) {
      return o.address <= a.what.begin && a.what.end <= o.address + o.bytes;
    });
    const bool sent = a.where && a.where->host != nullptr && a.what.mode == access_mode::read;
    if (!named && !sent)
      out.push_back({a.what.mode == access_mode::read ? "a buffer that it reads" : "a buffer that it writes", "bytes",
                     a.what.begin, a.what.end - a.what.begin});
  }
  return out;
}

}  // namespace troupe
