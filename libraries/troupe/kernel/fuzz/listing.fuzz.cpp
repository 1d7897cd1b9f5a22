// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Parses a worker's description of a kernel from arbitrary bytes.
#include <cstdlib>
#include <cstring>
#include <troupe/kernel/internal/listing.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  troupe::kernel::attributes_head head{};
  if (size < sizeof head) return 0;
  std::memcpy(&head, data, sizeof head);
  const std::string_view listing(reinterpret_cast<const char*>(data) + sizeof head, size - sizeof head);
  const auto read = troupe::kernel::unpack_listing(head, listing);
  // Encoding an accepted listing must give the same bytes.
  if (read && !listing.starts_with(troupe::kernel::pack_listing(*read))) std::abort();
  return 0;
}
