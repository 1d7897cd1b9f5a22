// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/files/bytes.hpp>
#include <troupe/kernel/internal/listing.hpp>

namespace troupe::kernel {

std::string pack_listing(const attributes& a) {
  byte_writer to;
  to.text(a.name);
  to.text(a.execution);
  for (const parameter_attributes& p : a.parameters) {
    to.text(p.type);
    to.value(p.passing);
    to.value(p.element);
    to.value(p.bytes);
    to.value(p.alignment);
  }
  return std::move(to).bytes();
}

std::optional<attributes> unpack_listing(const attributes_head& head, std::string_view listing) {
  byte_reader from(listing.substr(0, head.listing_bytes));
  attributes a;
  a.max_threads = head.max_threads;
  a.static_shared_bytes = head.static_shared_bytes;
  a.local_bytes = head.local_bytes;
  a.registers = head.registers;
  a.constant_bytes = head.constant_bytes;
  a.name = from.text();
  a.execution = from.text();
  for (std::uint32_t i = 0; i < head.parameters && from.sound(); ++i) {
    parameter_attributes p;
    p.type = from.text();
    p.passing = from.value<passing>();
    p.element = from.value<dtype>();
    if (!is_known(p.passing) || (p.element != dtype{} && !is_known(p.element))) return std::nullopt;
    p.bytes = from.value<std::uint64_t>();
    p.alignment = from.value<std::uint64_t>();
    a.parameters.push_back(std::move(p));
  }
  if (!from.sound()) return std::nullopt;
  return a;
}

}  // namespace troupe::kernel
