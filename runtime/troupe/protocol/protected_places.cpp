// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/channel/mapping.hpp>
#include <troupe/protocol/protected_places.hpp>

namespace troupe::protocol {

static_assert(sizeof(protected_place) == 16);

result<memory_file> list_of(std::span<const protected_place> places) {
  auto list = TROUPE_TRY(memory_file::create("troupe-protected", places.size_bytes()));
  auto written = TROUPE_TRY(mapping::map(list, map_access::read_write));
  std::memcpy(written.data(), places.data(), places.size_bytes());
  return list;
}

result<std::vector<protected_place>> parse_list(const memory_file& list, std::uint64_t bytes) {
  if (bytes % sizeof(protected_place) != 0 || bytes > list.size())
    return error(reaction::fatal, "worker",
                 cat("the list of protected places has ", bytes, " bytes; expected a multiple of ",
                     sizeof(protected_place), ", at most the ", list.size(), " bytes of its file"));
  auto written = TROUPE_TRY(mapping::map(list, map_access::read_only));
  std::vector<protected_place> places(bytes / sizeof(protected_place));
  std::memcpy(places.data(), written.data(), bytes);
  return places;
}

}  // namespace troupe::protocol
