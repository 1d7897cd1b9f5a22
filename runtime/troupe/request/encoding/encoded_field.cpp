// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/request/encoding/encoded_field.hpp>

namespace troupe {

std::span<const std::byte> sent_memory::at(std::uint64_t address) const noexcept {
  for (const part& p : parts_)
    if (address >= p.address && address - p.address < p.here.size()) return p.here.subspan(address - p.address);
  return {};
}

std::string to_string(const encoded_operand& o) {
  return o.type == "bytes" ? cat(o.name, " (", o.bytes, " bytes)")
                           : cat(o.name, " (", o.type, "[", o.bytes / o.element_bytes, "])");
}

void add_names(std::span<const encoded_field_info> fields, const encoded_request& r, std::string& to) {
  if (r.payload.empty()) return;
  for (const encoded_field_info& f : fields)
    if (f.add_name != nullptr) f.add_name(r.payload.data() + f.offset, r, to);
}

namespace {

// Copies whole words, and replaces addresses within the blob by addresses within its copy.
void copy_moved(std::span<const std::byte> from, std::uint64_t blob_address, std::span<std::uint64_t> blob,
                std::span<std::uint64_t> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  for (std::uint64_t& word : to)
    if (word >= blob_address && word - blob_address < blob.size_bytes())
      word = reinterpret_cast<std::uintptr_t>(blob.data()) + (word - blob_address);
}

}  // namespace

std::vector<encoded_operand> operands_of(std::span<const encoded_field_info> fields, std::string_view names,
                                         std::span<const std::byte> payload, std::uint64_t blob_address,
                                         std::span<const std::byte> blob) {
  const auto words = [](std::span<const std::byte> bytes) { return (bytes.size() + 7) / 8; };
  std::vector<std::uint64_t> here(words(payload)), lists(words(blob));
  copy_moved(blob, blob_address, lists, lists);
  copy_moved(payload, blob_address, lists, here);
  std::vector<encoded_operand> out;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (const auto list = fields[i].list_operands)
      list(reinterpret_cast<const std::byte*>(here.data()) + fields[i].offset, nth_name(names, i), out);
  std::erase_if(out, [](const encoded_operand& o) { return o.address == 0 || o.bytes == 0; });
  return out;
}

}  // namespace troupe
